"""A wheel of this repository's operators, installed beside torch and called through it.

The environment is a new one, with torch, what torch needs, and the wheel as pip installs it. The npu is emulated, so the host
toolchain is there too: skrules, with PyYAML, and without SCons, numpy or a workspace.
"""

from __future__ import annotations

import functools
import importlib.metadata
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from skrules.compare import runner
from skrules.compare.cases import load_cases
from skrules.compare.child import worker
from skrules.compare.runner import run_compare
from skrules.compare.subject import describe_program
from skrules.compare.verdict import Status
from tests.scenarios.conftest import ScenarioWorkspace

pytestmark = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="no torch in this environment")

ROOT = Path(__file__).parents[2]
ARCH = "dav-2201"
OPERATORS = sorted(path.parent.name for path in (ROOT / "ops").glob("*/contract.yaml"))
CHECKS = ("test_aot_dispatch_dynamic", "test_autograd_registration", "test_faketensor", "test_schema")


@dataclass(frozen=True, slots=True)
class Installed:
    """`python` is that of the environment; `workspace` is where the wheel was built; `work` has a folder for each operator."""

    python: Path
    workspace: ScenarioWorkspace
    work: Path
    environment: dict[str, str]

    def compare(self, operator: str, monkeypatch: pytest.MonkeyPatch, device: str = "npu"):
        """Return the verdict on an operator whose cases were run by the environment, and judged here."""
        folder, label = self.workspace.root / "ops" / operator, f"//ops/{operator}"
        program = self.workspace.root / "build/host/compare" / ARCH / "ops" / operator / "compare"
        environment = {**self.environment, "SKRULES_HOST_ARCH": "2201"}
        entries = describe_program(program, environment, label=label)
        monkeypatch.setattr(runner, "worker", lambda module: (str(self.python), *worker(module)[1:]))
        monkeypatch.setattr(runner, "write_torch_plan", functools.partial(runner.write_torch_plan, device=device))
        cases = load_cases((folder / "cases.yaml").read_bytes(), "cases.yaml", entries)
        reference = folder / "reference.py"
        work = self.work / f"{operator}.{device}"
        return run_compare(program, work, label, ARCH, entries, cases, reference, environment, 300, through_torch=True)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    place = tmp_path_factory.mktemp("installed")
    # The user's own cache: what takes long is compiled once on a machine.
    kept = ("PATH", "HOME", "LANG", "TMPDIR", "CXX", "SKRULES_CACHE", "XDG_CACHE_HOME")
    environment = {name: os.environ[name] for name in kept if name in os.environ} | {"SKRULES_CACHE_LIMIT": "0"}
    workspace = ScenarioWorkspace(place / "workspace", {**environment, "PYTHONPATH": os.environ.get("PYTHONPATH", "")})
    shutil.copytree(ROOT / "ops", workspace.root / "ops")
    shutil.copy(ROOT / "SConstruct", workspace.root)
    programs = [f"build/host/compare/{ARCH}/ops/{operator}/compare" for operator in OPERATORS]
    for words in (("wheel",), programs):
        run = workspace.scons(*words, f"ARCH={ARCH}", "TOOLCHAIN=host")
        assert run.status == 0, run.output
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place / "venv"], check=True)
    python = place / "venv/bin/python"
    (packages,) = (place / "venv").glob("lib/python*/site-packages")
    for name in sorted(needed("torch") | needed("PyYAML")):
        link(name, packages)
    (packages / "skrules").symlink_to(ROOT / "skrules")
    (wheel,) = workspace.root.glob("build/host/dist/*.whl")
    install = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-index", wheel]
    done = subprocess.run(install, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return Installed(python, workspace, place / "work", {**environment, "SK_ACLGRAPH_NPU_ARCH": ARCH})


def needed(name: str) -> set[str]:
    """Return a distribution and all that it needs."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        name = waiting.pop()
        if name.lower() in found:
            continue
        found.add(name.lower())
        for text in importlib.metadata.requires(name) or ():
            requirement = Requirement(text)
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                waiting.append(requirement.name)
    return found


def link(name: str, packages: Path) -> None:
    """Put an installed distribution into another environment without a copy: torch alone is a gigabyte."""
    distribution = importlib.metadata.distribution(name)
    tops = {path.parts[0] for path in distribution.files or () if path.parts[0] not in ("..", "__pycache__")}
    for top in tops:
        if not (packages / top).exists():  # several distributions may share a folder
            (packages / top).symlink_to(Path(str(distribution.locate_file(top))).resolve())


def test_the_environment_has_nothing_else(installed: Installed) -> None:
    program = "import importlib.util as u; print([n for n in ('SCons', 'numpy', 'pip', 'packaging', 'pytest') if u.find_spec(n)])"
    done = subprocess.run([installed.python, "-P", "-c", program], capture_output=True, text=True, env=installed.environment)
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr


@pytest.mark.parametrize("operator", OPERATORS)
def test_every_operator_matches_its_reference(installed: Installed, monkeypatch: pytest.MonkeyPatch, operator: str) -> None:
    """Eager, and captured and fused, through `torch.ops.ascendc_ops` at `npu:0`."""
    verdict = installed.compare(operator, monkeypatch)
    assert verdict.status is Status.PASSED, verdict
    assert verdict.reference == "file"
    assert all(case.evidence.twin_ran and case.evidence.super_kernel for case in verdict.cases)


def test_the_example_of_the_page_runs(installed: Installed, tmp_path: Path) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs/torch.md").read_text(), re.S)
    run = [installed.python, "-P", "-c", example]
    done = subprocess.run(run, capture_output=True, text=True, env=installed.environment, cwd=tmp_path, check=False)
    assert done.stdout == "tensor([5., 5., 5., 5.], device='npu:0', dtype=torch.float16)\n", done.stderr


def gone(package: Path) -> None:
    (package / "add_custom_dav_2201.so").unlink()


def corrupted(package: Path) -> None:
    path = package / "add_custom_dav_2201.so"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def cut_off(package: Path) -> None:
    path = package / "add_custom_dav_2201.so"
    path.write_bytes(path.read_bytes()[:-64])


def renamed(package: Path) -> None:
    (package / "axpy_custom_dav_2201.so").rename(package / "add_custom_dav_2201.so")


def renamed_away(package: Path) -> None:
    (package / "add_custom_dav_2201.so").rename(package / "add_custom_dav_3510.so")


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (gone, "add_custom_dav_2201 of op_extension is gone: install it again"),
        (corrupted, "add_custom_dav_2201.so of op_extension is not the file that was packaged: install it again"),
        (cut_off, "add_custom_dav_2201.so of op_extension is cut off: install it again"),
        (renamed, "add_custom_dav_2201.so of op_extension is not the file that was packaged: install it again"),
        (renamed_away, "add_custom_dav_2201 of op_extension is gone: install it again"),
    ],
)
def test_what_is_done_to_its_modules_is_told(
    installed: Installed, tmp_path: Path, damage: Callable[[Path], None], told: str
) -> None:
    """Before anything is launched. Another operator goes on."""
    (package,) = installed.python.parents[1].glob("lib/python*/site-packages/op_extension")
    shutil.copytree(package, tmp_path / "op_extension")
    damage(tmp_path / "op_extension")
    program = (
        "import torch, op_extension\n"
        "op_extension.load('row_sum_custom')\n"
        "try: torch.ops.ascendc_ops.add_custom(*(torch.ones(1).half(),) * 3, 1)\n"
        "except RuntimeError as error: print(error)\n"
    )
    environment = {**installed.environment, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run([installed.python, "-P", "-c", program], capture_output=True, text=True, env=environment, check=False)
    assert (done.returncode, done.stdout) == (0, f"{told}\n"), done.stderr


def test_another_device(installed: Installed, monkeypatch: pytest.MonkeyPatch) -> None:
    assert installed.compare("add_custom", monkeypatch, "npu:1").status is Status.PASSED


def test_torch_accepts_every_operator(installed: Installed, monkeypatch: pytest.MonkeyPatch) -> None:
    plans = [installed.work / f"{operator}.npu" / "torch.json" for operator in OPERATORS]
    for operator, plan in zip(OPERATORS, plans, strict=True):
        if not plan.exists():  # this test alone was asked for
            installed.compare(operator, monkeypatch)
    script = Path(__file__).with_name("installed_wheel.py")
    done = subprocess.run(
        [installed.python, "-P", script, *plans], capture_output=True, text=True, env=installed.environment, cwd=installed.work
    )
    assert done.returncode == 0, done.stderr
    outcomes = json.loads(done.stdout.splitlines()[-1])
    entries = {entry for entry in outcomes if not entry.endswith("_")}
    assert {entry.removesuffix("_half").removesuffix("_float") for entry in entries} == set(OPERATORS)
    assert outcomes.keys() == entries | {f"{entry}_" for entry in entries}
    for name, outcome in outcomes.items():
        checks = [*CHECKS, *(["aot_eager"] if name in entries else [])]
        assert outcome == [f"{check} SUCCESS" for check in checks], name
