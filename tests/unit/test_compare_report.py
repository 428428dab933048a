from __future__ import annotations

import json
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from skrules.compare.difference import BitDifference, NumberDifference
from skrules.compare.report import detail, from_json, human_lines, junit, to_json
from skrules.compare.verdict import NO_REFERENCE, CaseVerdict, Evidence, Status, TensorVerdict, Verdict

NUMBERS = NumberDifference(
    run="plain", elements=4, mismatches=1, max_abs_error=0.5, max_rel_error=float("inf"), rtol=1e-3, atol=0.0, index=(1, 0)
)
BITS = BitDifference(elements=4, mismatches=0, mismatching_bytes=0, unwritten=0, index=None)
GOOD = CaseVerdict(
    case="one",
    entry="add",
    status=Status.PASSED,
    blocks=8,
    reference="file",
    tensors=(TensorVerdict(tensor="z", dtype="float16", bits=BITS, numbers=(NUMBERS,)),),
    evidence=Evidence(source="runtime", twin_ran=True),
)
BAD = CaseVerdict(case="two", entry="add", status=Status.FAILED, messages=("first <&> \x1b line\nmore", "second"))
SKIPPED = CaseVerdict(case="", entry="mul", status=Status.INSUFFICIENT, notes=("entry 'mul' has no case",))


def _verdict(*cases: CaseVerdict, messages: tuple[str, ...] = ()) -> Verdict:
    return Verdict(label="//ops/add", arch="dav-2201", seconds=0.42, cases=cases, messages=messages)


def test_json_goes_there_and_back() -> None:
    verdict = _verdict(GOOD, BAD, SKIPPED, messages=("the program ended badly",))
    text = json.dumps(to_json(verdict), allow_nan=False)
    assert from_json(json.loads(text)) == verdict
    data = json.loads(text)
    assert (data["schema_version"], data["status"], data["reference"]) == (1, "failed", "file")
    assert data["cases"][0]["tensors"][0]["numbers"][0]["max_rel_error"] == "inf"


def test_what_was_left_out_is_told() -> None:
    verdict = replace(_verdict(GOOD), left_out=("case 'two' is not run: why",))
    assert from_json(to_json(verdict)) == verdict
    assert human_lines(verdict) == [
        "//ops/add dav-2201 PASSED in 0.4s (1 case; 1 left out; max abs err 0.5)",
        "  note: case 'two' is not run: why",
    ]


def test_json_of_another_version_is_refused() -> None:
    with pytest.raises(ValueError, match="version 2"):
        from_json({**to_json(_verdict(GOOD)), "schema_version": 2})


def test_lines_for_people() -> None:
    assert human_lines(_verdict(GOOD)) == ["//ops/add dav-2201 PASSED in 0.4s (1 case; max abs err 0.5)"]
    assert human_lines(_verdict(GOOD, BAD, SKIPPED)) == [
        "//ops/add dav-2201 FAILED in 0.4s (2 cases; max abs err 0.5)",
        "  first <&> \x1b line",
        "  more",
        "  second",
        "  note: entry 'mul' has no case",
    ]
    assert human_lines(_verdict(SKIPPED))[0] == "//ops/add dav-2201 SKIPPED in 0.4s (0 cases)"
    blind = replace(GOOD, reference="none", tensors=(), notes=(NO_REFERENCE,))
    assert detail(_verdict(blind)) == "in 0.4s (1 case; no reference)"
    assert detail(_verdict(BAD)) == "in 0.4s (1 case)"  # it came to no comparison, whether there is a reference or not


def test_junit() -> None:
    root = ElementTree.fromstring(junit([_verdict(GOOD, BAD, SKIPPED), _verdict(), _verdict(GOOD, messages=("bad end",))]))
    suites = [(suite.get("name"), *(suite.get(key) for key in ("tests", "failures", "skipped"))) for suite in root]
    assert suites == [
        ("//ops/add dav-2201", "3", "1", "1"),
        ("//ops/add dav-2201", "1", "0", "1"),
        ("//ops/add dav-2201", "2", "1", "0"),
    ]
    good, bad, skipped = root[0]
    assert (good.get("name"), len(good)) == ("one", 0)
    assert (bad[0].tag, bad[0].get("message")) == ("failure", "first <&> \ufffd line")
    assert bad[0].text == "first <&> \ufffd line\nmore\nsecond"
    assert skipped.get("name") == "mul: no case"
    assert skipped[0].get("message") == "skipped-insufficient-runtime-spec; entry 'mul' has no case"


@pytest.mark.parametrize(
    ("statuses", "whole"),
    [
        ((Status.PASSED, Status.PASSED), Status.PASSED),
        ((Status.PASSED, Status.NO_NPU), Status.NO_NPU),
        ((Status.PASSED, Status.INSUFFICIENT), Status.INSUFFICIENT),
        ((Status.NO_NPU, Status.FAILED), Status.FAILED),
        ((), Status.INSUFFICIENT),
    ],
)
def test_a_whole_is_as_good_as_its_worst_part(statuses: tuple[Status, ...], whole: Status) -> None:
    assert _verdict(*(replace(GOOD, status=status) for status in statuses)).status is whole


def test_messages_on_the_run_fail_it() -> None:
    assert _verdict(GOOD, messages=("x",)).status is Status.FAILED
