"""The files that a source includes with quotes: those of its own project."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

_INCLUDE = re.compile(r'#\s*include\s*"([^"\n]+)"')


def local_headers(path: str, folders: Sequence[Path] = ()) -> dict[str, bytes]:
    """Return the files that `path` includes with quotes, directly or not: beside the including file or in `folders`.

    Files that are not found, or not readable, are left to the compiler, which knows more places.
    """
    found: dict[str, bytes] = {}
    waiting = [(Path(path), _bytes_of(Path(path)))]
    while waiting:
        current, data = waiting.pop()
        for name in _INCLUDE.findall(data.decode("latin-1")):
            for place in (current.parent / name, *(folder / name for folder in folders)):
                key = os.path.normpath(place)
                if key not in found and key != os.path.normpath(path) and place.is_file():
                    found[key] = _bytes_of(place)
                    waiting.append((place, found[key]))
                    break
    return found


def _bytes_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
