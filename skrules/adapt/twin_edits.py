"""What the code of a twin differs in: the names of twins, the given number, and the objects that are told it."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from skrules.adapt.askers import Helper, Helpers, NoTwin, after_arguments
from skrules.adapt.blocknum import API, C_API, closed_scope, is_api, qualification
from skrules.adapt.edits import Edit
from skrules.source.code import Code

NUMBER = "skrulesNumBlocks"
SETTER = "SkrulesSetNumBlocks"
_STATEMENT_ENDS = frozenset({";", "{", "}"})


def body_edits(
    helpers: Helpers, code: Code, indices: range, number: str, bodies: Collection[range], helper: Helper | None = None
) -> Iterator[Edit]:
    """Yield the edits of the tokens `indices`: names become those of twins, the API's call the `number`, declared objects are
    told the number. `bodies` are the ranges that run; `helper` is what is copied, None for a kernel body. Raises NoTwin."""
    aliases = {
        code.text(index + 1)
        for index in indices
        if code.text(index) == "using" and code.text(index + 2) == "=" and code.text(index + 3) in helpers.classes
    }
    for index in indices:
        word, before = code.text(index), code.text(index - 1)
        if not code.is_identifier(index) or before in (".", "->"):
            continue
        offset = code.tokens[index].start
        runs = any(index in body for body in bodies)
        if helper is not None and word in (API, C_API) and is_api(code, index, helper.file.api):
            first, known = qualification(code, index, helper.file.api)
            around = next((body for body in bodies if index in body), None)
            if around is None or not known or code.text(index + 1) != "(" or code.text(index + 2) != ")":
                raise NoTwin(f"{word} of '{helper.name}' is no plain call in a function", offset)
            if (holder := closed_scope(code, index, around.start)) is not None:
                raise NoTwin(f"{word} of '{helper.name}' is called in a {holder}", offset)
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
                at = code.tokens[after].end
                yield Edit(start=at, end=at, text=number + ("" if code.text(after + 1) == ")" else ", "))
            elif is_argument(code, index, after) and not (is_own_base(code, index, helper) and not runs):
                raise NoTwin(f"'{word}' is the argument of a template, which may make objects of it", offset)
            elif runs:
                yield from _told(code, index, after, number, word)
        elif word in aliases and runs and before != "using":
            yield from _told(code, index, index + 1, number, word)


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


def _told(code: Code, index: int, after: int, number: str, word: str) -> Iterator[Edit]:
    """Tell a declared object the number; references, pointers and types need not be told."""
    following = code.text(after)
    offset = code.tokens[index].start
    if following in ("*", "&", "&&", "::", ">", ",") or (following == ";" and code.text(index - 1) == "="):
        return
    first = index
    while code.text(first - 1) == "::":
        first -= 2 if code.is_identifier(first - 2) else 1
    begins = code.text(first - 1) in _STATEMENT_ENDS or code.is_directive(first - 1)
    if not begins or not code.is_identifier(after):
        raise NoTwin(f"an object of '{word}' is made other than by a plain declaration", offset)
    end = after + 1
    if code.text(end) in ("(", "{"):
        end = code.partner(end) + 1
    if code.text(end) != ";":
        raise NoTwin(f"an object of '{word}' is made other than by a plain declaration", offset)
    at = code.tokens[end].end
    yield Edit(start=at, end=at, text=f" {code.text(after)}.{SETTER}({number});")
