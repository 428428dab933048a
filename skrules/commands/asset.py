"""An operator asset: a kernel file, or a folder with kernel files, read and classified."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from skrules.aclgraph.support import SupportDir, support_headers
from skrules.engine.files import bytes_of, names_below
from skrules.errors import UsageError
from skrules.source.evaluation import Macros
from skrules.source.form import UNREAD, Form, classify
from skrules.source.kernels import read
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
        """Whether the file has kernels: it says `__global__`, or a macro of a header says it for the file."""
        is_made = bool(self.unit.kernels) or any(finding.rule in UNREAD for finding in self.unit.findings)
        return is_made or _says(self.unit, "__global__")


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


def asset_root(path: Path) -> Path:
    """Return the folder that the files of an asset are relative to."""
    return path.parent if path.is_file() else path


def read_asset(
    path: Path,
    leave_out: Path | None = None,
    macros: Macros = MappingProxyType({}),
    dirs: Sequence[SupportDir] = (),
) -> Asset:
    """Read a file, whatever its name, or every .asc and .cpp with a kernel below a folder.

    Hidden folders and `leave_out`, the folder of results, are not looked into. A file with a `__global__` that cannot be
    read is a source like others: its form and findings say so. Raises UsageError when nothing is there to work on.
    `macros` are those that the contract states; headers are found in the asset and in `dirs`.
    """
    reader = _Reader(asset_root(path), dirs, macros)
    if path.is_file():
        return Asset(path=path, root=path.parent, sources=(reader.read(path.name),), ignored=())
    if not path.is_dir():
        raise UsageError(f"there is no operator asset '{path}'", hint="a kernel file, or a folder with .asc or .cpp files")
    sources = []
    ignored = []
    for file in names_below(path, SUFFIXES, leave_out):
        if any(part in _TEST_FOLDERS for part in file.split("/")):
            ignored.append(Ignored(file=file, reason="test_support_file"))
            continue
        source = reader.read(file) if reader.may_have_kernels(file) else None
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


class _Reader:
    """Reads the sources of one asset; headers that they share are read once."""

    def __init__(self, root: Path, dirs: Sequence[SupportDir], macros: Macros) -> None:
        self._root = root
        self._dirs = dirs
        self._macros = macros
        self._headers: dict[str, SourceUnit] = {}

    def may_have_kernels(self, file: str) -> bool:
        path = self._root / file
        texts = (bytes_of(path), *support_headers(path, self._root, self._dirs).values())
        return any(signal.encode() in data for signal in _SIGNALS for data in texts)

    def read(self, file: str) -> AssetSource:
        path = self._root / file
        headers = [self._header(*each) for each in sorted(support_headers(path, self._root, self._dirs).items())]
        unit = read(bytes_of(path), path.as_posix(), headers=headers, macros=self._macros)
        return AssetSource(file=file, path=path, unit=unit, form=classify(unit))

    def _header(self, name: str, data: bytes) -> SourceUnit:
        if name not in self._headers:
            self._headers[name] = read(data, name, macros=self._macros)
        return self._headers[name]


def _says(unit: SourceUnit, word: str) -> bool:
    """Tell whether code or a macro has the word; comments and strings do not count."""
    return any(word in token.text for token in unit.tokens if token.kind in (TokenKind.IDENTIFIER, TokenKind.DIRECTIVE))
