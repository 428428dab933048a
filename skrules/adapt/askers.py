"""Askers: the functions and classes of a file and its headers that ask for the block number, themselves or through others."""

from __future__ import annotations

import re
import sys
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from skrules.adapt.blocknum import API, C_API, api_names, introduces_lambda, is_api, is_declared
from skrules.adapt.declarations import Declaration, read_declarations
from skrules.adapt.inclusions import Inclusion, read_inclusions
from skrules.adapt.scopes import FileScopes
from skrules.source.calls import Function, functions
from skrules.source.code import Code
from skrules.source.macros import macros_of
from skrules.source.model import SourceUnit, Span, TokenKind
from skrules.source.parameters import split
from skrules.source.tokens import directive_name

_STRANGE = frozenset({"#", "class", "struct"})
_WORD = re.compile(r"[A-Za-z_]\w*")


class NoTwin(Exception):
    """A twin is not known to be the same code; the text says why, `offset` is where."""

    def __init__(self, reason: str, offset: int) -> None:
        super().__init__(reason)
        self.offset = offset


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HelperFile:
    """One file that may have helpers. `inclusion` says where a header comes in, None for the adapted file itself; `inner` are
    its functions and classes, `api` the names of namespace AscendC in it."""

    unit: SourceUnit
    scopes: FileScopes
    api: frozenset[str]
    inner: tuple[Function, ...]
    inclusion: Inclusion | None = None

    @property
    def code(self) -> Code:
        return self.scopes.code

    def index(self, offset: int) -> int:
        return bisect_left(self.code.tokens, offset, key=lambda token: token.start)


@dataclass(frozen=True, slots=True, kw_only=True)
class Helper:
    """A function, a class or a member function outside of its class, at namespace scope. `name` is what its users write; `first`
    and `last` are tokens of its file's code, `body` the token of the `{`."""

    file: HelperFile
    name: str
    is_class: bool
    is_member: bool
    first: int
    last: int
    body: int

    @property
    def start(self) -> int:
        """The offset at which it begins in its file."""
        return self.file.code.tokens[self.first].start

    @property
    def order(self) -> tuple[int, int, int]:
        """Orders definitions as the compiler sees them: by offset in the adapted file, those of headers by their include."""
        inclusion = self.file.inclusion
        return (self.start, 0, 0) if inclusion is None else (inclusion.start, inclusion.rank, self.start)

    @property
    def words(self) -> frozenset[str]:
        """The identifiers in it but members of objects."""
        code = self.file.code
        return frozenset(
            code.text(index)
            for index in range(self.first, self.last + 1)
            if code.is_identifier(index) and code.text(index - 1) not in (".", "->")
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Helpers:
    """The helpers that reach the block number, in order. `names` maps what gets a twin to the twin's name; `spaces` are the
    names of namespaces, `imported` what using-declarations bring to others; `macros` has the
    identifiers in each macro, `strange` those that do more with an argument than put it in. `has_own_api`: one of the
    files declares a function of the API's name, which a plain name may mean instead."""

    unit: SourceUnit
    files: tuple[HelperFile, ...]
    found: tuple[Helper, ...]
    names: Mapping[str, str]
    spaces: frozenset[str]
    imported: frozenset[str]
    macros: Mapping[str, frozenset[str]]
    strange: frozenset[str]
    has_own_api: bool
    made: dict[tuple[str, int], str | NoTwin] = field(default_factory=dict)  # twins: kernels of one file share them
    declared: dict[str, tuple[Declaration, ...]] = field(default_factory=dict)  # by path: helpers of one header share them
    prototypes: dict[str, tuple[tuple[int, tuple[tuple[str, ...], ...]], ...]] = field(default_factory=dict)  # by name
    named: dict[str, dict[str, list[int]]] = field(default_factory=dict)  # by path: tokens by name

    @property
    def classes(self) -> frozenset[str]:
        return frozenset(helper.name for helper in self.found if helper.is_class)

    def definition(self, name: str) -> Helper:
        """Return the first definition of a helper."""
        return next(helper for helper in self.found if helper.name == name)

    def places(self, file: HelperFile, name: str) -> Sequence[int]:
        """Return the tokens of a file that are one of `names`."""
        path = file.unit.path
        if path not in self.named:
            found: dict[str, list[int]] = {}
            for index, text in enumerate(file.code.texts):
                if text in self.names:
                    found.setdefault(text, []).append(index)
            self.named[path] = found
        return self.named[path].get(name, ())

    def counts(self, name: str) -> Iterator[tuple[int, int]]:
        """Yield how many arguments each function called `name` takes, at least and at most."""
        for helper in self.found:
            if helper.name == name and not helper.is_class and not helper.is_member:
                yield _count(helper)

    def declarations(self, file: HelperFile) -> tuple[Declaration, ...]:
        """Return what a file declares outside of functions and classes."""
        path = file.unit.path
        if path not in self.declared:
            self.declared[path] = read_declarations(file.code, tuple(each.body for each in file.inner))
        return self.declared[path]

    def has(self, unit: SourceUnit) -> bool:
        """Tell whether the helpers of a file were looked for: it is the adapted one, or a header known to be included."""
        return any(file.unit is unit for file in self.files)


def read_helpers(
    scopes: FileScopes, unit: SourceUnit, api: frozenset[str], taken: Collection[str], headers: Sequence[SourceUnit] = ()
) -> Helpers:
    """Find the helpers of a file and of its headers that tell the block number, themselves or through others.

    `taken` are the identifiers of the file, which no twin is called by.
    """
    words = [{token.text for token in header.tokens if token.kind is TokenKind.IDENTIFIER} for header in headers]
    in_headers = any({API, C_API} & each for each in words)
    inner = functions(unit) if in_headers or API in taken or C_API in taken else ()
    files = [HelperFile(unit=unit, scopes=scopes, api=api, inner=inner)]
    for each in read_inclusions(unit, scopes, headers) if in_headers else ():
        names_of_api = api_names(each.scopes.code)
        files.append(HelperFile(unit=each.unit, scopes=each.scopes, api=names_of_api, inner=functions(each.unit), inclusion=each))
    everything = sorted((helper for file in files for helper in _top_level(file)), key=lambda helper: helper.order)
    needed = _needed(everything)
    spaces = {name for file in files for name in _spaces(file.code)}
    taken = set(taken).union(*words)
    names = {}
    for name in sorted(needed):
        twin, count = f"{name}_sk", 1
        while twin in taken:
            count += 1
            twin = f"{name}_sk_{count}"
        names[name] = twin
    found = tuple(helper for helper in everything if helper.name in needed)
    return Helpers(
        unit=unit,
        files=tuple(files),
        found=found,
        names=names,
        spaces=frozenset(spaces),
        imported=frozenset(name for file in files for name in _imported(file)) if found else frozenset(),
        macros=_macros(files) if found else {},
        strange=strange_macros([unit, *headers]),
        has_own_api=any(_declares_api(file.code) for file in files) if found else False,
    )


def _declares_api(code: Code) -> bool:
    return any(
        text == API and code.text(index + 1) == "(" and is_declared(code, index, API) for index, text in enumerate(code.texts)
    )


def _spaces(code: Code) -> Iterator[str]:
    """Yield the names behind `namespace`, all of `namespace a::b`."""
    for index, text in enumerate(code.texts):
        if text == "namespace":
            at = index + 1
            while code.is_identifier(at):
                yield code.text(at)
                at += 2 if code.text(at + 1) == "::" else 1


def strange_macros(units: Iterable[SourceUnit]) -> frozenset[str]:
    """Return the macros that make a string of an argument, or hold a lambda or class, themselves or through another macro."""
    words: dict[str, frozenset[str]] = {}
    found: set[str] = set()
    for unit in units:
        for name, macros in macros_of(unit.tokens).items():
            codes = [macro.code for macro in macros if macro.parameters is not None]
            words[name] = words.get(name, frozenset()).union(*(code.texts for code in codes))
            has_lambda = any(text == "[" and introduces_lambda(code, at) for code in codes for at, text in enumerate(code.texts))
            if has_lambda or words[name] & _STRANGE:
                found.add(name)
    while more := {name for name, used in words.items() if used & found} - found:
        found |= more
    return frozenset(found)


def _macros(files: Sequence[HelperFile]) -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for file in files:
        for index, text in enumerate(file.code.texts):
            if file.code.is_directive(index) and directive_name(text) == "define":
                name, *used = _WORD.findall(text)[1:] or [""]
                found[name] = found.get(name, frozenset()).union(used)
    return found


def _imported(file: HelperFile) -> Iterator[str]:
    code = file.code
    for index, text in enumerate(code.texts):
        if text == "using" and code.text(index + 1) != "namespace" and file.scopes.is_outside(index):
            end = next((at for at in range(index, len(code.texts)) if code.text(at) in (";", "=")), index)
            if code.text(end) == ";":
                yield code.text(end - 1)


def _needed(everything: Sequence[Helper]) -> set[str]:
    words = [helper.words for helper in everything]
    needed = {
        helper.name
        for helper in everything
        if any(is_api(helper.file.code, index, helper.file.api) for index in range(helper.first, helper.last + 1))
    }
    while more := {helper.name for helper, used in zip(everything, words, strict=True) if used & needed} - needed:
        needed |= more
    return needed


def used_names(helpers: Helpers, words: Collection[str]) -> frozenset[str]:
    """Return the names among those with twins that code with the identifiers `words` reaches."""
    reached = set(words) & helpers.names.keys()
    waiting = list(reached)
    while waiting:
        name = waiting.pop()
        for helper in helpers.found:
            if helper.name == name:
                new = (helper.words & helpers.names.keys()) - reached
                reached |= new
                waiting += new
    return frozenset(reached)


def after_arguments(code: Code, index: int) -> int:
    """Return the token after the name at `index` and its template arguments."""
    if code.text(index + 1) != "<":
        return index + 1
    depth, at = 0, index + 1
    while at < len(code.texts):
        depth += (code.text(at) == "<") - (code.text(at) == ">")
        at = max(code.partner(at), at) + 1 if code.text(at) in ("(", "[", "{") else at + 1
        if not depth:
            break
    return at


def parameter_list(helper: Helper) -> int:
    """Return the `(` of a function's parameters, -1 where it is not found."""
    code = helper.file.code
    opening = next((i for i in range(helper.first, helper.body) if code.text(i) == helper.name), -1)
    while 0 <= opening < helper.body and code.text(opening) != "(":
        opening += 1
    return opening if 0 <= opening < helper.body else -1


def _count(helper: Helper) -> tuple[int, int]:
    code, opening = helper.file.code, parameter_list(helper)
    if opening < 0 or code.partner(opening) < 0:
        return (0, sys.maxsize)
    parts = [code.texts[first:after] for first, after in split(code, opening + 1, code.partner(opening))]
    if any("..." in part for part in parts):
        return (0, sys.maxsize)
    return sum("=" not in part for part in parts), len(parts)


def _top_level(file: HelperFile) -> Iterator[Helper]:
    code = file.code
    kernels = sorted({kernel.span for kernel in file.unit.kernels})
    end = -1
    for function in sorted(file.inner, key=lambda each: each.span):
        if function.span.start < end:
            continue
        end = function.span.end
        begin = _begin(function, kernels)
        if begin > function.body.start:
            continue  # a kernel
        first, body = file.index(begin), file.index(function.body.start)
        while code.is_directive(first) and begin > function.span.start:
            first += 1  # of the group that such a use stands in
        last = max(code.partner(body), body)
        name, is_member = function.name, False
        if not function.is_class:
            at = next((i for i in range(first, body) if code.text(i) == name and _begins_list(code, i)), first)
            holder = _holder(code, at)
            name, is_member = (holder, True) if holder else (name, False)
        elif code.text(last + 1) == ";":
            last += 1
        yield Helper(file=file, name=name, is_class=function.is_class, is_member=is_member, first=first, last=last, body=body)


def _begin(function: Function, kernels: Sequence[Span]) -> int:
    """Return where a declaration begins: behind the uses of macros that make kernels, which may go without a semicolon."""
    place = max(0, bisect_left(kernels, function.span.start, key=lambda span: span.start) - 1)
    begin = function.span.start
    while place < len(kernels) and kernels[place].start < function.body.start:
        begin = max(begin, kernels[place].end)
        place += 1
    return begin


def _begins_list(code: Code, at: int) -> bool:
    """Tell whether the name at `at` is that of a function: its parameters follow, arguments of a template, or the operator."""
    return code.text(at + 1) in ("(", "<") or code.text(at) == "operator"


def _holder(code: Code, at: int) -> str:
    """Return `K` for the member function `K<T>::f` whose name is at `at`."""
    if code.text(at - 1) != "::":
        return ""
    index = at - 2
    depth = 0
    while index > 0 and (depth or code.text(index) == ">"):
        depth += (code.text(index) == ">") - (code.text(index) == "<")
        index -= 1
    return code.text(index) if code.is_identifier(index) else ""
