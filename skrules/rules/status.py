"""How each label ended: one line a label and arch, then totals. Skipped and missing results are never counted as passed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from skrules.rules.graph import Graph


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """`state` is PASSED, FAILED, SKIPPED or NO STATUS (nothing ran, because something before it failed)."""

    label: str
    arch: str
    state: str
    detail: str = ""
    cached: bool = False

    def __str__(self) -> str:
        state = f"(cached) {self.state}" if self.cached else self.state
        return f"{self.label:<32} {self.arch:<9} {state}{'  ' + self.detail if self.detail else ''}"


def collect(root: Path, graph: Graph, executed: Iterable[str]) -> tuple[Status, ...]:
    """Read the verdicts of all compared operators. `executed` are outputs that this run made."""
    fresh = set(executed)
    statuses = []
    for operator in graph.operators:
        for compare in operator.compare:
            passed, failed = root / compare.verdict, root / compare.failed_verdict
            if passed.is_file():
                data = _read(passed)
                statuses.append(_status(str(operator.label), compare.arch, data, cached=compare.verdict not in fresh))
            elif failed.is_file():
                statuses.append(_status(str(operator.label), compare.arch, _read(failed), cached=False))
            else:
                statuses.append(Status(label=str(operator.label), arch=compare.arch, state="NO STATUS"))
    return tuple(statuses)


def totals(statuses: Iterable[Status]) -> str:
    """Return e.g. "10 results: 8 passed (6 cached), 1 failed, 1 no status"."""
    statuses = tuple(statuses)
    count = Counter(status.state for status in statuses)
    cached = sum(status.cached for status in statuses)
    parts = [f"{count['PASSED']} passed" + (f" ({cached} cached)" if cached else "")]
    parts += [f"{count[state]} {state.lower()}" for state in ("FAILED", "SKIPPED", "NO STATUS") if count[state]]
    return f"{len(statuses)} result{'s' if len(statuses) != 1 else ''}: {', '.join(parts)}"


def _read(path: Path) -> dict[str, object]:
    data = json.loads(path.read_text(encoding="utf-8"))
    return data if isinstance(data, dict) else {}


def _status(label: str, arch: str, data: dict[str, object], *, cached: bool) -> Status:
    status = str(data.get("status", ""))
    state = {"passed": "PASSED", "failed": "FAILED"}.get(status, "SKIPPED")
    return Status(label=label, arch=arch, state=state, detail=str(data.get("summary", "")), cached=cached and state == "PASSED")
