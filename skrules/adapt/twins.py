"""SK twins of helper code: functions and classes of the file that tell the block number get a copy that is given it.

A function's twin takes the number as its first parameter; a class's twin holds it and is told it where an object is declared.
The copies differ from the originals in these points only, token by token. Where the rewritten code is not known to be the
same (a macro between, a constructor that asks for the number, a temporary object, ...), there is no twin and the reason is told.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from skrules.adapt.blocknum import API, C_API, closed_scope, is_api, qualification
from skrules.adapt.edits import Edit, apply
from skrules.adapt.helpers import BLOCK_NUM, FUNCTION, STATEMENT, Chunk
from skrules.adapt.scopes import FileScopes
from skrules.adapt.splice import Fragment, after_line
from skrules.adapt.structure import Structure
from skrules.contract.model import SuperKernelDecision
from skrules.source.calls import Function, functions
from skrules.source.model import Kernel, SourceUnit, Span

NUMBER = "skrulesNumBlocks"
TWIN = "skrules: SuperKernel twin of the code before it, with its own block number"
SETTER = "SkrulesSetNumBlocks"
_STATEMENT_ENDS = frozenset({";", "{", "}"})
_HEAD_WORDS = frozenset(
    {"template", "class", "struct", "inline", "static", "void", "constexpr", "const", "__aicore__", "[", "auto"}
)


class NoTwin(Exception):
    """A twin is not known to be the same code; the text says why, `offset` is where."""

    def __init__(self, reason: str, offset: int) -> None:
        super().__init__(reason)
        self.offset = offset


@dataclass(frozen=True, slots=True, kw_only=True)
class Helper:
    """A function, a class or a member function outside of its class, at namespace scope. `name` is what its users write; `first`
    and `last` are tokens of the file's code, `body` the token of the `{`."""

    name: str
    is_class: bool
    is_member: bool
    first: int
    last: int
    body: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Helpers:
    """The helpers of a file that reach the block number, in order. `names` maps what gets a twin to the twin's name."""

    unit: SourceUnit
    code: Structure
    scopes: FileScopes
    api: frozenset[str]
    found: tuple[Helper, ...]
    inner: tuple[Function, ...]
    names: Mapping[str, str]
    spaces: frozenset[str]
    made: dict[int, str | NoTwin] = field(default_factory=dict)  # twins by their first token: kernels of one file share them

    @property
    def classes(self) -> frozenset[str]:
        return frozenset(helper.name for helper in self.found if helper.is_class)

    def index(self, offset: int) -> int:
        return bisect_left(self.code.tokens, offset, key=lambda token: token.start)


@dataclass(frozen=True, slots=True, kw_only=True)
class TwinUse:
    """What a kernel body has to do with twins: `edits` of the body that use those of `names`, or the `problem` that stops it."""

    names: frozenset[str] = frozenset()
    edits: tuple[Edit, ...] = ()
    problem: str = ""


def read_helpers(scopes: FileScopes, unit: SourceUnit, api: frozenset[str], taken: Collection[str]) -> Helpers:
    """Find the helpers of a file that tell the block number, themselves or through others."""
    code = scopes.code
    inner = functions(unit) if API in taken or C_API in taken else ()
    kernels = [kernel.span for kernel in unit.kernels]
    everything = [
        helper
        for helper in _top_level(code, inner)
        if not any(span.start <= code.tokens[helper.first].start < span.end for span in kernels)
    ]
    words = [_words(code, helper) for helper in everything]
    needed = {
        helper.name for helper in everything if any(is_api(code, index, api) for index in range(helper.first, helper.last + 1))
    }
    while True:
        more = {helper.name for helper, used in zip(everything, words, strict=True) if used & needed} - needed
        if not more:
            break
        needed |= more
    found = tuple(helper for helper in everything if helper.name in needed)
    spaces = frozenset(
        code.text(index + 1) for index in range(len(code.texts)) if code.text(index) == "namespace" and code.is_name(index + 1)
    )
    names = {}
    for name in sorted(needed):
        twin, count = f"{name}_sk", 1
        while twin in taken:
            count += 1
            twin = f"{name}_sk_{count}"
        names[name] = twin
    return Helpers(unit=unit, code=code, scopes=scopes, api=api, found=found, inner=inner, names=names, spaces=spaces)


def _top_level(code: Structure, inner: Iterable[Function]) -> Iterator[Helper]:
    end = -1
    for function in sorted(inner, key=lambda each: each.span):
        if function.span.start < end:
            continue
        end = function.span.end
        first = bisect_left(code.tokens, function.span.start, key=lambda token: token.start)
        body = bisect_left(code.tokens, function.body.start, key=lambda token: token.start)
        last = max(code.partner[body], body)
        name, is_member = function.name, False
        if not function.is_class:
            at = next((i for i in range(first, body) if code.text(i) == name and code.text(i + 1) == "("), first)
            holder = _holder(code, at)
            name, is_member = (holder, True) if holder else (name, False)
        elif code.text(last + 1) == ";":
            last += 1
        yield Helper(name=name, is_class=function.is_class, is_member=is_member, first=first, last=last, body=body)


def _holder(code: Structure, at: int) -> str:
    """Return `K` for the member function `K<T>::f` whose name is at `at`."""
    if code.text(at - 1) != "::":
        return ""
    index = at - 2
    depth = 0
    while index > 0 and (depth or code.text(index) == ">"):
        depth += (code.text(index) == ">") - (code.text(index) == "<")
        index -= 1
    return code.text(index) if code.is_name(index) else ""


def _words(code: Structure, helper: Helper) -> frozenset[str]:
    return frozenset(
        code.text(index)
        for index in range(helper.first, helper.last + 1)
        if code.is_name(index) and code.text(index - 1) not in (".", "->")
    )


def use_twins(
    helpers: Helpers,
    kernel: Kernel,
    code: Structure,
    reached: Sequence[Chunk],
    number: str,
    signature: frozenset[str],
    decision: SuperKernelDecision,
) -> TwinUse:
    """Return how a kernel body, `code`, uses twins for all that it reaches of the block number.

    `reached` are the chunks it reaches, `signature` the identifiers of its head and of the template arguments it is bound with.
    """
    asking = [chunk for chunk in reached if any(use.what == BLOCK_NUM for use in chunk.uses)]
    if not asking or decision.helper_block_num == "accept":
        return TwinUse()
    if decision.with_sys_args == "never":
        return TwinUse(problem="the contract says sk.with_sys_args: never")
    for chunk in reached:
        if chunk.unit is not helpers.unit and (chunk in asking or chunk.words & helpers.names.keys()):
            return TwinUse(problem=f"'{chunk.title}' stands in {chunk.unit.path}")
        is_declaration = chunk.kind == STATEMENT and chunk.names[0] in helpers.names and chunk not in asking
        if chunk.kind != FUNCTION and not is_declaration and (chunk in asking or chunk.words & helpers.names.keys()):
            return TwinUse(problem=f"the {chunk.kind} '{chunk.title}' leads to it")
    if signature & helpers.names.keys():
        return TwinUse(problem="the kernel's own head or template arguments name it")
    names = used_names(helpers, {code.text(index) for index in range(len(code.texts)) if code.is_name(index)})
    indices = range(len(code.texts))
    try:
        for _ in twin_texts(helpers, names):
            pass  # for what it raises
        _check_order(helpers, names, kernel.span.start, "the kernel")
        return TwinUse(names=names, edits=tuple(body_edits(helpers, code, indices, number, (indices,))))
    except NoTwin as problem:
        return TwinUse(problem=str(problem))


def _check_order(helpers: Helpers, names: Collection[str], offset: int, user: str) -> None:
    for name in names:
        first = next(helper for helper in helpers.found if helper.name == name)
        if helpers.code.tokens[first.first].start > offset:
            raise NoTwin(f"'{name}' is defined after {user}", offset)


def twin_fragments(helpers: Helpers, names: Collection[str]) -> Iterator[Fragment]:
    """Yield the twins of all helpers with `names`, each right after its original."""
    newline = helpers.unit.newline
    for end, text in twin_texts(helpers, names):
        at = after_line(helpers.unit.text, end)
        yield Fragment(span=Span(start=at, end=at), text=f"{newline}// {TWIN}; do not edit{newline}{text}{newline}")


def used_names(helpers: Helpers, words: Collection[str]) -> frozenset[str]:
    """Return the names among those with twins that code with the identifiers `words` reaches."""
    reached = set(words) & helpers.names.keys()
    waiting = list(reached)
    while waiting:
        name = waiting.pop()
        for helper in helpers.found:
            if helper.name == name:
                new = (_words(helpers.code, helper) & helpers.names.keys()) - reached
                reached |= new
                waiting += new
    return frozenset(reached)


def twin_texts(helpers: Helpers, names: Collection[str]) -> Iterator[tuple[int, str]]:
    """Yield (offset, text) of the twins of all helpers with `names`. Raises NoTwin."""
    for helper in helpers.found:
        if helper.name in names:
            if helper.first not in helpers.made:
                try:
                    helpers.made[helper.first] = _twin(helpers, helper)
                except NoTwin as problem:
                    helpers.made[helper.first] = problem
            made = helpers.made[helper.first]
            if isinstance(made, NoTwin):
                raise made
            yield helpers.code.tokens[helper.last].end, made


def _twin(helpers: Helpers, helper: Helper) -> str:
    code = helpers.code
    start, end = code.tokens[helper.first].start, code.tokens[helper.last].end
    if helper.last <= helper.body:
        raise NoTwin(f"the braces of '{helper.name}' depend on an #if", start)
    if any(scope.kind != "namespace" for scope in helpers.scopes.at(start)):
        raise NoTwin(f"'{helper.name}' does not stand at namespace scope", start)
    used = _words(code, helper) & helpers.names.keys()
    _check_order(helpers, used, start, f"'{helper.name}'")
    hidden = {function.name for function in helpers.inner if _is_member(helpers, function)} & (
        helpers.names.keys() - helpers.classes
    )
    if hidden:
        raise NoTwin(f"'{min(hidden)}' names a function and a member function", start)
    if code.text(helper.first) not in _HEAD_WORDS and code.text(helper.first + 1) == "(":
        raise NoTwin(f"the macro '{code.text(helper.first)}' stands in front of '{helper.name}'", start)
    if helper.is_class and code.text(helper.last) != ";":
        raise NoTwin(f"the class '{helper.name}' is defined together with an object", start)
    defined = next(each for each in helpers.found if each.name == helper.name)
    if helper.is_member and not defined.is_class:
        raise NoTwin(f"the class of '{helper.name}' is not defined in front of its members", start)
    edits = list(_edits(helpers, helper))
    if helper.is_class:
        edits += _number_of_class(helpers, helper)
    return apply(helpers.unit.text, edits, start, end)


def _is_member(helpers: Helpers, function: Function) -> bool:
    around = (each.span for each in helpers.inner if each.is_class)
    return not function.is_class and any(span.start < function.span.start < span.end for span in around)


def _edits(helpers: Helpers, helper: Helper) -> Iterator[Edit]:
    code = helpers.code
    if helper.is_class or helper.is_member:
        bodies = _member_bodies(helpers, helper)
        yield from body_edits(helpers, code, range(helper.first, helper.last + 1), f"this->{NUMBER}", bodies, helper)
        return
    opening = next((i for i in range(helper.first, helper.body) if code.text(i) == helper.name), -1)
    while opening < helper.body and code.text(opening) != "(":
        opening += 1
    if opening >= helper.body or (code.text(opening + 1) == "void" and code.text(opening + 2) == ")"):
        raise NoTwin(f"the parameters of '{helper.name}' are not understood", code.tokens[helper.first].start)
    at = code.tokens[opening].end
    yield Edit(start=at, end=at, text=f"int64_t {NUMBER}" + ("" if code.text(opening + 1) == ")" else ", "))
    bodies = (range(helper.body, helper.last + 1),)
    yield from body_edits(helpers, code, range(helper.first, helper.last + 1), NUMBER, bodies, helper)


def _member_bodies(helpers: Helpers, helper: Helper) -> tuple[range, ...]:
    """Return the bodies of the member functions in a helper, having checked who may ask for the number there."""
    code = helpers.code
    span = Span(start=code.tokens[helper.first].start, end=code.tokens[helper.last].end)
    found = []
    asking = _asking_members(helpers, helper.name)
    for function in helpers.inner:
        if not span.start <= function.body.start < span.end or function.is_class:
            continue
        first, body = helpers.index(function.span.start), helpers.index(function.body.start)
        bodies = range(body, code.partner[body] + 1)
        words = {code.text(index) for index in range(first, bodies.stop)}
        asks = any(is_api(code, index, helpers.api) for index in bodies) or words & asking
        if asks and function.name in (helper.name, "operator"):
            raise NoTwin(f"'{helper.name}' asks for the block number while it is constructed", function.body.start)
        if "static" in {code.text(index) for index in range(first, body)} and asks:
            raise NoTwin(f"the static member '{function.name}' asks for the block number", function.body.start)
        found.append(bodies)
    return tuple(found)


def _asking_members(helpers: Helpers, name: str) -> set[str]:
    """Return the member functions of a class that ask for the number, themselves or through others, and all twin functions."""
    code = helpers.code
    spans = [(code.tokens[h.first].start, code.tokens[h.last].end) for h in helpers.found if h.name == name]
    members = [f for f in helpers.inner if not f.is_class and any(start <= f.body.start < end for start, end in spans)]
    words: dict[str, set[str]] = {}
    asking = set(helpers.names) - helpers.classes
    for function in members:
        body = helpers.index(function.body.start)
        indices = range(body, code.partner[body] + 1)
        words.setdefault(function.name, set()).update(code.text(index) for index in indices)
        if any(is_api(code, index, helpers.api) for index in indices):
            asking.add(function.name)
    while more := {each for each, used in words.items() if used & asking} - asking:
        asking |= more
    return asking - {name}


def _number_of_class(helpers: Helpers, helper: Helper) -> Iterator[Edit]:
    """Add the number to a class, and the function that tells it to the object, its bases and its members."""
    code, original = helpers.code, helpers.unit.text
    closing = code.partner[helper.body]
    told = [f"{NUMBER} = number;"]
    colon = next((i for i in range(helper.first, helper.body) if code.text(i) == ":"), helper.body)
    for index in range(colon, helper.body):
        if code.text(index) in helpers.classes:
            after = _after_arguments(code, index)
            arguments = original[code.tokens[index].end : code.tokens[after - 1].end]
            if any(code.text(each) in helpers.names for each in range(index + 1, after)):
                raise NoTwin(f"a base of '{helper.name}' has a helper as an argument", code.tokens[index].start)
            told.append(f"{helpers.names[code.text(index)]}{arguments}::{SETTER}(number);")
    told += [f"{member}.{SETTER}(number);" for member in _members(helpers, helper)]
    at = code.tokens[closing].start
    newline = helpers.unit.newline
    lines = [
        "",
        "public:",
        f"    int64_t {NUMBER};",
        f"    __aicore__ inline void {SETTER}(int64_t number) {{ {' '.join(told)} }}",
        "",
    ]
    yield Edit(start=at, end=at, text=newline.join(lines))


def _members(helpers: Helpers, helper: Helper) -> Iterator[str]:
    """Yield the data members that are objects of classes with twins."""
    code = helpers.code
    index = helper.body + 1
    closing = code.partner[helper.body]
    while index < closing:
        if code.text(index) == "{":
            index = code.partner[index]
        elif (
            code.text(index) in helpers.classes
            and code.text(index - 1) in (";", "{", "}", ":")
            and code.text(index) != helper.name
        ):
            after = _after_arguments(code, index)
            if code.is_name(after) and code.text(after + 1) == ";":
                yield code.text(after)
            elif code.text(after) not in ("*", "&") and not (code.is_name(after) and code.text(after + 1) == "("):
                raise NoTwin(f"a member of '{helper.name}' is not a plain object", code.tokens[index].start)
        index += 1


def _after_arguments(code: Structure, index: int) -> int:
    """Return the token after the name at `index` and its template arguments."""
    if code.text(index + 1) != "<":
        return index + 1
    depth, at = 0, index + 1
    while at < len(code.texts):
        depth += (code.text(at) == "<") - (code.text(at) == ">")
        at = max(code.partner[at], at) + 1 if code.text(at) in ("(", "[", "{") else at + 1
        if not depth:
            break
    return at


def body_edits(
    helpers: Helpers, code: Structure, indices: range, number: str, bodies: Collection[range], helper: Helper | None = None
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
        if not code.is_name(index) or before in (".", "->"):
            continue
        offset = code.tokens[index].start
        runs = any(index in body for body in bodies)
        if helper is not None and word in (API, C_API) and is_api(code, index, helpers.api):
            first, known = qualification(code, index, helpers.api)
            around = next((body for body in bodies if index in body), None)
            if around is None or not known or code.text(index + 1) != "(" or code.text(index + 2) != ")":
                raise NoTwin(f"{word} of '{helper.name}' is no plain call in a function", offset)
            if (holder := closed_scope(code, index, around.start)) is not None:
                raise NoTwin(f"{word} of '{helper.name}' is called in a {holder}", offset)
            yield Edit(start=code.tokens[first].start, end=code.tokens[index + 2].end, text=number)
        elif word in helpers.names:
            if before == "::" and code.is_name(index - 2) and code.text(index - 2) not in helpers.spaces:
                raise NoTwin(f"'{code.text(index - 2)}::{word}' may be something else than the '{word}' of this file", offset)
            yield Edit(start=offset, end=code.tokens[index].end, text=helpers.names[word])
            after = _after_arguments(code, index)
            is_head = helper is not None and word == helper.name and not runs
            if word not in helpers.classes:
                if is_head:
                    continue
                if not runs or code.text(after) != "(":
                    raise NoTwin(f"'{word}' is used other than in a call", offset)
                at = code.tokens[after].end
                yield Edit(start=at, end=at, text=number + ("" if code.text(after + 1) == ")" else ", "))
            elif runs:
                yield from _told(code, index, after, number, word)
        elif word in aliases and runs and before != "using":
            yield from _told(code, index, index + 1, number, word)


def _told(code: Structure, index: int, after: int, number: str, word: str) -> Iterator[Edit]:
    """Tell a declared object the number; references, pointers and types need not be told."""
    following = code.text(after)
    offset = code.tokens[index].start
    if following in ("*", "&", "&&", "::", ">", ",") or (following == ";" and code.text(index - 1) == "="):
        return
    first = index
    while code.text(first - 1) == "::":
        first -= 2 if code.is_name(first - 2) else 1
    begins = code.text(first - 1) in _STATEMENT_ENDS or code.is_directive(first - 1)
    if not begins or not code.is_name(after):
        raise NoTwin(f"an object of '{word}' is made other than by a plain declaration", offset)
    end = after + 1
    if code.text(end) in ("(", "{"):
        end = code.partner[end] + 1
    if code.text(end) != ";":
        raise NoTwin(f"an object of '{word}' is made other than by a plain declaration", offset)
    at = code.tokens[end].end
    yield Edit(start=at, end=at, text=f" {code.text(after)}.{SETTER}({number});")
