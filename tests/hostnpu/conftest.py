"""The emulated npu in this process, and an operator's module that the host toolchain built."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def op_extension(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder to import from, with the package `op_extension` that has add_custom: z = x + y for halfs."""
    workspace = tmp_path_factory.mktemp("hostnpu")
    (workspace / "SConstruct").write_text('from skrules.scons import Workspace\n\nWorkspace(packages=["ops"])\n')
    for name in ("add_custom", "common"):
        shutil.copytree(ROOT / "ops" / name, workspace / "ops" / name)
    done = subprocess.run(
        [sys.executable, "-m", "SCons", "-Q", "ops/add_custom", "ARCH=dav-2201", "TOOLCHAIN=host"],
        cwd=workspace,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return workspace / "build" / "host"


@pytest.fixture(scope="session")
def operator(npu: ModuleType, op_extension: Path) -> ModuleType:  # noqa: ARG001 - the device is there before the module
    name = "add_custom_dav_2201"
    spec = importlib.util.spec_from_file_location(name, op_extension / "op_extension" / f"{name}.so")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
