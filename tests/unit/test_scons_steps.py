"""What becomes of an Action that ends badly. A failure must come back to SCons: else it waits for ever."""

from __future__ import annotations

import sys

import pytest
import SCons.Errors

from skrules.engine.action import Action
from skrules.engine.digests import FileDigests
from skrules.engine.events import EventLog
from skrules.engine.journal import Journal
from skrules.engine.runner import StepRunner
from skrules.engine.slots import MemorySlots
from skrules.errors import NeedsHuman, TestFailure, ToolchainError
from skrules.scons.output import Output
from skrules.scons.steps import Steps


@pytest.fixture
def steps(tmp_path):
    output = Output(silent=False)
    runner = StepRunner(
        tmp_path, journal=Journal(tmp_path / "j"), digests=FileDigests(tmp_path), slots=MemorySlots(1 << 30), say=output.complain
    )
    return Steps(runner, tell=output.tell, complain=output.complain, events=EventLog(), is_dry=False)


def run(steps, action):
    steps.declare([action])
    (node,) = steps.nodes(action.outputs)
    assert not node.is_up_to_date()
    with pytest.raises(SCons.Errors.BuildError) as caught:
        node.build()
    return caught.value


def failing(error):
    def fail(_root):
        raise error

    return Action(mnemonic="STEP", label="//ops/a", inputs=(), outputs=("out",), run=fail)


@pytest.mark.parametrize(
    ("error", "status", "part"),
    [
        (NeedsHuman("undecided"), 5, "error: undecided"),
        (OSError(28, "No space left on device", "build/x"), 1, "error: //ops/a: build/x: No space left on device"),
        (OSError(28, "No space left on device"), 1, "error: //ops/a: No space left on device"),
        (ValueError("odd"), 70, "fault of skrules in STEP of //ops/a"),
        (KeyboardInterrupt(), 70, "fault of skrules"),
        (SystemExit(0), 70, "fault of skrules"),
        (RecursionError("deep"), 70, "fault of skrules"),
    ],
)
def test_every_failure_has_words_and_a_status(steps, capsys, error, status, part):
    assert run(steps, failing(error)).exitstatus == status
    assert part in capsys.readouterr().err


def test_the_gravest_status_stays(steps, capsys):
    assert run(steps, failing(ToolchainError("no compiler"))).exitstatus == 4
    assert run(steps, failing(NeedsHuman("undecided"))).exitstatus == 4
    assert [failed.action.label for failed in steps.failed] == ["//ops/a", "//ops/a"]
    assert "undecided" in capsys.readouterr().err


def test_what_is_wrong_is_told_once_however_many_steps_it_stops(steps, capsys):
    for _ in range(2):
        run(steps, failing(NeedsHuman("undecided")))
    assert capsys.readouterr().err.count("undecided") == 1
    assert [failed.message for failed in steps.failed] == ["error: undecided"] * 2


def test_a_failed_comparison_is_told_by_its_first_case(steps):
    run(steps, failing(TestFailure("//ops/a dav-2201: failed", notes=["//ops/a case 'one': 'y': differs", "more"])))
    run(steps, failing(TestFailure("//ops/a dav-2201: failed", notes=["what a program said"])))
    assert [failed.message for failed in steps.failed] == ["case 'one': 'y': differs", "error: //ops/a dav-2201: failed"]


def test_a_command_that_writes_nothing_has_not_succeeded(steps, tmp_path, capsys):
    (tmp_path / "out.d").write_text("out: stale.h\n")
    action = Action(
        mnemonic="STEP", label="//ops/a", inputs=(), outputs=("out",), command=((sys.executable, "-c", ""),), depfile="out.d"
    )
    run(steps, action)
    assert "STEP ended well but did not write out" in capsys.readouterr().err
    assert not (tmp_path / "out.d").exists()


def test_a_step_waits_for_those_that_make_its_inputs(steps):
    first = Action(mnemonic="A", label="//ops/a", inputs=("a.asc",), outputs=("x", "y"), run=lambda _root: None)
    second = Action(mnemonic="B", label="//ops/a", inputs=("x", "y", "b.h"), outputs=("z",), run=lambda _root: None)
    steps.declare([first, second])
    before, after = steps.nodes(["x", "z"])
    assert steps.nodes(["y"]) == [before]
    assert after.sources == [before]
