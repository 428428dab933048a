"""The actions that a run carried out, read from its output, and those that it should have."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable

from tests.bench.workspace import ARCHS

_ACTION = re.compile(r"\[(\w+) +(\S*) *\] (\S+)")


def executed(output: str) -> Counter[str]:
    """Return how often each "MNEMONIC arch //label" (or "MNEMONIC //label") was carried out."""
    found = (_ACTION.match(line) for line in output.splitlines())
    return Counter(" ".join(word for word in match.groups() if word) for match in found if match)


def expected(adapted: Iterable[str] = (), compiled: Iterable[str] = ()) -> Counter[str]:
    """Return what must be carried out for operators that are adapted, and for those that are compiled for every arch."""
    return Counter(
        [f"ADAPT //ops/{name}" for name in adapted] + [f"ASC {arch} //ops/{name}" for name in compiled for arch in ARCHS]
    )


def codegen_seconds(events: str) -> float:
    """Return the CPU seconds of all codegen steps in an event log of skrules."""
    steps = (json.loads(line) for line in events.splitlines())
    return sum(step["cpu"] for step in steps if step.get("mnemonic") == "ADAPT" and step.get("result") == "run")


def difference(found: Counter[str], wanted: Counter[str]) -> str:
    """Return in a few words how what was done differs from what should have been, "" when it does not."""
    parts = []
    for what, rest in (("not done", wanted - found), ("done without need", found - wanted)):
        if rest:
            names = sorted(rest.elements())
            parts.append(f"{len(names)} {what}: {', '.join(names[:3])}{', ...' if len(names) > 3 else ''}")
    return "; ".join(parts)


def compiles(output: str) -> int:
    """Return how many compile commands a peer printed."""
    return output.count(" --npu-arch=")
