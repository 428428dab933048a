"""Folders that hold exactly what they should: what differs is written, what is no longer meant is removed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from skrules.engine.files import bytes_of, write_if_changed


def fill(folder: Path, files: Mapping[str, Path | bytes]) -> None:
    """Make `folder` hold `files`, by their paths in it, and nothing else; without files there is no folder. Raises OSError."""
    if folder.is_dir():
        for here, _, names in os.walk(folder):
            for name in names:
                path = Path(here) / name
                if path.relative_to(folder).as_posix() not in files:
                    path.unlink()
    for name, source in files.items():
        write_if_changed(folder / name, source if isinstance(source, bytes) else bytes_of(source))
    remove_empty(folder)


def remove_empty(folder: Path) -> None:
    """Remove the folders below that hold nothing, and `folder` itself when nothing is left."""
    for here, _, _ in os.walk(folder, topdown=False):
        place = Path(here)
        if not any(place.iterdir()):
            place.rmdir()


def tree_of(folder: Path) -> dict[str, Path]:
    """Return the files below a folder by their path in it; none when there is no such folder."""
    return {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}
