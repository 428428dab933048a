"""Askers: the functions and classes of a file that ask for the block number, themselves or through others."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from skrules.adapt.blocknum import API, C_API, is_api
from skrules.adapt.scopes import FileScopes
from skrules.adapt.structure import Structure
from skrules.source.calls import Function, functions
from skrules.source.model import SourceUnit


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
    words = [words_of(code, helper) for helper in everything]
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


def used_names(helpers: Helpers, words: Collection[str]) -> frozenset[str]:
    """Return the names among those with twins that code with the identifiers `words` reaches."""
    reached = set(words) & helpers.names.keys()
    waiting = list(reached)
    while waiting:
        name = waiting.pop()
        for helper in helpers.found:
            if helper.name == name:
                new = (words_of(helpers.code, helper) & helpers.names.keys()) - reached
                reached |= new
                waiting += new
    return frozenset(reached)


def words_of(code: Structure, helper: Helper) -> frozenset[str]:
    return frozenset(
        code.text(index)
        for index in range(helper.first, helper.last + 1)
        if code.is_name(index) and code.text(index - 1) not in (".", "->")
    )


def after_arguments(code: Structure, index: int) -> int:
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
