"""Files that are not there and that a compiler would read, or ask about, if they were.

A dependency file names what was read. It knows nothing of what `__has_include` asked for in vain, nor of a header of the
toolkit whose name a file of the workspace may take tomorrow, in a folder that is searched before the toolkit's own.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

# Also in comments and dead branches: too much is asked about once more, and nothing is missed.
_ASKED = re.compile(
    rb"(?:(?P<has>__has_include(?:_next)?)\s*\(|#\s*(?:include|include_next|import)\b)\s*"
    rb'(?:"(?P<quoted>[^"\n]+)"|<(?P<angled>[^>\n]+)>)'
)


def absences(
    files: Iterable[str], root: Path, quoted: Iterable[str], angled: Iterable[str], *, has_come: Callable[[str], bool]
) -> tuple[str, ...]:
    """Return the workspace files that decide by being there or not what `files`, relative to `root`, make a compiler read.

    `quoted` are the folders where `#include "x"` looks beside that of the including file, `angled` those of `<x>` too. Of
    what `__has_include` finds, the file that it finds is among them, and so is an included one that `has_come` since the
    compiler began: it may have looked before. Names that only a macro spells out are not known.
    """
    angled = tuple(angled)
    places = (*quoted, *angled)
    found: dict[str, None] = {}
    for file in files:
        for name, is_angled, is_question in _asked(f"{root}/{file}"):
            folders = angled if is_angled else (posixpath.dirname(file), *places)
            candidates = [
                path for path in (posixpath.normpath(posixpath.join(each, name)) for each in folders) if _is_inside(path)
            ]
            there = next((path for path in candidates if os.path.isfile(f"{root}/{path}")), "")  # noqa: PTH113
            if not there:
                found.update(dict.fromkeys(candidates))
            elif is_question or has_come(there):
                found.update(dict.fromkeys(candidates[: candidates.index(there) + 1]))
            # Else the dependency file names what is there, if it was read: see `depfile.shadows`.
    return tuple(found)


def nearest_folders(root: Path, places: Iterable[str]) -> tuple[str, ...]:
    """Return for each folder, relative to `root`, itself or the nearest one above it that exists: a new name appears there."""
    found: dict[str, None] = {}
    for place in places:
        there = place
        while there not in ("", ".") and not (root / there).is_dir():
            there = posixpath.dirname(there)
        found[there or "."] = None
    return tuple(found)


def _asked(path: str) -> Iterator[tuple[str, bool, bool]]:
    """Yield the name, whether it stands in angle brackets, and whether it is only asked about."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - for every header of every step that runs
            text = file.read()
    except (OSError, ValueError):
        return
    for match in _ASKED.finditer(text):
        name = match["angled"] or match["quoted"]
        if b"\0" not in name and not name.startswith(b"/"):
            yield os.fsdecode(name), match["angled"] is not None, match["has"] is not None


def _is_inside(path: str) -> bool:
    return not path.startswith(("../", "/")) and path not in ("..", ".")
