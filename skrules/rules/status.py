"""How each label ended: one line a label and arch, then totals. Skipped and missing results are never counted as passed."""

from __future__ import annotations

import enum
import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # a run in which nothing is to do reads statuses, and has no graph
    from skrules.rules.graph import Graph


#: The name of the file with what is to be said of an operator; here, because a run in which nothing is to do reads it.
FINDINGS = "findings.json"


class Outcome(enum.Enum):
    """What a run did about an output: made it, found it current, failed to make it, or did not come to it."""

    MADE = enum.auto()
    CURRENT = enum.auto()
    FAILED = enum.auto()
    NOTHING = enum.auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """`state` is PASSED, FAILED, SKIPPED or NO STATUS (nothing ran, because something before it failed).

    `unreferenced`: only SuperKernel against plain was compared.
    """

    label: str
    arch: str
    state: str
    detail: str = ""
    cached: bool = False
    unreferenced: bool = False

    def __str__(self) -> str:
        state = f"(cached) {self.state}" if self.cached else self.state
        return f"{self.label:<32} {self.arch:<9} {state}{'  ' + self.detail if self.detail else ''}"


def collect(root: Path, graph: Graph, outcome: Callable[[str], Outcome]) -> tuple[Status, ...]:
    """Read the verdicts of all compared operators. `outcome` says what this run did about an output.

    A verdict on disk counts only when this run made it or found it to be current: what it depends on may have changed,
    and may not even compile.
    """
    statuses = []
    for operator in graph.operators:
        for compare in operator.compare:
            label, did = str(operator.label), outcome(compare.verdict)
            path = root / (compare.failed_verdict if did is Outcome.FAILED else compare.verdict)
            if did is Outcome.NOTHING or not path.is_file():
                statuses.append(Status(label=label, arch=compare.arch, state="NO STATUS"))
            else:
                statuses.append(_status(label, compare.arch, _read(path), cached=did is Outcome.CURRENT))
    return tuple(statuses)


def to_notes(statuses: Iterable[Status]) -> dict[str, list[list[Any]]]:
    """Return statuses as plain data by label, for a manifest."""
    notes: dict[str, list[list[Any]]] = {}
    for status in statuses:
        notes.setdefault(status.label, []).append([status.arch, status.state, status.detail, status.unreferenced])
    return notes


def from_notes(label: str, notes: Iterable[list[Any]]) -> list[Status]:
    """Return the statuses of a label that a manifest vouches for: they are from an earlier run."""
    return [
        Status(label=label, arch=arch, state=state, detail=detail, cached=state == "PASSED", unreferenced=unreferenced)
        for arch, state, detail, unreferenced in notes
    ]


def totals(statuses: Iterable[Status]) -> str:
    """Return e.g. "10 results: 8 passed (6 cached, 1 without reference), 1 failed, 1 no status"."""
    statuses = tuple(statuses)
    count = Counter(status.state for status in statuses)
    passed = [status for status in statuses if status.state == "PASSED"]
    asides = {
        "cached": sum(status.cached for status in passed),
        "without reference": sum(status.unreferenced for status in passed),
    }
    said = ", ".join(f"{number} {what}" for what, number in asides.items() if number)
    parts = [f"{len(passed)} passed" + (f" ({said})" if said else "")]
    parts += [f"{count[state]} {state.lower()}" for state in ("FAILED", "SKIPPED", "NO STATUS") if count[state]]
    return f"{len(statuses)} result{'s' if len(statuses) != 1 else ''}: {', '.join(parts)}"


def _read(path: Path) -> dict[str, object]:
    data = json.loads(path.read_text(encoding="utf-8"))
    return data if isinstance(data, dict) else {}


def _status(label: str, arch: str, data: dict[str, object], *, cached: bool) -> Status:
    status = str(data.get("status", ""))
    state = {"passed": "PASSED", "failed": "FAILED"}.get(status, "SKIPPED")
    return Status(
        label=label,
        arch=arch,
        state=state,
        detail=str(data.get("summary", "")),
        cached=cached and state == "PASSED",
        unreferenced=data.get("reference") == "none",
    )
