"""What rules look at: the files of one operator, the documents beside it, what was decided and what it is meant for."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

from skrules.adapt.blocknum import api_names
from skrules.errors import Location
from skrules.source.calls import Function, functions, identifiers_in
from skrules.source.code import Code, code_of
from skrules.source.conditions import Conditions, conditions_of
from skrules.source.includes import Include, includes_of
from skrules.source.macros import macros_of
from skrules.source.model import SourceUnit
from skrules.validate.bindings import SkBinding, SkFunction, read_bindings, read_functions
from skrules.validate.compat import NO_FACTS, Compat, Target
from skrules.validate.document import Document


@dataclass(frozen=True, kw_only=True)
class SubjectFile:
    """One C++ file. `headers` are the paths of the files that it includes, directly or not, as far as they were found;
    `missing` are quoted includes that were not, of it and of those headers.

    Not slotted, unlike other records: what rules ask of a file is worked out once, when the first asks.
    """

    unit: SourceUnit
    is_header: bool
    headers: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        return self.unit.path

    @property
    def suffix(self) -> str:
        return PurePosixPath(self.path).suffix

    def at(self, offset: int) -> Location:
        return self.unit.lines.at(offset)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the file's bytes, in hex."""
        return hashlib.sha256(self.unit.text.encode("latin-1")).hexdigest()

    @cached_property
    def live(self) -> Code:
        """The code without what `#if 0` hides."""
        code, dead = self.unit.code, self._conditions
        return code_of(token for index, token in enumerate(code.tokens) if not dead.is_dead(index)) if dead.dead else code

    def is_dead(self, offset: int) -> bool:
        """Tell whether `#if 0` hides what stands at `offset`, be it a comment."""
        code = self.unit.code
        return any(
            code.tokens[first].start < offset and (last >= len(code) or offset < code.tokens[last].start)
            for first, last in self._conditions.dead
        )

    @cached_property
    def _conditions(self) -> Conditions:
        return conditions_of(self.unit.code)

    @cached_property
    def parts(self) -> tuple[Code, ...]:
        """The live code, and the replacement lists of its macros."""
        return (self.live, *(code for codes in self.macros.values() for code in codes))

    @cached_property
    def words(self) -> frozenset[str]:
        """The identifiers of all parts."""
        return frozenset(text for part in self.parts for index, text in enumerate(part.texts) if part.is_identifier(index))

    @cached_property
    def api_names(self) -> frozenset[str]:
        """The names of namespace AscendC."""
        return api_names(self.unit.code)

    @cached_property
    def includes(self) -> tuple[Include, ...]:
        return includes_of(self.unit.tokens)

    @cached_property
    def functions(self) -> tuple[tuple[Function, frozenset[str]], ...]:
        """Its functions and classes, each with the identifiers in it."""
        found = functions(self.unit)
        return tuple(zip(found, identifiers_in(self.unit, *(each.span for each in found)), strict=True))

    @cached_property
    def macros(self) -> Mapping[str, tuple[Code, ...]]:
        """The replacement lists of its macros, by name."""
        return {name: tuple(macro.code for macro in found) for name, found in macros_of(self.live.tokens).items()}

    @cached_property
    def sk_functions(self) -> tuple[SkFunction, ...]:
        """The SK functions that it defines."""
        return read_functions(self.unit) if "__sk__" in self.words else ()

    @cached_property
    def bindings(self) -> tuple[SkBinding, ...]:
        """Its SK_BIND statements."""
        return read_bindings(self.live, macros_of(self.unit.tokens)) if "SK_BIND" in self.words else ()

    def uses(self, *names: str) -> Iterator[tuple[Code, int]]:
        """Yield where identifiers called one of `names` stand: the part, and the index in it."""
        if self.words.isdisjoint(names):
            return
        for part in self.parts:
            for index, text in enumerate(part.texts):
                if text in names and part.is_identifier(index):
                    yield part, index


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What a contract decided about a kernel, by its qualified name. None: nothing."""

    kernel: str
    block_dim: int | None = None
    mask: int | None = None
    at: Location | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """`targets` is what it is to run on: archs or chips; `documents` are those that were named."""

    files: tuple[SubjectFile, ...] = ()
    documents: tuple[Document, ...] = ()
    decisions: tuple[Decision, ...] = ()
    targets: tuple[Target, ...] = ()
    compat: Compat = NO_FACTS

    def reached(self, file: SubjectFile) -> tuple[SubjectFile, ...]:
        """Return a file and the headers that it includes."""
        names = frozenset(file.headers)
        return (file, *(other for other in self.files if other.path in names))

    def decision(self, kernel: str) -> Decision | None:
        return next((each for each in self.decisions if each.kernel == kernel), None)


# Beginnings of includes that are the toolkit's own. `kernel_` alone is not one: files of operators are called so too.
_TOOLKIT = (
    *("kernel_operator", "kernel_basic_intf.h", "kernel_tiling/", "lib/", "acl/", "tiling/", "register/", "adv_api/"),
    *("basic_api/", "simt_api/", "c_api/", "utils/", "super_kernel/", "graph/"),
)


def files_of(sources: Iterable[tuple[SourceUnit, Sequence[SourceUnit]]]) -> tuple[SubjectFile, ...]:
    """Return sources and their headers, each file once."""
    found: dict[str, SubjectFile] = {}
    pairs = list(sources)
    for unit, headers in pairs:
        found[unit.path] = SubjectFile(
            unit=unit,
            is_header=False,
            headers=tuple(header.path for header in headers),
            missing=_missing((unit, *headers)),
        )
    for _, headers in pairs:
        for header in headers:
            found.setdefault(header.path, SubjectFile(unit=header, is_header=True))
    return tuple(found.values())


def _missing(units: Sequence[SourceUnit]) -> tuple[str, ...]:
    """Return the quoted includes of files for which none of the files can be meant."""
    read = {unit.path.rpartition("/")[2] for unit in units}
    quoted = (each.name for unit in units for each in includes_of(unit.tokens) if not each.is_angled)
    return tuple(dict.fromkeys(name for name in quoted if name.rpartition("/")[2] not in read and not name.startswith(_TOOLKIT)))
