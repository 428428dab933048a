"""The emulated device's runtime, built once per machine and content, and small C++ programs linked with it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from skrules import resources
from skrules.toolchain import cache, cxx
from skrules.toolchain.arch_header import arch_include
from skrules.toolchain.host import HostToolchain

PROGRAMS = Path(__file__).parent / "runtime"


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """Where the library is, and the compiler command that finds its headers."""

    library: Path
    compile: tuple[str, ...]

    def compiled(self, source: Path, *more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*self.compile, str(source), *more], capture_output=True, text=True, timeout=300, check=False)


@pytest.fixture(scope="session")
def host_runtime(tmp_path_factory: pytest.TempPathFactory) -> Runtime:
    workspace = tmp_path_factory.mktemp("host-runtime")
    toolchain = HostToolchain(environ=os.environ, why="tests")
    (action,) = toolchain.support((), "build")
    assert action.run is not None
    action.run(workspace)
    library = workspace / action.outputs[0]
    archs = arch_include(cache.Cache(cache.root(os.environ)), workspace)
    includes = (resources.toolchains() / "host" / "include", archs, PROGRAMS)
    command = (
        *cxx.find_compiler(os.environ).command,
        "-std=c++17",
        "-Wall",
        "-Wextra",
        "-Werror",
        *(f"-I{path}" for path in includes),
    )
    return Runtime(library=library, compile=command)


@pytest.fixture(scope="session")
def program(host_runtime: Runtime, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Compile `runtime/<name>.cpp`, once per session."""
    folder = tmp_path_factory.mktemp("programs")

    def build(name: str) -> Path:
        binary = folder / name
        if not binary.exists():
            link = ("-pthread", "-o", str(binary), str(host_runtime.library), f"-Wl,-rpath,{host_runtime.library.parent}")
            result = host_runtime.compiled(PROGRAMS / f"{name}.cpp", "-O1", *link)
            assert result.returncode == 0, result.stderr
        return binary

    return build


@pytest.fixture
def run(program: Callable[[str], Path]) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run a program; the environment is this process's without SKRULES_HOST_*, and `env`."""

    def call(name: str, *arguments: str, env: Mapping[str, str] = {}) -> subprocess.CompletedProcess[str]:
        clean = {key: value for key, value in os.environ.items() if not key.startswith("SKRULES_HOST_")}
        return subprocess.run(
            [str(program(name)), *arguments], env={**clean, **env}, capture_output=True, text=True, timeout=60, check=False
        )

    return call
