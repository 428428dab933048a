"""What a run over the corpus says: for people, and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from tests.corpus.records import Outcome

_DONE = ("completed", "already-current")


def summarise(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return totals, and every file that is not read exactly, not completed, or wrong."""
    size = sum(outcome.size for outcome in outcomes)
    seconds = {part: sum(outcome.seconds.get(part, 0.0) for outcome in outcomes) for part in ("read", "adapt")}
    return {
        "files": len(outcomes),
        "bytes": size,
        "kernels_read_exactly": sum(outcome.kernels_read for outcome in outcomes),
        "completed": sum(outcome.status in _DONE for outcome in outcomes),
        "completed_when_accepted": sum(outcome.accepted_status in _DONE for outcome in outcomes),
        "compiled": sum(outcome.compiled for outcome in outcomes),
        "not_judged": sum(bool(outcome.unjudged) for outcome in outcomes),
        "crashes": sum(outcome.status == "crash" for outcome in outcomes),
        "wrong": sum(bool(outcome.problems) for outcome in outcomes),
        "problems": dict(Counter(kind for outcome in outcomes for kind, _ in dict.fromkeys(outcome.problems)).most_common()),
        "rules": dict(Counter(rule for outcome in outcomes for rule in outcome.rules).most_common()),
        "rules_when_accepted": dict(Counter(rule for outcome in outcomes for rule in outcome.accepted_rules).most_common()),
        "megabytes_per_second": {part: round(size / 1e6 / time, 3) for part, time in seconds.items() if time},
        "failing": [asdict(outcome) for outcome in outcomes if _is_failing(outcome)],
    }


def _is_failing(outcome: Outcome) -> bool:
    return bool(outcome.problems or outcome.unjudged) or not outcome.kernels_read or outcome.accepted_status not in _DONE


def lines(summary: dict[str, Any]) -> Iterable[str]:
    """Yield the summary for people."""
    files = summary["files"] or 1

    def share(key: str) -> str:
        return f"{summary[key]} of {summary['files']} ({100 * summary[key] / files:.2f} %)"

    yield f"kernels read exactly          {share('kernels_read_exactly')}"
    yield f"completed                     {share('completed')}"
    yield f"completed, accept recorded    {share('completed_when_accepted')}"
    compiled = f"compiled {summary['compiled']} (a person must judge {summary['not_judged']})"
    yield f"wrong outputs                 {summary['wrong']}, crashes {summary['crashes']}, {compiled}"
    for key, title in (
        ("problems", "problems"),
        ("rules", "needs human"),
        ("rules_when_accepted", "needs human, accept recorded"),
    ):
        yield f"{title}:"
        yield from (f"    {count:5} {name}" for name, count in summary[key].items())
    for outcome in summary["failing"]:
        yield outcome["name"]
        if outcome["difference"]:
            yield f"    not read as expected: {outcome['difference']}"
        yield from (f"    {kind}: {detail.splitlines()[-1]}" for kind, detail in outcome["problems"][:3])
        yield from (f"    to judge: {message}" for message in outcome["unjudged"][:3])
        if outcome["accepted_rules"]:
            yield f"    {', '.join(outcome['accepted_rules'])}"
    for part, speed in summary["megabytes_per_second"].items():
        yield f"{part}: {speed} MB/s of one core"
