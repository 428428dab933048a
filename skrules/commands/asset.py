"""An operator asset: a kernel file, or a folder with kernel files, read and classified."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from skrules.commands.files import bytes_of
from skrules.errors import UsageError
from skrules.source import read
from skrules.source.form import Form, classify
from skrules.source.model import SourceUnit, TokenKind

SUFFIXES = (".asc", ".cpp")
_TEST_FOLDERS = ("test", "tests")
_SIGNALS = ("__global__", "__sk__", "SK_BIND", ".ascend.meta")


@dataclass(frozen=True, slots=True, kw_only=True)
class AssetSource:
    """One source. `file` is relative to the asset, with `/`; a file asset has its bare name."""

    file: str
    path: Path
    unit: SourceUnit
    form: Form

    @property
    def has_global(self) -> bool:
        return _says(self.unit, "__global__")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ignored:
    """A file of the asset that is no source, and why: `test_support_file`, `no_kernel_signal` or `no_kernel_definition`."""

    file: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Asset:
    """`path` is what was asked for, `root` the folder that its files are relative to."""

    path: Path
    root: Path
    sources: tuple[AssetSource, ...]
    ignored: tuple[Ignored, ...]


def read_asset(path: Path, leave_out: Path | None = None) -> Asset:
    """Read a file, whatever its name, or every .asc and .cpp with a kernel below a folder.

    Hidden folders and `leave_out`, the folder of results, are not looked into. A file with a `__global__` that cannot be
    read is a source like others: its form and findings say so. Raises UsageError when nothing is there to work on.
    """
    if path.is_file():
        return Asset(path=path, root=path.parent, sources=(_source(path.name, path),), ignored=())
    if not path.is_dir():
        raise UsageError(f"there is no operator asset '{path}'", hint="a kernel file, or a folder with .asc or .cpp files")
    sources = []
    ignored = []
    for file in _files(path, leave_out):
        if any(part in _TEST_FOLDERS for part in file.split("/")):
            ignored.append(Ignored(file=file, reason="test_support_file"))
            continue
        source = _source(file, path / file) if _may_have_kernels(path / file) else None
        if source is None or not (source.has_global or source.form.markers):
            ignored.append(Ignored(file=file, reason="no_kernel_signal"))
        elif not (source.unit.kernels or source.unit.findings or source.form.markers):
            ignored.append(Ignored(file=file, reason="no_kernel_definition"))
        else:
            sources.append(source)
    if not sources:
        notes = [f"{each.file}: {each.reason}" for each in ignored[:20]]
        raise UsageError(f"no kernel .asc or .cpp source files found under {path}", notes=notes)
    return Asset(path=path, root=path, sources=tuple(sources), ignored=tuple(ignored))


def _files(root: Path, leave_out: Path | None) -> list[str]:
    results = leave_out.resolve() if leave_out else None
    found = []
    for here, below, names in os.walk(root):
        below[:] = [name for name in below if not name.startswith(".") and (Path(here) / name).resolve() != results]
        found += [(Path(here) / name).relative_to(root).as_posix() for name in names if name.endswith(SUFFIXES)]
    return sorted(found)


def _may_have_kernels(path: Path) -> bool:
    data = bytes_of(path)
    return any(signal.encode() in data for signal in _SIGNALS)


def _source(file: str, path: Path) -> AssetSource:
    unit = read(bytes_of(path), path.as_posix())
    return AssetSource(file=file, path=path, unit=unit, form=classify(unit))


def _says(unit: SourceUnit, word: str) -> bool:
    """Tell whether code or a macro has the word; comments and strings do not count."""
    return any(word in token.text for token in unit.tokens if token.kind in (TokenKind.IDENTIFIER, TokenKind.DIRECTIVE))
