"""`skrules run-sk-pipeline` on real operators: what is verified was run and passed, and what is current is not done again."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.scenarios.conftest import HERE, ScenarioWorkspace, _environment

_COMPILER = """#!/bin/sh
case " $* " in *" -o "*) echo "$*" >> '{log}' ;; esac
exec g++ "$@"
"""
COMMAND = [sys.executable, "-c", "import sys; from skrules.cli import main; sys.exit(main())", "run-sk-pipeline"]
FAST = ("--profile", "fast", "--npu-arch", "dav-2201", "--output-dir", "out")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """`compiled` counts the compilers and linkers that were started, `map` is the artefact map, empty where there is none."""

    status: int
    output: str
    compiled: int
    map: dict[str, Any]

    @property
    def summary(self) -> dict[str, Any]:
        """The last line of standard output."""
        return dict(json.loads(self.output.splitlines()[-1]))

    def op(self, name: str) -> dict[str, Any]:
        return next(op for asset in self.map["assets"] for op in asset["ops"] if op["operator"] == name)

    @property
    def statuses(self) -> dict[str, str]:
        return {op["operator"]: op["status"] for asset in self.map["assets"] for op in asset["ops"]}


class Place(ScenarioWorkspace):
    """A folder of operators, and a compiler that counts how often it is started."""

    @property
    def log(self) -> Path:
        return self.root.parent / "compiled.txt"

    def compiled(self) -> int:
        return len(self.log.read_text().splitlines()) if self.log.exists() else 0

    def pipeline(self, *words: str, **environment: str) -> Ended:
        before = self.compiled()
        done = subprocess.run(
            [*COMMAND, *words],
            cwd=self.root,
            env={**self.environment, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=600,
        )
        found = self.root / "out/artifact-map.json"
        document = json.loads(found.read_text()) if found.is_file() else {}
        return Ended(status=done.returncode, output=done.stdout, compiled=self.compiled() - before, map=document)


def make_place(tmp_path: Path, cache: Path) -> Place:
    root = tmp_path / "workspace"
    shutil.copytree(HERE / "workspace", root)
    compiler = tmp_path / "counting-g++"
    compiler.write_text(_COMPILER.format(log=tmp_path / "compiled.txt"))
    compiler.chmod(0o755)
    return Place(root, _environment(SKRULES_CACHE=str(cache), CXX=str(compiler)))


@pytest.fixture(scope="module")
def module_cache(tmp_path_factory):
    return tmp_path_factory.mktemp("pipeline-cache")


@pytest.fixture
def place(tmp_path, module_cache):
    return make_place(tmp_path, module_cache)


def test_what_passed_is_verified_and_a_rerun_starts_no_compiler(place):
    first = place.pipeline("--asset-root", "ops", *FAST)
    assert first.status == 0, first.output
    assert first.summary == {"status": "verified", "stages": 5, "asset_count": 2}
    assert first.statuses == {"scale": "verified", "shift": "verified"}
    assert first.map["run"]["emulated"]
    assert first.compiled
    again = place.pipeline("--asset-root", "ops", *FAST)
    assert again.status == 0, again.output
    assert again.compiled == 0
    assert "[" not in again.output.partition("{")[0].replace("(cached)", "")
    assert again.map == first.map


def _break_kernel(place):
    place.edit("ops/scale/scale.asc", "AscendC::Muls", "AscendC::Adds")


def _break_syntax(place):
    place.edit("ops/scale/scale.asc", "out.EnQue(b);", "out.EnQue(b)")


def _break_contract(place):
    place.edit("ops/scale/contract.yaml", "launch:", "luanch:")


def _break_roles(place):
    place.edit("ops/scale/contract.yaml", "    outputs: [y]\n", "    outputs: [x]\n")


def _break_reference(place):
    place.edit("ops/scale/reference.py", "* factor", "* factor + 1")


def _break_twin(place):
    """Bind the kernel by hand, to a function that computes something else."""
    adapted = subprocess.run(
        [*COMMAND[:-1], "adapt", "ops/scale/scale.asc", "--contract", "ops/scale/contract.yaml", "-o", "bound.asc"],
        cwd=place.root,
        env=place.environment,
        check=True,
    )
    assert adapted.returncode == 0
    text = (place.root / "bound.asc").read_text()
    head, found, twin = text.partition("__sk__")
    assert found and "AscendC::Muls" in twin
    (place.root / "ops/scale/scale.asc").write_text(head + found + twin.replace("AscendC::Muls", "AscendC::Adds"))
    (place.root / "bound.asc").unlink()


@pytest.mark.parametrize("break_it", [_break_kernel, _break_syntax, _break_contract, _break_roles, _break_reference, _break_twin])
def test_one_that_is_broken_is_named_and_nothing_is_verified(place, break_it):
    break_it(place)
    ended = place.pipeline("--asset-root", "ops", *FAST)
    assert ended.status == 1, ended.output
    assert ended.summary["status"] == "needs-human"
    assert ended.statuses == {"scale": "needs-human", "shift": "verified"}
    assert ended.op("scale")["notes"]
    assert "\nscale " in ended.output


def test_a_verdict_from_before_counts_for_nothing(place):
    assert place.pipeline("--asset-root", "ops", *FAST).status == 0
    _break_syntax(place)
    ended = place.pipeline("--asset-root", "ops", *FAST)
    assert (ended.status, ended.statuses["scale"]) == (1, "needs-human"), ended.output
    assert list(place.root.glob("out/work/**/dav-2201/ops/scale/verdict.json"))


def test_one_without_cases_is_never_verified(place):
    (place.root / "ops/scale/cases.yaml").unlink()
    place.edit("ops/scale/SConscript", '    cases="cases.yaml",\n', "")
    ended = place.pipeline("--asset-root", "ops", *FAST)
    assert ended.status == 1, ended.output
    assert ended.statuses == {"scale": "needs-runtime-fixture", "shift": "verified"}
    assert ended.summary["status"] == "needs-runtime-fixture"


def test_a_killed_run_is_gone_on_with(tmp_path, tmp_path_factory, module_cache):
    whole = make_place(tmp_path / "whole", tmp_path_factory.mktemp("own"))
    shutil.copytree(module_cache, whole.environment["SKRULES_CACHE"], dirs_exist_ok=True)
    shutil.rmtree(Path(whole.environment["SKRULES_CACHE"]) / "steps", ignore_errors=True)
    place = make_place(tmp_path / "killed", tmp_path_factory.mktemp("own"))
    shutil.copytree(whole.environment["SKRULES_CACHE"], place.environment["SKRULES_CACHE"], dirs_exist_ok=True)
    wanted = whole.pipeline("--asset-root", "ops", *FAST, "--jobs", "1").compiled
    process = subprocess.Popen(
        [*COMMAND, "--asset-root", "ops", *FAST, "--jobs", "1"],
        cwd=place.root,
        env=place.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    _wait_for(lambda: place.compiled() >= 2 or process.poll() is not None)
    process.send_signal(signal.SIGTERM)
    assert process.wait() == 128 + signal.SIGTERM
    assert json.loads(next(place.root.glob("out/work/stage-work/*/pipeline-state.json")).read_text())["status"] == "running"
    before = place.compiled()
    assert 0 < before < wanted
    ended = place.pipeline("--asset-root", "ops", *FAST, "--jobs", "1")
    assert ended.status == 0, ended.output
    # At most the step in which it was killed is done twice.
    assert ended.compiled <= wanted - before + 2


def _wait_for(happened, seconds=300):
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.02)
