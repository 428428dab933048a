"""The properties by name."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.fuzz import contracts, envelopes, findings, remediation

PROPERTIES: dict[str, Any] = {
    "contracts": contracts,
    "findings": findings,
    "envelopes": envelopes,
    "remediation": remediation,
}
# No file takes longer than this, in milliseconds, on a machine that does other things too.
_DEADLINE = 20_000


def run(name: str, examples: int, number: int, counts: Counter[str]) -> None:
    """Check a property on so many inputs; `counts` is told what became of them. Raises what the first wrong one raises."""
    of = PROPERTIES[name]

    @seed(number)
    @settings(
        max_examples=examples,
        deadline=_DEADLINE,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.shrink),
    )
    @given(of.INPUTS)
    def check(value: Any) -> None:
        counts[of.check(value)] += 1

    check()
