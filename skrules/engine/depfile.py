"""Header dependencies as the compiler wrote them, reduced to files of the workspace."""

from __future__ import annotations

import itertools
import os
import posixpath
import re
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from skrules.engine.absences import nearest_folders

# Blanks of Makefiles only: those of other alphabets are parts of names.
_WORD = re.compile(r"(?:\\.|\$\$|[^ \t\r\n\\$]|\$(?!\$))+", re.DOTALL)
_ESCAPED = re.compile(r"(\\+)([ \t#:])")
# Options that name a folder where headers are looked for, in the next word or their own: for `#include "x"` only, and for both.
_QUOTED = ("-iquote",)
_ANGLED = ("-I", "-isystem", "-idirafter", "--include-directory")


def read_depfile(text: str) -> tuple[str, ...]:
    """Return the prerequisites of a Makefile-style dependency file, in its order, each once.

    Understands line continuations, `\\ ` and `\\#` escapes, `$$`, and the empty rules that `-MP` adds. Elsewhere a backslash
    is a part of a name, as make and compilers have it.
    """
    found: dict[str, None] = {}
    for line in re.sub(r"\\\r?\n", " ", text).split("\n"):
        # The colon that ends the targets is followed by a blank or the line's end; one inside a path is not.
        rule = re.match(r"(?:\\.|[^\\])*?:(?=[ \t\r]|$)", line)
        if rule:
            for word in _WORD.findall(line[rule.end() :]):
                found.setdefault(_ESCAPED.sub(_unescaped, word.replace("$$", "$")))
    return tuple(found)


def write_depfile(target: str, prerequisites: Iterable[str]) -> str:
    """Return the text of a dependency file, as `read_depfile` reads it."""
    names = [escaped(name) for name in (target, *prerequisites)]
    return f"{names[0]}: {' '.join(names[1:])}\n"


def escaped(name: str) -> str:
    """Return the name of a file as a dependency file has it."""
    return re.sub(r"(\\*)([ \t#])", lambda match: f"{match[1] * 2}\\{match[2]}", name).replace("$", "$$")


def _unescaped(match: re.Match[str]) -> str:
    return match[1][: len(match[1]) // 2] + match[2]


def workspace_headers(depfile: Path, root: Path, exclude: frozenset[str]) -> tuple[str, ...]:
    """Return the existing workspace files named in `depfile`, relative to `root`, without those in `exclude`.

    A link counts under its own name, so that another target is another content, wherever that lies. A missing or
    unreadable file gives none: then nothing was compiled yet, and compiling comes first.
    """
    try:
        text = depfile.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ()
    found = (_inside(root, name) for name in read_depfile(text))
    return tuple(dict.fromkeys(name for name in found if name and name not in exclude))


def vanished_headers(depfile: Path, root: Path) -> tuple[str, ...]:
    """Return the files of the workspace that `depfile` names and that are there no more: gone while the step ran."""
    try:
        names = read_depfile(depfile.read_text(encoding="utf-8", errors="surrogateescape"))
    except OSError:
        return ()
    # Not what stands for text without a file, such as `<built-in>`.
    own = [name.removeprefix(f"{root}/") for name in names if not name.startswith("<")]
    return tuple(name for name in own if "\0" not in name and not name.startswith("/") and not os.path.lexists(root / name))


def shadows(headers: Iterable[str], root: Path, folders: Iterable[str]) -> tuple[str, ...]:
    """Return the workspace files that an include of one of `headers` may mean instead: same name, other search folder.

    A compiler says what it found, never what it would rather have found. A dependency file therefore knows nothing of a
    header that is added later to a folder that is searched earlier. `folders` are those that includes start from.
    """
    known = tuple(dict.fromkeys(headers))
    places = dict.fromkeys((*folders, *(name.rpartition("/")[0] for name in known)))
    found: dict[str, None] = {}
    for name in known:
        parts = name.split("/")
        for folder in places:
            for start in range(len(parts)):
                other = _inside(root, "/".join((folder or ".", *parts[start:])))
                if other:
                    found.setdefault(other)
    return tuple(name for name in found if name not in known)


def include_places(headers: Iterable[str], root: Path, folders: Iterable[str]) -> tuple[str, ...]:
    """Return the folders in which something new may come to stand for one of `headers`: see `shadows`.

    A place that does not exist yet is stood for by the nearest folder above it that does.
    """
    names = tuple(headers)
    places = dict.fromkeys((*folders, *(name.rpartition("/")[0] for name in names)))
    wanted: dict[str, None] = {}
    for name in names:
        parts = name.split("/")[:-1]
        for folder in places:
            for start in range(len(parts) + 1):
                wanted[posixpath.normpath("/".join((folder or ".", *parts[start:])))] = None
    return nearest_folders(root, wanted)


class Searched(NamedTuple):
    """Folders in the order in which they are searched: those of `#include "x"` only, and those of `#include <x>` too."""

    quoted: tuple[str, ...]
    angled: tuple[str, ...]


def searched(commands: Iterable[tuple[str, ...]], root: Path) -> Searched:
    """Return where compiler commands look for headers, as far as that lies in the workspace; response files are read."""
    words: list[str] = []
    for command in commands:
        for word in command:
            words += _response(root / word[1:]) if word.startswith("@") else [word]
    return Searched(*(_relative(folders_named(words, angled=angled), root) for angled in (False, True)))


def search_folders(commands: Iterable[tuple[str, ...]], root: Path) -> tuple[str, ...]:
    """Return all folders of `searched`."""
    quoted, angled = searched(commands, root)
    return tuple(dict.fromkeys((*quoted, *angled)))


def folders_named(words: Sequence[str], *, angled: bool) -> tuple[str, ...]:
    """Return the folders of a command line's `-I` and its like, or of `-iquote`, in the order in which they are searched."""
    folders: dict[str, None] = {}
    for option in _ANGLED if angled else _QUOTED:
        for word, following in itertools.pairwise((*words, "")):
            if word.startswith(option):
                folders[following if word == option else word[len(option) :].removeprefix("=")] = None
    return tuple(folder for folder in folders if folder)


def _relative(folders: Iterable[str], root: Path) -> tuple[str, ...]:
    named = ("." if folder == str(root) else folder.removeprefix(f"{root}/") for folder in folders)
    return tuple(dict.fromkeys(folder for folder in named if not folder.startswith("/")))


def _response(path: Path) -> list[str]:
    try:
        return shlex.split(path.read_text(encoding="utf-8", errors="surrogateescape"))
    except (OSError, ValueError):
        return []


def _inside(root: Path, name: str) -> str:
    """Return an existing file's name relative to `root`, or "" for a file that is missing or elsewhere."""
    path = root / name
    if not os.path.isfile(path):  # noqa: PTH113 - which has no error for a folder that may not be searched
        return ""
    plain = Path(os.path.normpath(path))
    if ".." in path.parts and not (plain.is_file() and plain.samefile(path)):
        plain = path.resolve()  # `..` behind a linked folder
    base = root if plain.is_relative_to(root) else root.resolve()
    return plain.relative_to(base).as_posix() if plain.is_relative_to(base) else ""
