"""How labels ended: what was not checked is never counted as passed, and is said."""

from __future__ import annotations

import json
from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from skrules.label import Label
from skrules.rules.status import Outcome, Status, collect, totals


@dataclass(frozen=True)
class Compare:
    arch: str = "dav-2201"
    verdict: str = "verdict.json"
    failed_verdict: str = "verdict.failed.json"


GRAPH = SimpleNamespace(operators=[SimpleNamespace(label=Label(package="ops/add", name="add"), compare=[Compare()])])


def status_of(root, outcome, **files):
    for name, data in files.items():
        (root / f"verdict{'.failed' if name == 'failed' else ''}.json").write_text(json.dumps(data))
    (status,) = collect(root, GRAPH, lambda _output: outcome)
    return status


PASSED = {"status": "passed", "summary": "in 0.1s", "reference": "file"}


@pytest.mark.parametrize(
    ("outcome", "files", "state", "cached"),
    [
        (Outcome.MADE, {"passed": PASSED}, "PASSED", False),
        (Outcome.CURRENT, {"passed": PASSED}, "PASSED", True),
        (Outcome.FAILED, {"failed": {"status": "failed"}}, "FAILED", False),
        (Outcome.FAILED, {"failed": {"status": "skipped-no-npu"}}, "SKIPPED", False),
        (Outcome.FAILED, {"passed": PASSED}, "NO STATUS", False),
        (Outcome.NOTHING, {"passed": PASSED, "failed": {"status": "failed"}}, "NO STATUS", False),
        (Outcome.MADE, {}, "NO STATUS", False),
        (Outcome.MADE, {"passed": {}}, "SKIPPED", False),
    ],
)
def test_a_verdict_counts_only_for_what_this_run_did(tmp_path, outcome, files, state, cached):
    status = status_of(tmp_path, outcome, **files)
    assert (status.state, status.cached) == (state, cached)


def test_the_totals_say_what_was_not_compared(tmp_path):
    without = status_of(tmp_path, Outcome.CURRENT, passed={**PASSED, "reference": "none"})
    assert without.unreferenced
    others = [
        Status(label="//a", arch="dav-2201", state=state) for state in ("PASSED", "FAILED", "SKIPPED", "NO STATUS", "NO STATUS")
    ]
    assert totals([without, *others]) == "6 results: 2 passed (1 cached, 1 without reference), 1 failed, 1 skipped, 2 no status"
    assert totals([]) == "0 results: 0 passed"
