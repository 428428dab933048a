"""The exported comparison, configured and built by CMake with a stand-in for its language ASC, and run by its own runner."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from skrules import resources
from skrules.cli import main
from skrules.toolchain.host import HostToolchain

ROOT = Path(__file__).parents[2]
STAND_IN = ROOT / "tests" / "data" / "asc_stand_in"
ARCH = "dav-2201"

pytestmark = pytest.mark.skipif(
    not shutil.which("cmake"), reason="there is no cmake: apt-get install cmake, or pip install cmake"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    folder: Path
    env: dict[str, str]

    def build(self) -> None:
        """Configure and build as the project's CMake file says, with the stand-in in place of the toolkit."""
        for words in (("-S", ".", "-B", "build", f"-DASC_DIR={STAND_IN}"), ("--build", "build")):
            done = subprocess.run(["cmake", *words], cwd=self.folder, env=self.env, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stdout + done.stderr

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run the runner without skrules, or anything else but Python's own library, to be found."""
        env = {**self.env, "SKRULES_HOST_ARCH": "2201"}
        command = [sys.executable, "-I", "-S", str(self.folder / "run.py"), *words]
        return subprocess.run(command, env=env, cwd="/", capture_output=True, text=True, timeout=300, check=False)


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment in which the stand-in finds the host toolchain."""
    workspace = tmp_path_factory.mktemp("host")
    toolchain = HostToolchain(environ=os.environ, why="tests")
    (action,) = toolchain.support((), "build")
    assert action.run is not None
    action.run(workspace)
    compiler = ";".join([sys.executable, "-P", "-m", "skrules.toolchain.hostcc"])
    env = {**toolchain.environment(), "HOSTCC": compiler, "HOST_LIBRARY": str((workspace / action.outputs[0]).parent)}
    return env | {"PATH": os.environ["PATH"], "PYTHONPATH": str(resources.package().parent)}


def export(place: Path, asset: Path, contract: Path, fixtures: Path, env: dict[str, str]) -> Project:
    assert main(["adapt-sk-from-global", str(asset), "--output-dir", str(place / "adapted"), "--io-contract", str(contract)]) == 0
    words = ["--output-dir", str(place / "out"), "--npu-arch", ARCH, "--runtime-fixture-dir", str(fixtures)]
    assert main(["generate-standalone-compare", str(place / "adapted"), *words]) == 0
    return Project(folder=place / "out" / "operator-sk-standalone-verify", env=env)


def test_an_operator_passes_and_its_broken_twin_fails(tmp_path, host):
    operator = ROOT / "ops" / "add_custom"
    project = export(tmp_path, operator, operator / "contract.yaml", ROOT / "ops", host)
    before = project.run()
    assert before.returncode == 2
    assert "cmake --build build" in before.stderr
    project.build()

    done = project.run("--json", str(tmp_path / "verdict.json"))
    assert (done.stdout.splitlines()[-1], done.returncode) == ("PASSED", 0), done.stdout + done.stderr
    verdict = json.loads((tmp_path / "verdict.json").read_text())
    assert verdict["status"] == "passed"
    assert [each["case"] for each in verdict["cases"]] == ["even", "uneven", "fewer_elements_than_cores"]

    # Another byte in a reference, and another line in the SK function: both are found, and told apart.
    expected = project.folder / "fixtures/add_custom/expected/even.z.bin"
    right = expected.read_bytes()
    expected.write_bytes(b"\x00\x3c" + right[2:])
    assert "the plain run differs from the reference in 1 of 16384 elements, first [0, 0]" in project.run().stdout
    expected.write_bytes(right)

    kernel = project.folder / "csrc/add_custom/add_custom.asc"
    head, twin, rest = kernel.read_text().partition("add_custom_sk(")
    assert twin
    kernel.write_text(head + twin + rest.replace("args->totalLength", "args->totalLength / 2", 1))
    project.build()
    broken = project.run()
    assert (broken.stdout.splitlines()[-1], broken.returncode) == ("FAILED", 3)
    assert "FAILED add_custom even" in broken.stdout
    assert "the SK run differs from the plain run" in broken.stdout


def test_a_package_becomes_a_program_for_each_source(tmp_path, host):
    """One has headers, the other a runtime wrapper with descriptors and tensor lists."""
    names = ("axpy_custom", "concat_custom")
    adapted = []
    for name in names:
        asset = ROOT / "ops" / name
        words = ["--output-dir", str(tmp_path / name), "--io-contract", str(asset / "contract.yaml")]
        assert main(["adapt-sk-from-global", str(asset), *words]) == 0
        adapted += ["--adapted-output-dir", str(tmp_path / name)]
    assert main(["aggregate-sk-adapted", *adapted, "--output-dir", str(tmp_path / "package")]) == 0
    words = ["--output-dir", str(tmp_path / "out"), "--npu-arch", ARCH, "--runtime-fixture-dir", str(ROOT / "ops")]
    assert main(["generate-standalone-compare", str(tmp_path / "package"), *words]) == 0
    made = json.loads((tmp_path / "out/operator-sk-standalone-verify.json").read_text())
    assert made["entry_targets"] == {name: f"runtime_compare_{name}" for name in names}
    project = Project(folder=tmp_path / "out" / "operator-sk-standalone-verify", env=host)
    project.build()
    done = project.run()
    assert (done.stdout.splitlines()[-1], done.returncode) == ("PASSED", 0), done.stdout + done.stderr
    assert all(f"PASSED {name} " in done.stdout for name in names)

    # What a fixture takes for the type of a scalar is asked of the program before it runs.
    fixture = project.folder / "fixtures/axpy_custom/fixture.json"
    document = json.loads(fixture.read_text())
    (scalar,) = [name for name, encoding in document["entries"]["axpy_custom"].items() if encoding == "float32"]
    document["entries"]["axpy_custom"][scalar] = "int32"
    fixture.write_text(json.dumps(document))
    misfit = project.run()
    assert f"'{scalar}' of axpy_custom is int32 in the fixture, and float32 in C++" in misfit.stdout
    assert misfit.returncode == 3
