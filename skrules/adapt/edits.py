"""Edits of a text by byte offsets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Edit:
    """Replace `[start, end)` by `text`; `start == end` inserts.

    `order` sorts insertions at one offset: what closes a statement comes before what opens the next one.
    """

    start: int
    end: int
    order: int = 0
    text: str


def apply(text: str, edits: Iterable[Edit], start: int = 0, end: int | None = None) -> str:
    """Return `text[start:end]` with the edits, which must lie inside of it and not overlap."""
    pieces, at = [], start
    for edit in sorted(edits):
        if edit.start < at:
            raise AssertionError(f"edits overlap at offset {edit.start}")
        pieces += [text[at : edit.start], edit.text]
        at = edit.end
    pieces.append(text[at : len(text) if end is None else end])
    return "".join(pieces)


def line_start(text: str, offset: int) -> int:
    """Return the offset at which the line of `offset` begins."""
    return max(text.rfind("\n", 0, offset), text.rfind("\r", 0, offset)) + 1


def indentation(text: str, offset: int) -> str:
    """Return the blanks at the beginning of the line of `offset`."""
    start = line_start(text, offset)
    end = start
    while end < len(text) and text[end] in " \t":
        end += 1
    return text[start:end]
