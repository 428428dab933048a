"""What people are told of an outcome."""

from __future__ import annotations

from skrules.remediate.remediation import Outcome, Status
from skrules.report.sources import shown


def summary(outcome: Outcome, *, dry_run: bool) -> str:
    """Return a line for each fix that was made, or would be, or failed, and how many findings are left to people."""
    words = {Status.APPLIED: "would fix" if dry_run else "fixed", Status.FAILED: "failed"}
    lines = [
        shown(f"{words[result.status]}: {result.file}: {result.reason} [{result.finding_id}]")
        for result in outcome.results
        if result.status in words
    ]
    if not lines:
        lines.append("nothing left to do")
    left = outcome.count(Status.ESCALATED)
    if left:
        lines.append(f"{left} finding{'' if left == 1 else 's'} left to people")
    return "".join(f"{line}\n" for line in lines)
