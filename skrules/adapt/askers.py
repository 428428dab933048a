"""Askers: the functions and classes of a file and its headers that ask for the block number, themselves or through others."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from skrules.adapt.blocknum import API, C_API, api_names, introduces_lambda, is_api, is_declared
from skrules.adapt.declarations import Declaration, read_declarations
from skrules.adapt.definitions import Helper, HelperFile, count_of_arguments, definitions
from skrules.adapt.inclusions import read_inclusions
from skrules.adapt.scopes import FileScopes
from skrules.source.calls import functions
from skrules.source.code import Code
from skrules.source.macros import macros_of
from skrules.source.model import SourceUnit, TokenKind
from skrules.source.tokens import directive_name

_STRANGE = frozenset({"#", "class", "struct"})
_WORD = re.compile(r"[A-Za-z_]\w*")


class NoTwin(Exception):
    """A twin is not known to be the same code; the text says why, `offset` is where."""

    def __init__(self, reason: str, offset: int) -> None:
        super().__init__(reason)
        self.offset = offset


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
                yield count_of_arguments(helper)

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
    everything = sorted((helper for file in files for helper in definitions(file)), key=lambda helper: helper.order)
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
