"""`skrules why` names the true cause, for every part of what a step is made from."""

from __future__ import annotations

import json
import shutil

import pytest

from tests.data.moving_workspace import WAYS, MovingWorkspace, prepare

ADAPT, ASC = "ADAPT scale.asc", "ASC dav-2201 scale.asc"

# What was done -> the step that it concerns, and the line that must stand below it.
CAUSES = {
    "source": (ADAPT, "source ops/scale/scale.asc changed"),
    "header": (ADAPT, "header ops/common/part.h changed"),
    "header with its old time": (ASC, "header ops/common/part.h changed"),
    "contract": (ADAPT, "contract ops/scale/contract.yaml changed"),
    "SConscript": (ASC, "flags changed: '-Iops/far' -> '-DFAST=1 -Iops/far'"),
    "template": (ADAPT, "template changed"),
    "generator": (ADAPT, "generator changed"),
    "library": (ADAPT, "library changed: "),
    "compiler": (ASC, "compiler changed"),
    "toolkit": (ASC, "toolkit changed: '8.5.0' -> '8.6.0'"),
    "environment": (ASC, "environment changed"),
    "output": (ASC, "output build/bisheng/obj/dav-2201/ops/scale/scale.o was changed by hand"),
    "output that is gone": (ADAPT, "output build/bisheng/gen/ops/scale/descriptor.cpp is missing"),
    "header in an earlier folder": (ASC, "header ops/scale/far.h is new"),
}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    workspace = MovingWorkspace(tmp_path_factory.mktemp("why"))
    prepare(workspace)
    ran = workspace.scons()
    assert ran.status == 0, ran.output
    return workspace


def steps_of(text: str) -> dict[str, list[str]]:
    """Return what is said of each step: its state, then its causes."""
    found: dict[str, list[str]] = {}
    name = ""
    for line in text.splitlines():
        if line.startswith("    "):
            found[name].append(line.strip())
        elif line.startswith("  "):
            name, _, state = line.strip().partition(": ")
            found[name] = [state]
    return found


@pytest.mark.parametrize("way", CAUSES)
def test_the_cause_is_named(built, way):
    """Also in the build that follows, as what the step was last made for."""
    before = steps_of(built.why("ops/scale"))
    assert {step[0] for step in before.values()} == {"current"}
    WAYS[way](built)
    step, cause = CAUSES[way]
    now = steps_of(built.why("ops/scale"))[step]
    assert now[0] == "would run"
    others = [line for line in now[1:] if not line.startswith("last time") and "may change <-" not in line]
    assert [line for line in others if line.startswith(cause)], now
    assert len(others) == 1, others
    assert built.scons().status == 0
    last = steps_of(built.why("ops/scale"))[step]
    assert last[0] == "current"
    assert cause in last[1]


def test_what_follows_is_traced_to_its_root(built):
    built.edit("ops/scale/contract.yaml", "outputs: [y]", "outputs: [y]\n    compile: {defines: [FAST=1]}")
    root = "contract ops/scale/contract.yaml changed"
    awaited = steps_of(built.why("ops/scale"))[ASC]
    assert awaited[0] == "would run if its inputs change"
    assert f"options build/bisheng/gen/ops/scale/scale.asc.rsp may change <- {root}" in awaited
    built.scons()
    assert f"options build/bisheng/gen/ops/scale/scale.asc.rsp changed <- {root}" in steps_of(built.why("ops/scale"))[ASC][1]


def test_touched_files_are_not_blamed(built):
    for path in (built.root / "ops").rglob("*.*"):
        path.touch()
    built.edit("ops/scale/scale.asc", "uint32_t start", "uint32_t  start")
    assert "source ops/scale/scale.asc changed" in built.why("ops/scale")
    assert "header" not in "".join(line for line in built.why("ops/scale").splitlines() if "last time" not in line)
    built.scons()


def test_a_failed_step_and_one_that_never_ran(built):
    built.edit("ops/scale/scale.asc", "#include", "#error stand-in\n#include")
    assert built.scons().status == 1
    assert steps_of(built.why("ops/scale"))[ASC][1] == "the last run failed or was interrupted"
    built.edit("ops/scale/scale.asc", "#error stand-in\n", "")
    built.scons()
    shutil.rmtree(built.root / "build/bisheng/.skrules")
    assert steps_of(built.why("ops/scale"))[ASC][:2] == ["would run", "no record of an earlier run"]
    built.scons("--no-fast-path")


def test_json_and_one_arch(built):
    (found,) = json.loads("".join(built.why("ops/scale", "--arch", "dav-2201", "--output", "json").partition("[\n")[1:]))
    assert found["label"] == "//ops/scale"
    assert [(step["mnemonic"], step["arch"], step["state"]) for step in found["steps"]] == [
        ("ADAPT", "", "current"),
        ("ASC", "dav-2201", "current"),
    ]
    assert found["steps"][1]["last"]["source"] == "run"
    assert set(found["steps"][1]) == {"mnemonic", "arch", "what", "outputs", "state", "causes", "last"}
    assert found["undeclared"] == []


def test_it_writes_nothing(built):
    journal = built.root / "build/bisheng/.skrules/journal/ops%2Fscale.jsonl"
    journal.write_text(journal.read_text() + '{"begin":"half')
    before = {path: path.stat().st_mtime_ns for path in built.root.rglob("*")}
    built.why()
    assert {path: path.stat().st_mtime_ns for path in built.root.rglob("*")} == before


def test_an_include_of_another_package_that_no_deps_names(built):
    built.edit("ops/scale/SConscript", 'deps=["//ops/common", "//ops/far"],', 'deps=["//ops/far"],')
    built.edit("ops/scale/scale.asc", "uint32_t  start", "uint32_t start")
    ran = built.scons()
    told = 'warning: //ops/scale includes ops/common/part.h, which no deps names\n    hint: deps=["//ops/common"]\n'
    assert ran.output.count(told) == 1
    assert ran.output.count("warning:") == 1
    assert "warning: //ops/scale includes ops/common/part.h" in built.why("ops/scale")
