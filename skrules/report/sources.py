"""The lines that findings are about, read once for a report."""

from __future__ import annotations

import os
import unicodedata
from dataclasses import dataclass
from pathlib import Path

from skrules.errors import Location
from skrules.source.code import Lines, lines_of
from skrules.source.model import printable

_TAB = 8
_LARGEST = 64 << 20  # bytes; nobody writes such a source, but a name in a finding may be anything


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line without its end, as text, and the columns of a finding in it, in characters from 0. `end` is past the word at
    `start`; the two are equal where the finding is about the whole line."""

    text: str
    start: int
    end: int


class Sources:
    """Reads files by the names that findings give them, relative to `root`. What cannot be read has no lines."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._files: dict[str, tuple[str, Lines] | None] = {}

    def line(self, at: Location) -> Line | None:
        """Return the line of a place, or None when there is none: a whole file, a file that has gone or become shorter."""
        found = self._file(at.file) if at.line > 0 else None
        if found is None:
            return None
        text, lines = found
        if at.line > len(lines.starts):
            return None
        start = lines.starts[at.line - 1]
        end = lines.starts[at.line] if at.line < len(lines.starts) else len(text)
        line = text[start:end].rstrip("\r\n")
        # The mark of a file's encoding is no character of its first line.
        mark = 3 if at.line == 1 and line.startswith("\xef\xbb\xbf") else 0
        byte = min(max(at.column - 1, mark), len(line))
        before = printable(line[mark:byte])
        return Line(
            text=printable(line[mark:]),
            start=len(before),
            end=len(before) + (len(printable(line[byte : byte + _word_length(line, byte)])) if at.column else 0),
        )

    def column(self, at: Location) -> int:
        """Return the column of a place in characters, from 1; findings count bytes. 0: the whole line."""
        line = self.line(at) if at.column else None
        return line.start + 1 if line else at.column

    def _file(self, name: str) -> tuple[str, Lines] | None:
        if name not in self._files:
            self._files[name] = self._read(name)
        return self._files[name]

    def _read(self, name: str) -> tuple[str, Lines] | None:
        try:
            path = self.root / os.fspath(name)
            if not path.is_file() or path.stat().st_size > _LARGEST:
                return None
            text = path.read_bytes().decode("latin-1")
        except (OSError, ValueError):  # a name with a NUL, among others
            return None
        return text, lines_of(text, name)


def _word_length(line: str, at: int) -> int:
    """Return the bytes of the word that begins at an offset, 1 for another sign, 0 past the end."""
    end = at
    while end < len(line) and ((line[end].isascii() and line[end].isalnum()) or line[end] in "_$" or line[end] >= "\x80"):
        end += 1
    return max(end - at, 1 if at < len(line) else 0)


def columns(text: str) -> list[tuple[str, int]]:
    """Return what a terminal shows for each character, and how many columns it takes there.

    Tabs become blanks up to the next multiple of eight; what a terminal would obey instead of showing, such as escapes and
    marks that turn the direction of writing, becomes U+FFFD.
    """
    found: list[tuple[str, int]] = []
    at = 0
    for char in text:
        width = _width(char, at)
        found.append((" " * width if char == "\t" else char if char == " " or _is_shown(char) else "\ufffd", width))
        at += width
    return found


def shown(text: str) -> str:
    """Return one line as a terminal shows it."""
    return "".join(char for char, _ in columns(text))


def _is_shown(char: str) -> bool:
    return unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Zl", "Zp")


def _width(char: str, at: int) -> int:
    if char == "\t":
        return _TAB - at % _TAB
    if char.isascii():
        return 1
    if unicodedata.east_asian_width(char) in ("W", "F"):
        return 2
    return 0 if unicodedata.category(char) in ("Mn", "Me") else 1
