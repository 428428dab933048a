"""What becomes of an Action that ends badly. A failure must come back to SCons: else it waits for ever."""

from __future__ import annotations

import sys

import pytest
import SCons.Errors

from skrules.engine.action import Action
from skrules.errors import NeedsHuman, ToolchainError
from skrules.scons.builders import Runner


def run(runner, error):
    def fail(_root):
        raise error

    action = Action(mnemonic="STEP", label="//ops/a", inputs=(), outputs=("out",), run=fail)
    with pytest.raises(SCons.Errors.BuildError) as caught:
        runner._run(["out"], [], {"SKRULES_ACTION": action})
    return caught.value


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
def test_every_failure_has_words_and_a_status(tmp_path, capsys, error, status, part):
    failure = run(Runner(tmp_path, verbose=False), error)
    assert failure.exitstatus == status
    assert part in capsys.readouterr().err


def test_the_gravest_status_stays(tmp_path, capsys):
    runner = Runner(tmp_path, verbose=False)
    assert run(runner, ToolchainError("no compiler")).exitstatus == 4
    assert run(runner, NeedsHuman("undecided")).exitstatus == 4
    assert [action.label for action in runner.failed] == ["//ops/a", "//ops/a"]
    assert "undecided" in capsys.readouterr().err


def test_a_command_that_writes_nothing_has_not_succeeded(tmp_path, capsys):
    (tmp_path / "out.d").write_text("out: stale.h\n")
    action = Action(
        mnemonic="STEP", label="//ops/a", inputs=(), outputs=("out",), command=((sys.executable, "-c", ""),), depfile="out.d"
    )
    with pytest.raises(SCons.Errors.BuildError):
        Runner(tmp_path, verbose=False)._run(["out"], [], {"SKRULES_ACTION": action})
    assert "STEP ended well but did not write out" in capsys.readouterr().err
    assert not (tmp_path / "out.d").exists()
