"""What kernels and SK functions reach: the functions of a file and its headers that they call, as far as names tell."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from skrules.source.code import Code
from skrules.source.model import KernelType, Span
from skrules.validate.subject import Subject, SubjectFile


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Root:
    """A kernel or an SK function with a body of its own in a file. `kernel` is the qualified name of a kernel, or ""."""

    file: SubjectFile
    name: str
    kernel: str
    type: KernelType
    span: Span
    offset: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Reached:
    """Code that a root reaches, its own body first: `code[first:last]` of a file."""

    file: SubjectFile
    code: Code
    first: int
    last: int

    def indices(self) -> range:
        return range(self.first, self.last)

    def at(self, index: int) -> int:
        """Return the offset of a token."""
        return self.code.tokens[index].start


def kernels_of(file: SubjectFile) -> Iterator[Root]:
    """Yield the kernels of a file; those that macros make have no body of their own to look at."""
    for kernel in file.unit.kernels:
        if kernel.expansion is None:
            yield Root(
                file=file,
                name=kernel.name,
                kernel=kernel.qualified_name,
                type=kernel.type,
                span=kernel.body,
                offset=kernel.name_span.start,
            )


def sk_functions_of(file: SubjectFile) -> Iterator[Root]:
    for function in file.sk_functions:
        yield Root(file=file, name=function.name, kernel="", type=function.type, span=function.span, offset=function.offset)


class Reach:
    """Follows calls and macros through the files that one file reaches. Overloads, and members of one name, are not told
    apart. What stands where is looked up when the first root is asked about: most files have none."""

    def __init__(self, subject: Subject, file: SubjectFile) -> None:
        self._subject = subject
        self._file = file

    @cached_property
    def _places(self) -> Mapping[str, Sequence[tuple[Reached, frozenset[str]]]]:
        """The functions, classes and macros of a name, each with the identifiers in it."""
        found: dict[str, list[tuple[Reached, frozenset[str]]]] = {}
        for each in self._subject.reached(self._file):
            for function, words in each.functions:
                found.setdefault(function.name, []).append((_part(each, function.body), words))
            for name, codes in each.macros.items():
                for code in codes:
                    words = frozenset(text for index, text in enumerate(code.texts) if code.is_identifier(index))
                    part = Reached(file=each, code=code, first=0, last=len(code))
                    found.setdefault(name, []).append((part, words))
        return found

    def of(self, root: Root) -> list[Reached]:
        """Return what a root reaches. A class counts when it is named: its members are called through objects of it."""
        own = _part(root.file, root.span)
        found = [own]
        seen = {root.name}
        waiting = [own.code.texts[index] for index in own.indices() if own.code.is_identifier(index)]
        while waiting:
            name = waiting.pop()
            if name in seen:
                continue
            seen.add(name)
            for part, words in self._places.get(name, ()):
                if not _holds(own, part):
                    found.append(part)
                    waiting += words
        return _apart(found)


def words_of(reached: list[Reached]) -> frozenset[str]:
    """Return the identifiers of all that is reached."""
    return frozenset(part.code.texts[index] for part in reached for index in part.indices() if part.code.is_identifier(index))


def _part(file: SubjectFile, span: Span) -> Reached:
    code = file.live
    first = bisect_left(code.tokens, span.start, key=lambda token: token.start)
    last = bisect_left(code.tokens, span.end, key=lambda token: token.start)
    return Reached(file=file, code=code, first=first, last=last)


def _apart(parts: list[Reached]) -> list[Reached]:
    """Leave out what stands in another part already: a member function in its class."""
    distinct = {(part.file.path, id(part.code), part.first, part.last): part for part in parts}
    kept: set[tuple[str, int, int, int]] = set()
    ends: dict[tuple[str, int], int] = {}
    # A part comes behind those that may hold it.
    for path, code, first, last in sorted(distinct, key=lambda place: (place[:2], place[2], -place[3])):
        if last > ends.get((path, code), -1):
            ends[path, code] = last
            kept.add((path, code, first, last))
    return [part for place, part in distinct.items() if place in kept]


def _holds(outer: Reached, inner: Reached) -> bool:
    is_same = (outer.first, outer.last) == (inner.first, inner.last)
    return outer.code is inner.code and not is_same and outer.first <= inner.first and inner.last <= outer.last
