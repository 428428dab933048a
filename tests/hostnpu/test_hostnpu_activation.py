"""`import skrules.hostnpu` in processes of its own: what it says, where it refuses, and who does without it."""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from skrules import resources

pytestmark = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="no torch in this environment")

ROOT = Path(__file__).parents[2]


def run(text: str, cwd: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
    every: Mapping[str, str] = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    return subprocess.run([sys.executable, "-c", text], cwd=cwd, env=every, capture_output=True, text=True, check=False)


def refusal(text: str, **environment: str) -> str:
    done = run(text, **environment)
    assert done.returncode == 1 and "Traceback" in done.stderr
    return done.stderr.rsplit("skrules.errors.ToolchainError: ", 1)[1]


@pytest.mark.usefixtures("npu")  # compiled, if need be
def test_it_says_once_that_nothing_is_a_device_result() -> None:
    done = run("import skrules.hostnpu, torch, importlib; import skrules.hostnpu; importlib.import_module('torch.npu')")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == (
        "skrules.hostnpu: 2 npu devices are emulated on the CPU (skrules-host-dav-2201); results are not device results\n"
    )
    assert "3 npu devices" in run("import skrules.hostnpu", SKRULES_HOST_DEVICES="3").stderr


def test_not_beside_a_real_torch_npu() -> None:
    said = refusal("import sys, types; sys.modules['torch_npu'] = types.ModuleType('torch_npu'); import skrules.hostnpu")
    assert said.startswith("error: torch_npu is loaded: the emulated npu cannot be beside a real one\n")
    assert "TORCH_DEVICE_BACKEND_AUTOLOAD=0" in said


def test_not_beside_another_device() -> None:
    said = refusal("import torch; torch.utils.rename_privateuse1_backend('other'); import skrules.hostnpu")
    assert said.startswith("error: torch has a PrivateUse1 device already: 'other'\n")


@pytest.mark.usefixtures("npu")
def test_a_real_torch_npu_is_told_by_torch() -> None:
    done = run("import skrules.hostnpu, torch; torch._register_device_module('npu', torch)")
    assert "The runtime module of 'npu' has already been registered" in done.stderr


@pytest.mark.usefixtures("npu")
@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("ARCH", "42", "SKRULES_HOST_ARCH=42 is not in the arch table"),
        ("DEVICES", "0", "SKRULES_HOST_DEVICES=0 is none of 1..16"),
    ],
)
def test_an_environment_that_describes_no_device(name: str, value: str, reason: str) -> None:
    said = refusal("import skrules.hostnpu", **{f"SKRULES_HOST_{name}": value})
    assert said == f"error: there is no npu device to emulate: aclrtGetDeviceInfo: {reason} (error 107001)\n"


def test_no_compiler(tmp_path: Path) -> None:
    said = refusal("import skrules.hostnpu", CXX="/nowhere/g++", SKRULES_CACHE=str(tmp_path))
    assert said.startswith("error: CXX is set to '/nowhere/g++', which is no C++ compiler that runs\n")


def test_no_torch(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import importlib.util as util\n"
        "find = util.find_spec\n"
        "util.find_spec = lambda name, package=None: None if name == 'torch' else find(name, package)\n"
    )
    said = refusal("import skrules.hostnpu", PYTHONPATH=os.pathsep.join((str(ROOT), str(tmp_path))))
    assert said.startswith("error: skrules.hostnpu needs torch, and there is none\n")


def test_an_emulated_device_of_another_version(tmp_path: Path) -> None:
    if shutil.which("g++") is None:
        pytest.skip("no g++ to compile a library with")
    library = tmp_path / "libskrules_host.so"
    subprocess.run(["g++", "-shared", "-x", "c++", "/dev/null", f"-Wl,-soname,{library.name}", "-o", library], check=True)
    said = refusal(f"import ctypes; old = ctypes.CDLL({str(library)!r}); import skrules.hostnpu")
    assert said.startswith("error: a module that was loaded before brought an emulated device of another version\n")


def test_nothing_in_skrules_imports_it() -> None:
    package = resources.package()
    for file in package.rglob("*.py"):
        if package / "hostnpu" in file.parents:
            continue
        for node in ast.walk(ast.parse(file.read_text())):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            assert not any(name.startswith("skrules.hostnpu") for name in names), file


def test_the_example_of_the_page_runs(op_extension: Path, tmp_path: Path) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "hostnpu.md").read_text(), re.S)
    done = run(example, cwd=tmp_path, PYTHONPATH=os.pathsep.join((str(ROOT), str(op_extension))))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "tensor([3., 3., 3., 3.], device='npu:1', dtype=torch.float16)",
        "add_custom sk_0_model",
        "add_custom sk_0_model",
        "tensor([5., 5., 5., 5.], device='npu:1', dtype=torch.float16)",
    ]
