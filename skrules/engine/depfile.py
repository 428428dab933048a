"""Header dependencies as the compiler wrote them, reduced to files of the workspace."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

_WORD = re.compile(r"(?:\\.|\$\$|[^\s\\$]|\$(?!\$))+", re.DOTALL)


def read_depfile(text: str) -> tuple[str, ...]:
    """Return the prerequisites of a Makefile-style dependency file, in its order, each once.

    Understands line continuations, `\\ ` and `\\#` escapes, `$$`, and the empty rules that `-MP` adds.
    """
    found: dict[str, None] = {}
    for line in re.sub(r"\\\r?\n", " ", text).splitlines():
        # The colon that ends the targets is followed by a blank or the line's end; one inside a path is not.
        rule = re.match(r"(?:\\.|[^\\])*?:(?=\s|$)", line)
        if rule:
            for word in _WORD.findall(line[rule.end() :]):
                found.setdefault(re.sub(r"\\(.)", r"\1", word.replace("$$", "$")))
    return tuple(found)


def write_depfile(target: str, prerequisites: Iterable[str]) -> str:
    """Return the text of a dependency file, as `read_depfile` reads it."""
    names = [re.sub(r"([ #\\])", r"\\\1", name).replace("$", "$$") for name in (target, *prerequisites)]
    return f"{names[0]}: {' '.join(names[1:])}\n"


def workspace_headers(depfile: Path, root: Path, exclude: frozenset[str]) -> tuple[str, ...]:
    """Return the existing workspace files named in `depfile`, relative to `root`, without those in `exclude`.

    A missing or unreadable file gives none: then nothing was compiled yet, and compiling comes first.
    """
    try:
        text = depfile.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ()
    headers = []
    for name in read_depfile(text):
        path = Path(name) if Path(name).is_absolute() else root / name
        try:
            inside = path.resolve().relative_to(root.resolve()).as_posix()
        except ValueError:
            continue
        if inside not in exclude and path.is_file():
            headers.append(inside)
    return tuple(dict.fromkeys(headers))
