"""A document as a tree whose every value and key knows its place, and the builder that readers of a syntax feed.

The builder works without recursion, so that depth is ours to limit and not the interpreter's.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NoReturn

from skrules.errors import Location, UsageError

Scalar = None | bool | int | float | str

_MAX_DEPTH = 32
_MAX_NUMBER = 64  # characters

_SURROGATE = re.compile("[\ud800-\udfff]")
_LINE_END = re.compile("\r\n|\r|\n")
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A value and its place. `value` is a scalar, a tuple of nodes, or a mapping in file order; `keys` are the places
    of a mapping's keys."""

    at: Location
    value: Scalar | tuple[Node, ...] | Mapping[str, Node]
    keys: Mapping[str, Location] = field(default_factory=dict)

    @property
    def type_name(self) -> str:
        """What a person calls this value: "a list", "the text '8'", ..."""
        value = self.value
        if isinstance(value, Mapping):
            return "a mapping"
        if isinstance(value, tuple):
            return "a list"
        if value is None:
            return "nothing"
        if isinstance(value, bool):
            return "true" if value else "false"
        return f"the text {shorten(value)!r}" if isinstance(value, str) else f"the number {shorten(str(value))}"


def shorten(text: str) -> str:
    """Return at most 40 characters of a text, for messages."""
    return text if len(text) <= 40 else text[:37] + "..."


class Text:
    """A decoded file that can say where an offset is."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text
        self._starts = [0, *(match.end() for match in _LINE_END.finditer(text))]

    def at(self, offset: int) -> Location:
        line = bisect.bisect_right(self._starts, offset)
        return Location(file=self.path, line=line, column=offset - self._starts[line - 1] + 1)

    def fail(self, message: str, offset: int, hint: str = "") -> NoReturn:
        raise UsageError(message, at=self.at(offset), hint=hint)


class _Frame:
    """A collection that is still open."""

    def __init__(self, offset: int, is_map: bool) -> None:
        self.offset = offset
        self.is_map = is_map
        self.items: list[Node] = []
        self.map: dict[str, Node] = {}
        self.keys: dict[str, Location] = {}
        self.key: str | None = None


class Builder:
    """Builds the tree from "open", "scalar", "close" without recursion, so that depth is ours to limit."""

    def __init__(self, text: Text) -> None:
        self._text = text
        self._open: list[_Frame] = []
        self.root: Node | None = None

    @property
    def wants_key(self) -> bool:
        return bool(self._open) and self._open[-1].is_map and self._open[-1].key is None

    def open(self, offset: int, *, is_map: bool) -> None:
        if self.wants_key:
            self._text.fail("a key must be text, not a collection", offset)
        if len(self._open) == _MAX_DEPTH:
            self._text.fail(f"nested deeper than {_MAX_DEPTH} levels", offset)
        self._open.append(_Frame(offset, is_map))

    def close(self) -> None:
        frame = self._open.pop()
        value = MappingProxyType(frame.map) if frame.is_map else tuple(frame.items)
        self._place(Node(at=self._text.at(frame.offset), value=value, keys=MappingProxyType(frame.keys)))

    def scalar(self, value: Scalar, offset: int) -> None:
        if isinstance(value, str) and _SURROGATE.search(value):
            self._text.fail("half of a surrogate pair is not text", offset)
        if self.wants_key:
            self._key(value, offset)
        else:
            self._place(Node(at=self._text.at(offset), value=value))

    def _key(self, value: Scalar, offset: int) -> None:
        frame = self._open[-1]
        if not isinstance(value, str):
            self._text.fail("a key must be text", offset, hint="put it in quotes")
        if value == "<<":
            self._text.fail("merge keys are not allowed", offset, hint="write the keys out")
        if value in frame.map:
            first = frame.keys[value]
            self._text.fail(f"key '{value}' appears twice, first in line {first.line}", offset)
        frame.key = value
        frame.keys[value] = self._text.at(offset)

    def _place(self, node: Node) -> None:
        if not self._open:
            self.root = node
            return
        frame = self._open[-1]
        if frame.is_map:
            assert frame.key is not None  # a key always precedes: `wants_key` is false here
            frame.map[frame.key] = node
            frame.key = None
        else:
            frame.items.append(node)


def read_number(text: Text, word: str, offset: int) -> int | float:
    """Return the number that `word` at `offset` writes in decimal."""
    if len(word) > _MAX_NUMBER:
        text.fail(f"a number of {len(word)} characters", offset)
    if _INTEGER.match(word):
        return int(word)
    value = float(word)
    if value in (float("inf"), float("-inf")):
        text.fail(f"{word} is too large for a number", offset)
    return value
