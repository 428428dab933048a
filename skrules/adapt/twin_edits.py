"""What the code of a twin differs in: the names of twins, the given number, and the objects that are told it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from skrules.adapt.askers import Helpers, NoTwin
from skrules.adapt.blocknum import API, C_API, closed_scope, is_api, qualification
from skrules.adapt.definitions import Helper, after_arguments
from skrules.adapt.edits import Edit
from skrules.source.code import Code
from skrules.source.parameters import split

NUMBER = "skrulesNumBlocks"
SETTER = "SkrulesSetNumBlocks"
_STATEMENT_ENDS = frozenset({";", "{", "}"})


def body_edits(
    helpers: Helpers, code: Code, indices: range, number: str, bodies: Collection[range], helper: Helper | None = None
) -> Iterator[Edit]:
    """Yield the edits of the tokens `indices`: names become those of twins, the API's call the `number`, declared objects are
    told the number. `bodies` are the ranges that run; `helper` is what is copied, None for a kernel body. Raises NoTwin."""
    inside = aliases(helpers, code, (index for index in indices if any(index in body for body in bodies)))
    for index in indices:
        word, before = code.text(index), code.text(index - 1)
        if not code.is_identifier(index) or before in (".", "->"):
            continue
        offset = code.tokens[index].start
        runs = any(index in body for body in bodies)
        if helper is not None and word in (API, C_API) and is_api(code, index, helper.file.api):
            first, known = qualification(code, index, helper.file.api)
            if not runs or not known or code.text(index + 1) != "(" or code.text(index + 2) != ")":
                raise NoTwin(f"{word} of '{helper.name}' is no plain call in a function", offset)
            if first == index and helpers.has_own_api:
                raise NoTwin(f"'{word}' may be another function of that name", offset)
            _check_open(helpers, code, index, bodies, f"{word} of '{helper.name}' is called")
            yield Edit(start=code.tokens[first].start, end=code.tokens[index + 2].end, text=number)
        elif word in helpers.names:
            if before == "::" and code.is_identifier(index - 2) and code.text(index - 2) not in helpers.spaces:
                raise NoTwin(f"'{code.text(index - 2)}::{word}' may be something else than the '{word}' of this file", offset)
            yield Edit(start=offset, end=code.tokens[index].end, text=helpers.names[word])
            after = after_arguments(code, index)
            is_head = helper is not None and word == helper.name and not runs
            if word not in helpers.classes:
                if is_head:
                    continue
                if not runs or code.text(after) != "(":
                    raise NoTwin(f"'{word}' is used other than in a call", offset)
                _check_open(helpers, code, index, bodies, f"'{word}' is called")
                check_arguments(helpers, word, code, after)
                at = code.tokens[after].end
                yield Edit(start=at, end=at, text=number + ("" if code.text(after + 1) == ")" else ", "))
            elif is_argument(code, index, after) and not (is_own_base(code, index, helper) and not runs):
                raise NoTwin(f"'{word}' is the argument of a template, which may make objects of it", offset)
            elif runs:
                yield from _told(helpers, code, index, after, number, word, bodies)
        elif word in inside and runs and before != "using":
            yield from _told(helpers, code, index, index + 1, number, word, bodies)


def aliases(helpers: Helpers, code: Code, indices: Iterable[int]) -> frozenset[str]:
    """Return the names that stand for classes with twins by `using X = K<...>;` or `typedef K<...> X;`."""
    found = set()
    for index in indices:
        if code.text(index) not in helpers.classes:
            continue
        first, after = qualified_start(code, index), after_arguments(code, index)
        if code.text(first - 1) == "typename":
            first -= 1
        if code.text(after) == ";" and code.text(first - 1) == "=" and code.is_identifier(first - 2):
            found.add(code.text(first - 2))
        elif code.text(first - 1) == "typedef" and code.is_identifier(after):
            found.add(code.text(after))
    return frozenset(found)


def qualified_start(code: Code, index: int) -> int:
    """Return the first token of the qualified name that ends at `index`."""
    while code.text(index - 1) == "::":
        index -= 2 if code.is_identifier(index - 2) else 1
    return index


def check_arguments(helpers: Helpers, name: str, code: Code, opening: int) -> None:
    """Raise NoTwin for a call, whose arguments begin at `opening`, that no helper of the name can take: it calls another
    function, or one that is declared with defaults elsewhere."""
    closing = code.partner(opening)
    if closing < 0:
        raise NoTwin(f"the call of '{name}' is not understood", code.tokens[opening].start)
    count = len(split(code, opening + 1, closing))
    if not any(low <= count <= high for low, high in helpers.counts(name)):
        raise NoTwin(f"'{name}' is called with {count} arguments, which its definition does not take", code.tokens[opening].start)


def _check_open(helpers: Helpers, code: Code, index: int, bodies: Collection[range], what: str) -> None:
    """Raise NoTwin where the number cannot be reached from token `index`."""
    around = next(body for body in bodies if index in body)
    if (holder := closed_scope(code, index, around.start, helpers.strange)) is not None:
        raise NoTwin(f"{what} in a {holder}", code.tokens[index].start)


def is_argument(code: Code, index: int, after: int) -> bool:
    """Tell whether the class named at `index` is a template argument by itself: no pointer or reference to it."""
    if code.text(after) not in (">", ","):
        return False
    at = index - 1
    while at >= 0 and code.text(at) not in ("(", "{", "}", ";"):
        if code.text(at) == "<":
            return True
        at = code.partner(at) - 1 if code.text(at) in (")", "]") and 0 <= code.partner(at) < at else at - 1
    return False


def is_own_base(code: Code, index: int, helper: Helper | None) -> bool:
    """Tell whether a class is an argument of its own base: `struct K : Base<K> {`. The base holds no K, which is not complete."""
    return helper is not None and code.text(index) == helper.name and helper.first < index < helper.body


def _told(
    helpers: Helpers, code: Code, index: int, after: int, number: str, word: str, bodies: Collection[range]
) -> Iterator[Edit]:
    """Tell a declared object the number; references, pointers and types need not be told."""
    following = code.text(after)
    offset = code.tokens[index].start
    first = qualified_start(code, index)
    if following in ("*", "&", "&&", "::", ">", ",") or (following == ";" and code.text(first - 1) == "="):
        return
    begins = code.text(first - 1) in _STATEMENT_ENDS or code.is_directive(first - 1)
    if not begins or not code.is_identifier(after):
        raise NoTwin(f"an object of '{word}' is made other than by a plain declaration", offset)
    end = after + 1
    if code.text(end) in ("(", "{"):
        end = code.partner(end) + 1
    if code.text(end) != ";":
        raise NoTwin(f"an object of '{word}' is made other than by a plain declaration", offset)
    _check_open(helpers, code, index, bodies, f"an object of '{word}' is made")
    at = code.tokens[end].end
    yield Edit(start=at, end=at, text=f" {code.text(after)}.{SETTER}({number});")
