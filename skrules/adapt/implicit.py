"""Code that runs without its name in the kernel: operators, the functions that macros define, initialisers, text that is included
into a function. A walk by name alone would pass it over.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from skrules.adapt.blocknum import API, C_API, RAW_WORDS, api_names, is_api, is_declared, is_raw
from skrules.adapt.helpers import BLOCK_NUM, MACRO, RAW, Chunk, Use, declared_through_pointer
from skrules.source.calls import Function, functions
from skrules.source.code import Code
from skrules.source.model import SourceUnit, TokenKind
from skrules.source.tokens import without_splices

# A range-for calls these on what it runs over.
UNWRITTEN = frozenset({"begin", "end"})
OPERATOR, USE, INITIALISER, INCLUDED = "operator", "macro use", "initialiser", "included text"
_INCLUDE = re.compile(r'#\s*include\s*"([^"]+)"')
_NO_INITIALISERS = frozenset({"namespace", "extern", "enum", "class", "struct", "union"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Unnamed(Chunk):
    """A chunk that is always reached, or when its variable is; `label` is what people are told of it."""

    label: str

    @property
    def title(self) -> str:
        return self.label


def implicit_chunks(units: Sequence[SourceUnit], chunks: Iterable[Chunk]) -> Iterator[Chunk]:
    """Yield what no walk by name finds. `chunks` are those that it knows of the same files."""
    texts = [without_splices(unit.text) for unit in units]
    if not any(word in text for text in texts for word in (API, C_API, *RAW_WORDS)):
        return
    macros = _asking_macros(chunks)
    found = [functions(unit) for unit in units]
    included = {name for unit, each in zip(units, found, strict=True) for name in _included_inside(unit, each)}
    for unit, each in zip(units, found, strict=True):
        yield from _of_file(_Reader(unit, unit.code, macros), each, included)


def _asking_macros(chunks: Iterable[Chunk]) -> frozenset[str]:
    """Return the macros whose text asks for the block number, itself or through other macros."""
    texts = [chunk for chunk in chunks if chunk.kind == MACRO]
    found = {chunk.names[0] for chunk in texts if any(use.what in (BLOCK_NUM, RAW) for use in chunk.uses)}
    while more := {chunk.names[0] for chunk in texts if chunk.words & found} - found:
        found |= more
    return frozenset(found)


def _included_inside(unit: SourceUnit, found: Sequence[Function]) -> Iterator[str]:
    """Yield the names of the files that a function or kernel includes into its own text."""
    names = [
        (token.start, match.group(1).rpartition("/")[2])
        for token in unit.tokens
        if token.kind is TokenKind.DIRECTIVE and (match := _INCLUDE.match(token.text))
    ]
    bodies = [*(each.body for each in found), *(kernel.body for kernel in unit.kernels)]
    for start, name in names:
        if any(body.start < start < body.end for body in bodies):
            yield name


class _Reader:
    """Makes chunks of one file. A word of `macros` is a use of the block number itself."""

    __slots__ = ("api", "code", "declared", "macros", "unit")

    def __init__(self, unit: SourceUnit, code: Code, macros: Collection[str]) -> None:
        self.unit = unit
        self.code = code
        self.macros = macros
        self.api = api_names(code)
        self.declared = {word for at, word in enumerate(code.texts) if word in RAW_WORDS and is_declared(code, at, word)}

    def chunk(self, indices: range, label: str, kind: str, names: tuple[str, ...] = ()) -> Chunk:
        code = self.code
        words = [index for index in indices if code.is_identifier(index)]
        meant = [(what, index) for index in words if (what := self.meaning(index))]
        uses = tuple(
            Use(what=what, word=API if what == BLOCK_NUM else code.text(index), unit=self.unit, offset=code.tokens[index].start)
            for what, index in meant
        )
        return Unnamed(names=names, words=frozenset(map(code.text, words)), uses=uses, unit=self.unit, kind=kind, label=label)

    def meaning(self, index: int) -> str:
        code, word = self.code, self.code.text(index)
        if word in self.macros or is_api(code, index, self.api):
            return BLOCK_NUM
        return RAW if word in RAW_WORDS and word not in self.declared and is_raw(code, index) else ""

    def between(self, start: int, end: int) -> range:
        first, last = (bisect_left(self.code.tokens, at, key=lambda token: token.start) for at in (start, end))
        return range(first, last)


def _of_file(reader: _Reader, found: Sequence[Function], included: Collection[str]) -> Iterator[Chunk]:
    unit, code = reader.unit, reader.code
    name = unit.path.rpartition("/")[2]
    if name in included:
        yield reader.chunk(range(len(code.tokens)), name, INCLUDED)
    classes = [each.body for each in found if each.is_class]
    for each in found:
        if each.name == OPERATOR and not any(body.start < each.span.start < body.end for body in classes):
            yield reader.chunk(reader.between(each.span.start, each.span.end), OPERATOR, OPERATOR)
    outside = _outside(unit, code, found)
    for index in outside:
        if code.is_identifier(index) and code.text(index) in reader.macros:
            last = code.partner(index + 1) if code.text(index + 1) == "(" else index
            yield reader.chunk(range(index, max(index, last) + 1), code.text(index), USE)
    yield from _initialisers(reader, outside)


def _outside(unit: SourceUnit, code: Code, found: Sequence[Function]) -> list[int]:
    """Return the tokens that stand in no body of a function or class, and in no kernel, and are no directive.

    A macro in front of a function is read as the beginning of its head.
    """
    spans = sorted([*(each.body for each in found), *(kernel.span for kernel in unit.kernels)])
    result, place, end = [], 0, 0
    for index, token in enumerate(code.tokens):
        while place < len(spans) and spans[place].start <= token.start:
            end = max(end, spans[place].end)
            place += 1
        if token.start >= end and not code.is_directive(index):
            result.append(index)
    return result


def _initialisers(reader: _Reader, outside: Sequence[int]) -> Iterator[Chunk]:
    """Yield what stands in the braces of a variable at namespace scope: a lambda, or calls."""
    code = reader.code
    statement: list[int] = []
    until = -1
    for place, index in enumerate(outside):
        if index <= until:
            continue
        if place and outside[place - 1] != index - 1:
            statement = []  # a body stands between
        if code.text(index) == "{" and code.partner(index) > index and (name := _variable(code, statement)):
            until = code.partner(index)
            yield reader.chunk(range(statement[0], until + 1), name, INITIALISER, (name,))
        if code.text(index) in (";", "{", "}"):
            statement = []
        else:
            statement.append(index)


def _variable(code: Code, statement: Sequence[int]) -> str:
    """Return the variable that a statement initialises so far, "" where it declares something else."""
    words = [code.text(index) for index in statement]
    if _NO_INITIALISERS.intersection(words) and "=" not in words:
        return ""
    end = words.index("=") if "=" in words else len(words)
    if name := declared_through_pointer(words[:end]):
        return name
    while end > 0 and words[end - 1] == "]":
        end = next((at for at in range(end - 1, -1, -1) if words[at] == "["), 0)
    return words[end - 1] if end > 0 and code.is_identifier(statement[end - 1]) else ""
