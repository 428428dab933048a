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
ROOT = HERE.parents[1]
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
    assert not [line for line in again.output.splitlines() if line.startswith("[")]  # no step of any kind
    assert again.map == first.map


def test_the_operators_of_this_repository_are_verified_one_by_one(place):
    shutil.rmtree(place.root / "ops")
    shutil.copytree(ROOT / "ops", place.root / "ops")
    names = sorted(path.parent.name for path in place.root.glob("ops/*/cases.yaml"))
    assert len(names) > 5
    first = place.pipeline("--asset-root", "ops", *FAST)
    assert (first.status, first.summary["status"]) == (0, "verified"), first.output
    assert first.statuses == dict.fromkeys(names, "verified")
    place.edit("ops/add_custom/reference.py", "+ y.astype", "- y.astype")
    place.edit("ops/concat_custom/contract.yaml", "schema_version: 1", "schema_version: 2")
    ended = place.pipeline("--asset-root", "ops", *FAST)
    assert (ended.status, ended.compiled) == (1, 0), ended.output
    broken = dict.fromkeys(("add_custom", "concat_custom"), "needs-human")
    assert ended.statuses == {**first.statuses, **broken}
    place.edit("ops/add_custom/reference.py", "- y.astype", "+ y.astype")
    place.edit("ops/concat_custom/contract.yaml", "schema_version: 2", "schema_version: 1")
    again = place.pipeline("--asset-root", "ops", *FAST)
    assert (again.status, again.compiled, again.map) == (0, 0, first.map), again.output


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


@pytest.mark.parametrize("number, status", [(signal.SIGTERM, 128 + signal.SIGTERM), (signal.SIGKILL, -signal.SIGKILL)])
def test_a_killed_run_is_gone_on_with(tmp_path, tmp_path_factory, module_cache, number, status):
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
    process.send_signal(number)
    assert process.wait() == status
    assert json.loads(next(place.root.glob("out/work/stage-work/*/pipeline-state.json")).read_text())["status"] == "running"
    before = place.compiled()
    assert 0 < before < wanted
    ended = place.pipeline("--asset-root", "ops", *FAST, "--jobs", "1")
    assert ended.status == 0, ended.output
    # At most the step in which it was killed is done twice. What was killed without a chance has left a build behind, which
    # is waited for.
    assert ended.compiled <= wanted - before + 2


def _wait_for(happened, seconds=300):
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_an_edit_reaches_what_it_concerns_and_no_more(place, tmp_path):
    (tmp_path / "far").mkdir()
    (tmp_path / "far/far.h").write_text("#pragma once\n// empty\n")
    place.edit("ops/scale/scale.asc", '#include "../common/part.h"', '#include "../common/part.h"\n#include "far.h"')
    words = ("--asset-root", "ops", *FAST, "--operator-build-config-set", f'include_dirs=["{tmp_path / "far"}"]')
    assert place.pipeline(*words).status == 0
    place.edit("ops/shift/shift.asc", "// y = x + factor", "// y is x + factor")
    one = place.pipeline(*words)
    assert (one.status, one.statuses) == (0, {"scale": "verified", "shift": "verified"}), one.output
    assert "[ASC      dav-2201] //ops/shift" in one.output
    assert "//ops/scale scale.asc" not in one.output
    (tmp_path / "far/far.h").write_text("#pragma once\n#define FAR 1\n")
    one = place.pipeline(*words)
    assert "[ASC      dav-2201] //ops/scale" in one.output, one.output
    assert "//ops/shift shift.asc" not in one.output


def test_folders_may_be_called_otherwise_and_sources_have_several_kernels(place):
    (place.root / "ops/scale").rename(place.root / "ops/Any-Name")
    folder = place.root / "ops/Any-Name"
    (folder / "SConscript").unlink()
    both = (folder / "scale.asc").read_text()
    kernel = both.partition("// y = x * factor")[2]
    (folder / "scale.asc").write_text(both + "//" + kernel.replace("void scale(", "void twice("))
    contract = (folder / "contract.yaml").read_text()
    (folder / "contract.yaml").write_text(contract + contract.partition("entries:\n")[2].replace("scale", "twice"))
    cases = (folder / "cases.yaml").read_text().replace("- name: small\n", "- name: small\n    entry: scale\n")
    (folder / "cases.yaml").write_text(cases + cases.partition("cases:\n")[2].replace("small", "other").replace("scale", "twice"))
    reference = (folder / "reference.py").read_text()
    (folder / "reference.py").write_text(reference + "\n\ntwice = scale\n")
    ended = place.pipeline("--asset", "ops/Any-Name", *FAST)
    assert ended.status == 0, ended.output
    assert ended.op("Any_Name")["entries"] == ["scale", "twice"]
    cases = cases.replace("scale", "twice")
    (folder / "cases.yaml").write_text(cases)  # of the two kernels only one is run
    ended = place.pipeline("--asset", "ops/Any-Name", *FAST)
    assert (ended.status, ended.summary["status"]) == (1, "needs-runtime-fixture"), ended.output


def test_a_rule_that_is_broken_stops_its_operator_with_file_and_line(place):
    _break_twin(place)
    text = (place.root / "ops/scale/scale.asc").read_text()
    (place.root / "ops/scale/scale.asc").write_text(text.replace("AscendC::Adds", "AscendC::Muls").replace("pipe.Destroy", "// "))
    ended = place.pipeline("--asset-root", "ops", *FAST)
    assert ended.status == 1, ended.output
    assert ended.statuses == {"scale": "needs-human", "shift": "verified"}
    assert ended.op("scale")["reason"] == "spec-blocker"
    (note,) = [line for line in ended.op("scale")["notes"] if "[sk." in line]
    assert "scale.asc:" in note and "sk.tpipe-destroy-without-pipe-all" in note
    assert list(place.root.glob("out/work/stage-work/*/03-validate-spec/scale/outputs/operator-validation-findings.json"))


def test_names_that_clash_become_packages_of_their_own(place):
    shutil.copytree(place.root / "ops", place.root / "more")
    place.edit("more/scale/reference.py", "* factor", "* factor + 1")
    ended = place.pipeline("--asset-root", "ops", "--asset-root", "more", *FAST)
    assert ended.status == 1, ended.output
    assert ended.map["run"]["mode"] == "separate"
    found = {asset["asset"]: asset["status"] for asset in ended.map["assets"]}
    assert found == {"scale": "verified", "shift": "verified", "scale_2": "needs-human", "shift_2": "verified"}
    coverage = json.loads((place.root / "out/asset-root-coverage.json").read_text())
    assert coverage["status"] == "failed"
    assert [each["entry"] for each in coverage["duplicate_entries"]] == ["scale", "shift"]
    one = place.pipeline("--asset-root", "ops", "--asset-root", "more", "--asset-root-mode", "aggregate", *FAST)
    assert one.status == 2
    assert "one package has a name once" in one.output


def test_stages_before_the_build_start_no_compiler(place):
    words = ("--asset-root", "ops", "--output-dir", "out")
    ended = place.pipeline(*words, "--no-package")
    assert (ended.status, ended.summary["status"], ended.compiled) == (1, "clean", 0), ended.output
    ended = place.pipeline(*words, "--stages", "05")
    assert (ended.status, ended.summary["status"], ended.compiled) == (1, "pybind-generated", 0), ended.output
    assert (place.root / "out/deliverables/pybind-projects/aggregate/setup.py").is_file()
    for stage, status in (("04", "clean"), ("02", "adapted"), ("01", "analyzed")):
        assert place.pipeline(*words, "--stages", stage).summary["status"] == status


def test_what_keeps_a_run_from_beginning_is_an_error_of_usage(place):
    (place.root / "empty").mkdir()
    for words in (
        ("--asset", "nowhere"),
        ("--asset-root", "empty"),
        ("--asset-root", "ops", "--output-dir", "ops"),
        ("--asset", "ops/scale", "--aggregate-wheel-name", "../x"),
    ):
        ended = place.pipeline(*words, *(() if "--output-dir" in words else FAST))
        assert ended.status == 2, ended.output
        assert "Traceback" not in ended.output
    assert json.loads((place.root / "out/asset-root-coverage.json").read_text())["status"] == "empty"


def test_without_an_arch_nothing_is_guessed(place):
    place.edit("ops/scale/SConscript", "operator(", "# operator(")
    (place.root / "ops/scale/SConscript").unlink()
    ended = place.pipeline("--asset", "ops/scale", "--profile", "fast", "--output-dir", "out")
    assert (ended.status, ended.summary["status"]) == (1, "needs-target-arch"), ended.output
    assert ended.op("scale")["reason"] == "missing-npu-arch-and-target-chip"


def test_no_device_result_is_made_up(place):
    ended = place.pipeline("--asset", "ops/scale", "--toolchain", "bisheng", *FAST)
    assert (ended.status, ended.summary["status"]) == (1, "needs-toolchain"), ended.output
