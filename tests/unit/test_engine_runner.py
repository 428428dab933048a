"""When outputs are current, and what is remembered of a step while the world changes around it."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import replace

import pytest

from skrules.engine.action import Action
from skrules.engine.digests import FileDigests
from skrules.engine.explain import CURRENT, MAY_RUN, WOULD_RUN, explain
from skrules.engine.journal import Journal
from skrules.engine.runner import CommandFailed, StepRunner, first_error
from skrules.engine.slots import MemorySlots
from skrules.errors import BuildError

# Writes what it read to its output, and says what that was; `meanwhile` is code that runs between the two.
PROGRAM = """\
import os, sys, time
text = "".join(open(name).read() for name in ("a.asc", "inc/a.h"))
{meanwhile}
open("a.o", "w").write(text)
open("a.d", "w").write("a.o: a.asc inc/a.h\\n")
"""


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "root"
    (folder / "inc").mkdir(parents=True)
    (folder / "near").mkdir()
    (folder / "a.asc").write_text("source")
    (folder / "inc/a.h").write_text("header")
    time.sleep(0.02)
    return folder


def step(meanwhile="pass", **changes):
    made = Action(
        mnemonic="ASC",
        label="//ops/a",
        arch="dav-2201",
        what="a.asc",
        inputs=("a.asc",),
        outputs=("a.o",),
        key={"flags": "-g", "compiler": "1"},
        command=((sys.executable, "-c", PROGRAM.format(meanwhile=meanwhile), "-Inear", "-Iinc"),),
        depfile="a.d",
        roles={"a.asc": "source"},
    )
    return replace(made, **changes)


def runner_of(root, said=None):
    """Return what a new run has."""
    journal = Journal(root / "journal")
    say = said.append if said is not None else lambda _text: None
    return StepRunner(root, journal=journal, digests=FileDigests(root), slots=MemorySlots(1 << 30), say=say)


def perform(root, action):
    runner = runner_of(root)
    return runner.perform(action, runner.causes(action), on_run=lambda: None)


def causes(root, action):
    return [str(cause) for cause in runner_of(root).causes(action)]


def test_a_step_is_current_when_it_has_run(root):
    assert causes(root, step()) == ["no record of an earlier run"]
    assert perform(root, step()).found == ("inc/a.h",)
    assert causes(root, step()) == []
    assert (root / "a.o").read_text() == "sourceheader"


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda root: (root / "a.asc").write_text("edited"), "source a.asc changed"),
        (lambda root: (root / "a.asc").unlink(), "source a.asc is gone"),
        (lambda root: (root / "inc/a.h").write_text("edited"), "header inc/a.h changed"),
        (lambda root: (root / "inc/a.h").unlink(), "header inc/a.h is gone"),
        (lambda root: (root / "near/a.h").write_text("nearer"), "header near/a.h is new"),
        (lambda root: (root / "a.o").write_text("tampered"), "output a.o was changed by hand"),
        (lambda root: os.truncate(root / "a.o", 3), "output a.o was changed by hand"),
        (lambda root: (root / "a.o").unlink(), "output a.o is missing"),
        (lambda root: (root / "a.d").write_text(""), "output a.d was changed by hand"),
    ],
    ids=range(9),
)
def test_a_change_of_a_file_is_seen(root, change, expected):
    perform(root, step())
    change(root)
    assert causes(root, step()) == [expected]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"key": {"flags": "-O3", "compiler": "1"}}, ["flags changed: '-g' -> '-O3'"]),
        ({"key": {"flags": "-g"}}, ["compiler changed"]),
        ({"key": {"flags": "-g", "compiler": "1", "torch": "2.7.0"}}, ["torch changed"]),
        ({"key": {"flags": "-g", "compiler": "1", "toolkit headers": "1"}}, ["toolkit headers changed"]),
        ({"environment": {"LANG": "C"}}, ["environment changed"]),
        ({"command": ((sys.executable, "-c", ""),)}, ["command changed"]),
        ({"inputs": ("a.asc", "inc/a.h")}, ["input inc/a.h is new"]),
        ({"inputs": ()}, ["source a.asc no longer used"]),
        ({"outputs": ("a.o", "b.o")}, ["output names changed"]),
    ],
    ids=range(9),
)
def test_a_change_of_what_else_decides_is_seen(root, changes, expected):
    perform(root, step())
    assert causes(root, step(**changes)) == expected


@pytest.mark.parametrize("first", ["1", "2.6.0"])
def test_a_part_of_the_key_names_both_values(root, first):
    perform(root, step(key={"torch": first}))
    assert causes(root, step(key={"torch": "2.7.0"})) == [f"torch changed: '{first}' -> '2.7.0'"]


@pytest.mark.parametrize(
    "meanwhile",
    [
        'open("inc/a.h", "w").write("edited")',
        'open("inc/a.h", "w").write("edited"); os.utime("inc/a.h", (1, 1))',
        'os.rename("inc/a.h", "inc/away.h")',
        'open("a.asc", "w").write("edited")',
        'open("a.asc", "w").write("edited"); os.utime("a.asc", (1, 1))',
        'open("a.asc", "w").write("edited"); open("a.asc", "w").write("source")',
        'open("inc/a.h", "w").write("edited"); open("inc/a.h", "w").write("header")',
    ],
    ids=["header", "header, old time", "header gone", "source", "source, old time", "source and back", "header and back"],
)
def test_what_changed_while_a_step_ran_makes_it_run_again(root, meanwhile):
    """Also when it is as it was: who knows what the compiler has read."""
    perform(root, step(f"time.sleep(0.02); {meanwhile}"))
    assert causes(root, step(f"time.sleep(0.02); {meanwhile}"))


def test_times_decide_nothing(root):
    for name in ("a.asc", "inc/a.h"):
        os.utime(root / name, (2_000_000_000, 2_000_000_000))
    time.sleep(0.02)
    perform(root, step())
    assert causes(root, step()) == []
    for name in ("a.asc", "inc/a.h", "a.o"):
        os.utime(root / name, (1, 1))
    assert causes(root, step()) == []


def test_a_step_that_failed_or_was_killed_is_not_current(root):
    perform(root, step())
    runner = runner_of(root)
    with pytest.raises(CommandFailed):
        runner.perform(step('sys.exit("error: no")'), (), on_run=lambda: None)
    assert causes(root, step()) == ["the last run failed or was interrupted"]
    perform(root, step())
    Journal(root / "journal").begin("//ops/a", "a.o")
    assert causes(root, step()) == ["the last run failed or was interrupted"]


def test_a_missing_input_is_an_error_and_nothing_runs(root):
    (root / "a.asc").unlink()
    with pytest.raises(BuildError, match=r"there is no file a\.asc"):
        perform(root, step())
    assert not (root / "journal").exists()


def test_every_process_is_told(root):
    runner = runner_of(root)
    told = []
    runner.note_process = told.append
    runner.perform(step(), (), on_run=lambda: None)
    assert len(told) == 1


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("", ""),
        (
            "a.h:1:2: warning: odd\nIn file included from b.asc:1:\n  a.asc:3:5: error: no\nmore: error: no\n",
            "a.asc:3:5: error: no",
        ),
        (
            "a.asc:1:10: fatal error: x.h: No such file or directory\ncompilation terminated.",
            "a.asc:1:10: fatal error: x.h: No such",
        ),
        ("/usr/bin/ld: a.o: undefined reference to `f'\n", "/usr/bin/ld: a.o: undefined reference to `f'"),
        ("Traceback (most recent call last):\nOSError: [Errno 28] No space\n", "OSError: [Errno 28] No space"),
        ("0 errors so far\nerrors are told here\n", ""),
    ],
    ids=range(6),
)
def test_the_first_error(said, expected):
    assert first_error(said).startswith(expected)
    assert bool(first_error(said)) == bool(expected)


def test_explain_follows_causes_to_their_root(root):
    def generate(base):
        (base / "gen.asc").write_text((base / "a.asc").read_text())

    first = Action(
        mnemonic="ADAPT", label="//ops/a", inputs=("a.asc",), outputs=("gen.asc",), run=generate, roles={"a.asc": "source"}
    )
    second = step(inputs=("gen.asc",), roles={"gen.asc": "generated"}, depfile="")
    third = Action(mnemonic="LINK", label="//ops/a", inputs=("a.o",), outputs=("a.so",), run=lambda base: (base / "a.so").touch())
    for action in (first, second, third):
        perform(root, action)
    assert [each.state for each in explain((first, second, third), runner_of(root))] == [CURRENT] * 3
    (root / "a.asc").write_text("edited")
    told = explain((first, second, third), runner_of(root))
    assert [each.state for each in told] == [WOULD_RUN, MAY_RUN, MAY_RUN]
    assert [str(cause) for each in told for cause in each.causes] == [
        "source a.asc changed",
        "generated gen.asc may change <- source a.asc changed",
        "input a.o may change <- source a.asc changed",
    ]
    perform(root, first)
    assert [str(cause) for cause in runner_of(root).causes(second)] == ["generated gen.asc changed"]


def test_a_header_that_was_asked_for_in_vain_and_comes(root):
    (root / "a.asc").write_text('#if __has_include("fast.h")')
    done = perform(root, step())
    assert done.found == ("inc/a.h",)
    assert causes(root, step()) == []
    (root / "inc/fast.h").touch()
    assert causes(root, step()) == ["header inc/fast.h is new"]


def test_a_header_of_the_toolkit_whose_name_a_file_takes(root):
    (root / "a.asc").write_text('#include "toolkit.h"')
    perform(root, step())
    (root / "near/toolkit.h").touch()
    assert causes(root, step()) == ["header near/toolkit.h is new"]


def test_a_header_that_comes_while_the_step_runs(root):
    (root / "a.asc").write_text('#include "toolkit.h"')
    action = step(meanwhile='open("near/toolkit.h", "w").close()')
    perform(root, action)
    assert causes(root, action) == ["header near/toolkit.h changed"]
