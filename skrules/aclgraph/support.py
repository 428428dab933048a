"""Headers of an operator in the tree: a mirror of where they lie, so that every include finds what it found before."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from skrules.aclgraph.host import HEADER
from skrules.errors import Location
from skrules.findings import Finding, Severity
from skrules.source.evaluation import Macros
from skrules.source.includes import Include, included_files
from skrules.source.kernels import read
from skrules.source.model import SourceUnit, TokenKind

_INCLUDE = re.compile(r'#\s*include\s*"([^"\n]+)"')
_DIRS = "_dirs"
_KEEP = ".folder"


@dataclass(frozen=True, slots=True, kw_only=True)
class SupportDir:
    """A folder outside of the asset whose files are included as `<name>/...`."""

    name: str
    path: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """`files` by path in the tree; `quote_dirs` are what `-iquote` must name; `headers` the same files, read as sources."""

    files: Mapping[str, bytes]
    quote_dirs: tuple[str, ...]
    headers: tuple[SourceUnit, ...]
    findings: tuple[Finding, ...]


def collect_support(
    sources: Sequence[tuple[SourceUnit, Path]],
    root: Path,
    dirs: Sequence[SupportDir],
    operator: str,
    macros: Macros = MappingProxyType({}),
) -> Support:
    """Find what `sources`, files of the asset at `root` that are compiled as one, include with quotes, directly or not.

    A compiler looks beside the including file first, and then in the folders that are given with `-iquote`: here beside the
    source, in the asset, in the support folders and beside the asset. What is nowhere there is left to the toolkit. A file
    outside of these places is a blocker: the tree would not be complete without it, and nobody said it may be taken.
    `macros` are those that the contract states.
    """
    places = _Places([path.parent.resolve() for _, path in sources], root.resolve(), dirs, f"csrc/_support/{operator}")
    files: dict[str, bytes] = {}
    headers: dict[str, SourceUnit] = {}
    findings: list[Finding] = []
    waiting = [(unit, path.parent.resolve()) for unit, path in sources]
    while waiting:
        current, folder = waiting.pop()
        for name, at in _includes(current):
            if name == HEADER:
                findings.append(_blocker(at, f"'{name}' is the name of a file of the package", "give your header another name"))
            found = places.find(name, folder)
            if found is None:
                continue
            target = places.mirror(found)
            if target is None:
                hint = f"pass its folder as --support-dir {name.partition('/')[0]}=..., or move it beside the operator"
                findings.append(_blocker(at, f"'{name}' lies outside of the operator and of what it may share", hint))
            elif target not in files:
                files[target] = found.read_bytes()
                header = read(files[target], os.path.relpath(found), macros=macros)
                headers[target] = header
                waiting.append((header, found.parent))
    dirs_used = places.quote_dirs(files) if files else ()
    for folder_name in dirs_used:
        # `folder/../x.h` is found only where the folder is there.
        if not any(name.startswith(f"{folder_name}/") for name in files):
            files[f"{folder_name}/{_KEEP}"] = b"Headers are reached from this folder.\n"
    ordered = tuple(header for _, header in sorted(headers.items()))
    return Support(files=files, quote_dirs=dirs_used, headers=ordered, findings=tuple(findings))


def support_headers(path: Path, root: Path, dirs: Sequence[SupportDir]) -> dict[str, bytes]:
    """Return the headers that one source, at `path` in the asset at `root`, brings into the tree: see `collect_support`."""
    places = _Places([path.parent.resolve()], root.resolve(), dirs, "")

    def find(include: Include, beside: Path) -> Path | None:
        return None if include.is_angled else places.find(include.name, beside)

    found = included_files(path.parent.resolve() / path.name, find)
    return {os.path.relpath(name): data for name, data in found.items() if places.mirror(Path(name)) is not None}


class _Places:
    """Where includes are looked for, and where what was found goes."""

    def __init__(self, sources: Sequence[Path], root: Path, dirs: Sequence[SupportDir], base: str) -> None:
        self.sources = tuple(dict.fromkeys(sources))
        self.root = root
        self.dirs = {each.name: each.path.resolve() for each in dirs}
        self.base = base

    def find(self, name: str, folder: Path) -> Path | None:
        first, _, rest = name.partition("/")
        support = [self.dirs[first] / rest] if first in self.dirs and rest else []
        beside = [source / name for source in self.sources]
        candidates = (folder / name, *beside, self.root / name, *support, self.root.parent / name)
        return next((Path(os.path.normpath(each)) for each in candidates if each.is_file()), None)

    def mirror(self, path: Path) -> str | None:
        for name, folder in self.dirs.items():
            if path.is_relative_to(folder):
                return f"{self.base}/{_DIRS}/{name}/{path.relative_to(folder).as_posix()}"
        return self._below(path) if path.is_relative_to(self.root.parent) else None

    def quote_dirs(self, files: Mapping[str, bytes]) -> tuple[str, ...]:
        support = f"{self.base}/{_DIRS}"
        used = [support] if any(name.startswith(f"{support}/") for name in files) else []
        return tuple(dict.fromkeys([*map(self._below, self.sources), self._below(self.root), *used, self.base]))

    def _below(self, path: Path) -> str:
        inside = path.relative_to(self.root.parent).as_posix()
        return self.base if inside == "." else f"{self.base}/{inside}"


def _includes(unit: SourceUnit) -> Iterator[tuple[str, Location]]:
    lines = unit.lines
    for token in unit.tokens:
        if token.kind is TokenKind.DIRECTIVE and (match := _INCLUDE.match(token.text)):
            yield match[1].encode("latin-1").decode("utf-8", "surrogateescape"), lines.at(token.start)


def _blocker(at: Location, message: str, hint: str) -> Finding:
    return Finding(rule="codegen.support-header-unresolved", severity=Severity.BLOCKER, at=at, message=message, hint=hint)
