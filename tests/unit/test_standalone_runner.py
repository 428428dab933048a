"""The runner of an exported project judges as `skrules.compare.verdict` does, on the same bytes."""

from __future__ import annotations

import importlib.util
import json
from types import SimpleNamespace

import numpy as np
import pytest

from skrules import resources
from skrules.compare import numbers
from skrules.compare.case import Case, TensorCase, Tolerance
from skrules.compare.subject import Argument, Subject
from skrules.compare.verdict import CaseRun, Evidence, judge
from skrules.contract.model import ParameterKind, Role
from skrules.errors import Location
from skrules.standalone.fixtures import _case, _expected

ELEMENTS = 6
ENTRY = Subject(name="op", kernel="op", arguments=(Argument(name="y", kind=ParameterKind.TENSOR, roles=(Role.OUTPUT,)),))


@pytest.fixture(scope="module")
def runner():
    path = resources.templates() / "standalone" / "run.py"
    spec = importlib.util.spec_from_file_location("standalone_run", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def values(dtype, *, change=0.0, at=1):
    """Return a few numbers, one of them changed by a part of itself."""
    array = np.arange(1, ELEMENTS + 1, dtype=np.float64)
    array[at] *= 1 + change
    return array.astype(numbers.numpy_dtype(dtype))


def sentinels(array, run, at):
    data = array.copy()
    data.view(np.uint8).reshape(ELEMENTS, -1)[at] = {"plain": 0xA5, "sk": 0x5A}[run]
    return data


def both(runner, folder, dtype, runs, expected, *, partial=False, twin=True, tolerance=None):
    """Judge the same runs with both; return the status of each."""
    tensor = TensorCase(shape=(2, 3), dtype=dtype, fill="sentinel")
    case = Case(
        name="c",
        entry="op",
        partial=partial,
        tolerance=tolerance,
        tensors={"y": tensor},
        scalars={},
        structs={},
        at=Location(file="cases.yaml"),
    )
    shaped = None if expected is None else expected.reshape(2, 3)
    for run, array in runs.items():
        (folder / f"c.y.{run}").write_bytes(numbers.little_endian(array))
    files = {} if shaped is None else _expected(case, {"y": shaped})
    for name, data in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(data)
    reference = None if shaped is None else SimpleNamespace(expected=lambda *_: {"y": shaped})
    record = CaseRun(case="c", entry="op", status="ran", evidence=Evidence(twin_ran=twin))
    ours = judge(case, ENTRY, record, folder, reference, "op")
    spoken = {"case": "c", "status": "ran", "evidence": {"twin_ran": twin}}
    made = json.loads(json.dumps(_case(case, ENTRY, files)))
    theirs = runner.judge(made, spoken, "", folder, folder)
    # The same complaints, in the same order.
    assert len(theirs["messages"]) == len(ours.messages), (theirs, ours)
    return theirs["status"], str(ours.status)


@pytest.mark.parametrize("dtype", numbers.COMPARABLE)
def test_equal_runs_pass_and_unequal_ones_fail(dtype, runner, tmp_path):
    right, wrong = values(dtype), values(dtype, change=3)
    if dtype == "bool":
        right, wrong = np.ones(ELEMENTS, bool), np.zeros(ELEMENTS, bool)
    assert both(runner, tmp_path, dtype, {"plain": right, "sk": right}, right) == ("passed", "passed")
    assert both(runner, tmp_path, dtype, {"plain": right, "sk": right}, None) == ("passed", "passed")
    assert both(runner, tmp_path, dtype, {"plain": wrong, "sk": wrong}, right) == ("failed", "failed")
    assert both(runner, tmp_path, dtype, {"plain": right, "sk": wrong}, right) == ("failed", "failed")


@pytest.mark.parametrize("dtype", [name for name in numbers.COMPARABLE if numbers.is_float(name)])
def test_tolerances_end_at_the_same_place(dtype, runner, tmp_path):
    right = values(dtype)
    rtol, _ = numbers.TOLERANCES[dtype]
    for part in (0.25, 0.5, 0.9, 1.1, 2.0, 4.0):
        near = values(dtype, change=part * rtol)
        theirs, ours = both(runner, tmp_path, dtype, {"plain": near, "sk": near}, right)
        assert theirs == ours, part
    shifted = values(dtype, change=0.5)
    loose = Tolerance(rtol=0, atol=1.0)
    assert both(runner, tmp_path, dtype, {"plain": shifted, "sk": shifted}, right, tolerance=loose) == ("passed", "passed")


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, -0.0])
@pytest.mark.parametrize("expected", [np.nan, np.inf, -np.inf, 0.0])
def test_what_is_no_ordinary_number(value, expected, runner, tmp_path):
    made, right = values("float32"), values("float32")
    made[2], right[2] = value, expected
    theirs, ours = both(runner, tmp_path, "float32", {"plain": made, "sk": made}, right)
    assert theirs == ours


def test_elements_that_nobody_writes(runner, tmp_path):
    right = values("float16")
    runs = {run: sentinels(right, run, 4) for run in ("plain", "sk")}
    assert both(runner, tmp_path, "float16", runs, right) == ("failed", "failed")
    assert both(runner, tmp_path, "float16", runs, right, partial=True) == ("passed", "passed")
    padded = np.ma.masked_array(right, mask=np.arange(ELEMENTS) == 4)
    assert both(runner, tmp_path, "float16", runs, padded) == ("passed", "passed")
    lost = {"plain": right, "sk": sentinels(right, "sk", 4)}
    assert both(runner, tmp_path, "float16", lost, right) == ("failed", "failed")


def test_a_twin_that_never_ran_fails(runner, tmp_path):
    right = values("float32")
    assert both(runner, tmp_path, "float32", {"plain": right, "sk": right}, right, twin=False) == ("failed", "failed")


def test_nothing_compared_is_not_passed(runner, tmp_path):
    padded = np.ma.masked_array(values("float32"), mask=np.ones(ELEMENTS, bool))
    runs = {"plain": values("float32"), "sk": values("float32")}
    skipped = "skipped-insufficient-runtime-spec"
    assert both(runner, tmp_path, "float32", runs, padded) == (skipped, skipped)


def test_a_whole_is_as_good_as_its_worst_part(runner):
    parts = [{"status": status} for status in ("passed", "skipped-insufficient-runtime-spec", "skipped-no-npu")]
    assert runner.worst(parts) == "skipped-no-npu"
    assert runner.worst(parts[:1]) == "passed"
    assert runner.worst([]) == "skipped-insufficient-runtime-spec"
