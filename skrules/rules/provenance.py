"""Digests of the code and templates that produce generated files: editing a generator must rerun it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path


def digest_files(files: Iterable[Path], *, below: Path) -> str:
    """Return a digest of the names (relative to `below`) and contents of `files`, whatever their order."""
    total = hashlib.sha256()
    for path in sorted(files):
        total.update(path.relative_to(below).as_posix().encode())
        total.update(b"\0")
        total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


def digest_tree(folder: Path, *, suffixes: tuple[str, ...]) -> str:
    """Return a digest of all files below `folder` that end in one of `suffixes`."""
    return digest_files((path for path in folder.rglob("*") if path.suffix in suffixes and path.is_file()), below=folder)


def digest_code(package: Path, rooms: Iterable[str]) -> str:
    """Return a digest of the Python code of `rooms`: names of modules or packages inside `package`."""
    files: list[Path] = []
    for room in rooms:
        folder = package / room
        files += folder.rglob("*.py") if folder.is_dir() else [package / f"{room}.py"]
    return digest_files(files, below=package)
