"""How an operator ends: by verdicts that count, for every arch and every way of running it. Nothing else is verified."""

from __future__ import annotations

from pathlib import Path

import pytest

from skrules.label import Label
from skrules.pipeline import stages
from skrules.pipeline.build import ArchVerdict, BuildResult
from skrules.pipeline.mirror import Placed
from skrules.pipeline.operators import Operator
from skrules.pipeline.outcome import Job, Progress, judge_build
from skrules.pipeline.statuses import Ending
from skrules.pipeline.units import Unit

LABEL = "//ops/a"


def verdict(status="passed", arch="dav-2201", backend="program", **document):
    shown = {"label": LABEL, "arch": arch, "status": status, "cases": [], "messages": [], **document} if status else {}
    return ArchVerdict(label=LABEL, arch=arch, backend=backend, status=status, document=shown, is_cached=False)


def progress(*verdicts, cases="cases.yaml"):
    operator = Operator(name="a", folder=Path("ops/a"), sources=("a.asc",), cases=cases)
    placed = Placed(operator=operator, label=Label(package="ops/a", name="a"), package="ops/a", files=(), contract="")
    unit = Unit(kernels=("a",), entries=("a",), forms={})
    return Progress(job=Job(slug="a", asset="a", placed=placed, unit=unit), verdicts=verdicts)


def judge(*verdicts, cases="cases.yaml", compares=True, wanted=(), wheel=False, **changes):
    settings = {
        "toolchain": "host",
        "backends": ("program",),
        "archs": {LABEL: ("dav-2201",)},
        "errors": {},
        "built": frozenset({LABEL}),
        "verdicts": verdicts,
        "modules": {LABEL: ()},
        "wheels": (),
        "problems": (),
        "wheel_error": "",
        "executed": 0,
    }
    result = BuildResult(**{**settings, **changes})
    return judge_build(progress(*verdicts, cases=cases), result, compares=compares, wanted_archs=wanted, wheel=wheel)


def test_what_passed_everywhere_is_verified():
    assert judge(verdict()).status == "verified"


@pytest.mark.parametrize(
    "status, ends, reason",
    [
        ("failed", "needs-human", "differential_outputs_mismatched"),
        ("skipped-no-npu", "needs-device", "skipped-no-npu"),
        ("skipped-insufficient-runtime-spec", "needs-runtime-fixture", "skipped-insufficient-runtime-spec"),
        ("", "needs-human", "not-run"),
        ("mock-passed", "needs-human", "mock-passed"),
    ],
)
def test_what_did_not_pass_is_not(status, ends, reason):
    ending = judge(verdict(status))
    assert (ending.status, ending.reason) == (ends, reason)


def test_every_arch_must_have_passed():
    archs = {LABEL: ("dav-2201", "dav-3510")}
    assert judge(verdict(), archs=archs).status == "needs-human"
    assert judge(verdict(), verdict("skipped-no-npu", "dav-3510"), archs=archs).status == "needs-device"
    assert judge(verdict(), verdict(arch="dav-3510"), archs=archs).status == "verified"


def test_every_backend_must_have_passed():
    both = ("program", "torch")
    assert judge(verdict(), backends=both).reason == "not-run"
    assert judge(verdict(), verdict("failed", backend="torch"), backends=both).status == "needs-human"
    assert judge(verdict(), verdict(backend="torch"), backends=both).status == "verified"


def test_no_backend_at_all_shows_nothing():
    assert not judge(verdict(), backends=()).is_good


def test_an_arch_that_is_not_declared_is_told():
    ending = judge(verdict(), wanted=("dav-2201", "dav-3510"))
    assert (ending.status, ending.reason) == ("needs-target-arch", "not-declared-by-operator")
    assert "dav-3510" in ending.notes[0]


def test_without_cases_there_is_nothing_to_verify():
    assert judge(cases="").status == "needs-runtime-fixture"


def test_a_failed_build_outweighs_a_verdict():
    ending = judge(verdict(), errors={LABEL: ("ASC dav-2201: a.asc:3:1: error: x",)})
    assert (ending.status, ending.reason) == ("needs-human", "build-failed")


def test_what_was_not_to_be_compared_is_packaged_at_best():
    assert judge(compares=False, wheel=True).status == "packaged"
    assert judge(compares=False).status == "skipped-by-user"
    assert judge(compares=False, wheel=True, built=frozenset()).status == "needs-human"


def test_messages_of_a_failed_case_are_told():
    ending = judge(verdict("failed", cases=[{"status": "failed", "messages": ["z[0] is 1, not 2"]}]))
    assert ending.notes == ("dav-2201: z[0] is 1, not 2",)


def test_an_operator_ends_as_its_last_stage_unless_one_stopped_it():
    one = progress()
    one.stages[stages.ADAPT] = Ending(status="adapted")
    one.stages[stages.SPEC] = Ending(status="clean")
    assert one.ending().status == "clean"
    one.stages[stages.SPEC] = Ending(status="needs-human", reason="spec-blocker")
    one.stages[stages.BUILD] = Ending(status="verified")
    assert one.ending().status == "needs-human"


def test_one_that_no_stage_came_to_is_not_good():
    assert not progress().ending().is_good


def test_the_record_says_what_each_case_showed():
    one = progress(
        verdict(reference="file", cases=[{"case": "c", "entry": "a", "status": "passed", "evidence": {"twin_ran": True}}])
    )
    one.stages[stages.BUILD] = Ending(status="verified")
    (shown,) = one.to_json()["verification"]
    assert shown["cases"] == [{"case": "c", "entry": "a", "status": "passed", "twin_ran": True}]
    assert (shown["status"], shown["reference"], shown["backend"]) == ("passed", "file", "program")
