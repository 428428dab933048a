"""Findings as people read them: a line each that editors can follow, the source below it, and what settles it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TextIO

from skrules.findings import Finding, Severity
from skrules.report.sources import Line, Sources, columns, shown

_WIDEST = 100  # columns of source that are shown: of a longer line a part
_BEFORE = 60  # of these, how many may stand before the place
_COLOURS = {Severity.BLOCKER: "1;31", Severity.WARNING: "1;35", Severity.NOTE: "1;36"}
_CARET = "1;32"
_CUT = ("…", 1)

Paint = Callable[[str, str], str]


def render_text(findings: Sequence[Finding], sources: Sources, *, colour: bool) -> str:
    """Return the findings in their order, and how many there are of which severity; "" for none."""
    if not findings:
        return ""
    lines = [line for finding in findings for line in finding_lines(finding, sources, colour=colour)]
    return "".join(f"{line}\n" for line in [*lines, total(findings)])


def total(findings: Iterable[Finding]) -> str:
    """Return such as "1 blocker, 3 warnings"."""
    counts = Counter(finding.severity for finding in findings)
    return ", ".join(f"{counts[each]} {each}{'' if counts[each] == 1 else 's'}" for each in Severity if counts[each])


def has_colour(stream: TextIO, environ: Mapping[str, str] = os.environ) -> bool:
    """Tell whether colours are wanted: on a terminal that has them, unless `NO_COLOR` is set (https://no-color.org)."""
    return not environ.get("NO_COLOR") and environ.get("TERM") != "dumb" and stream.isatty()


def finding_lines(finding: Finding, sources: Sources, *, colour: bool = False) -> Iterator[str]:
    """Yield the lines of one finding: the one with its place, the source, the hint."""
    paint: Paint = _painted if colour else _plain
    first, *more = _shown_lines(finding.message) or [""]
    head = paint(_COLOURS[finding.severity], f"{finding.severity}:")
    place = shown(str(finding.at))
    yield f"{head} {paint('1', f'{place}:') + ' ' if place else ''}{first} [{finding.rule}]"
    yield from (f"  {line}" for line in more)
    line = sources.line(finding.at)
    if line is not None and line.text.strip():
        yield from _excerpt(line, finding.at.line, paint)
    yield from (f"  {line}" for line in _shown_lines(finding.hint))


def _excerpt(line: Line, number: int, paint: Paint) -> Iterator[str]:
    chars = columns(line.text)
    first, last = 0, len(chars)
    if _width(chars) > _WIDEST:
        first = line.start - (_fitting(chars[line.start - 1 :: -1], _BEFORE) if line.start else 0)
        last = first + _fitting(chars[first:], _WIDEST)
    left = [_CUT] if first else []
    right = [_CUT] if last < len(chars) else []
    yield f"{number:5d} | " + "".join(char for char, _ in [*left, *chars[first:last], *right]).rstrip()
    if line.end > line.start or line.start == len(chars):
        blanks = _width([*left, *chars[first : line.start]])
        marked = _width(chars[line.start : min(line.end, last)])
        yield f"{'':5} | {'':{blanks}}{paint(_CARET, '^' + '~' * (marked - 1))}"


def _width(chars: Iterable[tuple[str, int]]) -> int:
    return sum(width for _, width in chars)


def _fitting(chars: Sequence[tuple[str, int]], room: int) -> int:
    """Return how many of the first characters fit into so many columns."""
    for count, (_, width) in enumerate(chars):
        room -= width
        if room < 0:
            return count
    return len(chars)


def _shown_lines(text: str) -> list[str]:
    return [shown(line) for line in text.split("\n")] if text else []


def _painted(code: str, text: str) -> str:
    return f"\x1b[{code}m{text}\x1b[0m"


def _plain(code: str, text: str) -> str:  # noqa: ARG001
    return text
