"""The files that a source includes and that belong to its own project."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from skrules.source.code import code_of
from skrules.source.conditions import conditions_of
from skrules.source.model import Token, TokenKind
from skrules.source.tokens import tokenize

_GAP = r"(?:\s|\\|/\*(?s:.*?)\*/)*+"
_INCLUDE = re.compile(rf'#{_GAP}include{_GAP}(?:"(?P<quoted>[^"\n]+)"|<(?P<angled>[^>\n]+)>)')
_MAY_INCLUDE = re.compile(r'include[ \t]*+["<\\/]')  # every include has this, and some comments have it too
_LINE_END = re.compile(r"[\r\n]|\Z")


@dataclass(frozen=True, slots=True)
class Include:
    """`#include "name"`, or `<name>` where `is_angled`."""

    name: str
    is_angled: bool


def includes_in(text: str) -> tuple[Include, ...]:
    """Return what a text includes, each once: not in comments, strings or branches that `#if 0` hides."""
    ends = [match.end() for match in _MAY_INCLUDE.finditer(text)]
    if not ends:
        return ()
    # Includes stand at the top: what comes after the line of the last one need not be looked at.
    is_plain = text[ends[-1] - 1] in '"<'
    line_end = _LINE_END.search(text, ends[-1]) if is_plain else None
    return includes_of(tokenize(text[: line_end.start()] if line_end else text))


def includes_of(tokens: Sequence[Token]) -> tuple[Include, ...]:
    """Return what a file with these tokens includes, like `includes_in`."""
    directives = code_of(token for token in tokens if token.kind is TokenKind.DIRECTIVE)
    conditions = conditions_of(directives)
    matches = (
        _INCLUDE.match(directives.texts[index])
        for index in range(len(directives))
        if "include" in directives.texts[index] and not conditions.is_dead(index)
    )
    # File names are bytes: the text holds them as latin-1.
    named = ((match["quoted"], match["angled"]) for match in matches if match)
    return tuple(
        dict.fromkeys(Include(os.fsdecode((quoted or angled).encode("latin-1")), quoted is None) for quoted, angled in named)
    )


def local_headers(path: str, folders: Sequence[Path] = (), *, angled: Sequence[Path] = ()) -> dict[str, bytes]:
    """Return the files that `path` includes, directly or not, in the order in which they are met.

    With quotes they are looked for beside the including file and in `folders`, in angle brackets in `angled` only. Files
    that are not found, or not readable, are left to the compiler, which knows more places.
    """

    def find(include: Include, beside: Path) -> Path | None:
        places = angled if include.is_angled else (beside, *folders)
        return next((place for folder in places if (place := folder / include.name).is_file()), None)

    return included_files(Path(path), find)


def included_files(path: Path, find: Callable[[Include, Path], Path | None]) -> dict[str, bytes]:
    """Return the files that `path` includes, directly or not: `find` tells for the folder of an including file where."""
    own = os.path.normpath(path)
    found: dict[str, bytes] = {}
    waiting = [(path, _bytes_of(path))]
    while waiting:
        current, data = waiting.pop()
        for include in includes_in(data.decode("latin-1")):
            place = find(include, current.parent)
            key = os.path.normpath(place) if place is not None else own
            if place is not None and key != own and key not in found:
                found[key] = _bytes_of(place)
                waiting.append((place, found[key]))
    return found


def _bytes_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
