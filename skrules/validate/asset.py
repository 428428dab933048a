"""The C++ files of an operator asset: a file, or everything below a folder, each with the headers that are found there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from skrules.engine.files import bytes_of, names_below
from skrules.source.includes import Include, included_files
from skrules.source.kernels import read
from skrules.source.model import SourceUnit
from skrules.validate.subject import SubjectFile, files_of

SUFFIXES = (".asc", ".cpp", ".cc", ".cxx", ".h", ".hpp")
_HEADERS = (".h", ".hpp")


def read_asset_files(path: Path, leave_out: Path | None = None) -> tuple[SubjectFile, ...]:
    """Read the sources and headers of an asset; none when there is nothing to read. Paths are relative to the asset's folder.

    Hidden folders and `leave_out`, the folder of results, are not looked into. A file that is named is a source, whatever
    its suffix.
    """
    root = path.parent if path.is_file() else path
    names = [path.name] if path.is_file() else names_below(root, SUFFIXES, leave_out)
    reader = _Reader(root)
    sources = [name for name in names if path.is_file() or not name.endswith(_HEADERS)]
    files = {file.path: file for file in files_of(reader.source(name) for name in sources)}
    for name in names:
        if name not in files:
            files[name] = SubjectFile(unit=reader.header(name), is_header=True)
    return tuple(files[name] for name in sorted(files))


class _Reader:
    """Reads the files of one asset; headers that several sources include are read once."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._headers: dict[str, SourceUnit] = {}

    def source(self, name: str) -> tuple[SourceUnit, list[SourceUnit]]:
        path = self._root / name
        headers = [self.header(each, data) for each, data in sorted(self._included(path).items())]
        return read(bytes_of(path), name, headers=headers), headers

    def header(self, name: str, data: bytes | None = None) -> SourceUnit:
        if name not in self._headers:
            self._headers[name] = read(bytes_of(self._root / name) if data is None else data, name)
        return self._headers[name]

    def _included(self, path: Path) -> Mapping[str, bytes]:
        """Return the files of the asset that a source includes: beside the including file, or below the asset's folder."""
        root = self._root.resolve()

        def find(include: Include, beside: Path) -> Path | None:
            folders = (root,) if include.is_angled else (beside, root)
            places = (Path(os.path.normpath(folder / include.name)) for folder in folders)
            return next((place for place in places if place.is_relative_to(root) and place.is_file()), None)

        found = included_files(path.resolve(), find)
        return {Path(place).relative_to(root).as_posix(): data for place, data in found.items()}
