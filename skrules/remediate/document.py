"""The published JSON of remediation: findings in, `operator-sk-remediation.json` out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from skrules.errors import Location, UsageError
from skrules.findings import Fix
from skrules.remediate.kinds import kinds
from skrules.remediate.remediation import Outcome, Request, Status
from skrules.report.published import REMEDIATION, read_items

DOCUMENT = "operator-sk-remediation.json"
_TEXTS = ("target_file", "old_value", "new_value", "digest")


def read_requests(data: bytes, shown: str) -> tuple[Request, ...]:
    """Return the fixes of a findings document: an object with a list `findings`. Raises UsageError when it is none.

    What is wrong with a single finding's fix is told in its result, like what is wrong with its file.
    """
    requests = []
    for index, finding in enumerate(read_items(data, shown)):
        if not isinstance(finding, dict):
            raise UsageError(f"findings[{index}] is no object", at=Location(file=shown))
        requests.append(_request(finding, index))
    return tuple(requests)


def _request(finding: Mapping[str, Any], index: int) -> Request:
    name = next((finding[key] for key in ("finding_id", "rule_id") if isinstance(finding.get(key), str)), f"findings[{index}]")
    actors = finding.get("actionable_by")
    hint = finding.get("remediation_hint")
    is_ours = isinstance(actors, list) and REMEDIATION in actors
    if not is_ours or not isinstance(hint, dict) or not isinstance(hint.get("kind"), str) or hint["kind"] not in kinds():
        return Request(finding_id=name, fix=None)
    wrong = next((key for key in _TEXTS if not isinstance(hint.get(key) or "", str)), "")
    values = {key: "" if wrong == key else hint.get(key) or "" for key in _TEXTS}
    fix = Fix(
        kind=hint["kind"],
        file="" if wrong else values["target_file"],
        old_value="" if wrong else values["old_value"],
        new_value="" if wrong else values["new_value"],
        digest="" if wrong else values["digest"],
    )
    return Request(finding_id=name, fix=fix, problem=f"invalid_hint:{wrong}" if wrong else "")


def report(outcome: Outcome, asset: str, findings: Path) -> dict[str, Any]:
    """Return the document of what was done. Its status is `completed` unless a fix failed; then it is `incomplete`."""
    return {
        "status": "incomplete" if outcome.count(Status.FAILED) else "completed",
        "asset_dir": asset,
        "findings_path": str(findings),
        "summary": {str(status): outcome.count(status) for status in Status},
        "results": [
            {
                "finding_id": result.finding_id,
                "status": str(result.status),
                "reason": result.reason,
                "diff_summary": result.summary,
                "file": result.file,
            }
            for result in outcome.results
        ],
    }
