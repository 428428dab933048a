"""The real headers of torch and torch_npu, which carries those of the ACL: fetched by name, compiled against and not linked.

torch's headers take half a minute of a CPU for each file, so these tests run only when they are asked for: -m npu_headers.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from skrules import resources
from skrules.binding.detect import TorchInfo, TorchNpuInfo, find_torch
from skrules.binding.runtime import RuntimeFlags, runtime_flags
from skrules.toolchain import cache, cxx
from skrules.toolchain.arch_header import arch_include
from skrules.toolchain.launch_syntax import rewrite_launches

MARKER = "npu_headers"
ARCH = 2201
_WANTED = "torch_npu/include/"
_FETCH_S = 600
_COMPILE_S = 900


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    asked = re.search(rf"(?<!not )\b{MARKER}\b", config.getoption("-m") or "")
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(MARKER)
            if not asked:
                item.add_marker(pytest.mark.skip(reason=f"minutes of torch's headers; run them with -m {MARKER}"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Real:
    """A torch with its torch_npu, and the flags that a module for an NPU is compiled with."""

    torch: TorchInfo
    flags: RuntimeFlags
    work: Path

    def accepts(self, source: Path, *options: str, includes: Sequence[Path] = ()) -> None:
        """Fail with what the compiler says when it does not accept a C++ file; `includes` go before the real headers."""
        self._compile(["-fsyntax-only", "-x", "c++", *options], source, includes)

    def precompile(self, header: Path) -> None:
        """Compile a header to what g++ takes in its place by itself, where the options are the same."""
        self._compile(["-x", "c++-header", "-o", f"{header}.gch"], header, ())

    def _compile(self, options: Sequence[str], source: Path, includes: Sequence[Path]) -> None:
        words = [*(f"-I{path}" for path in includes), *(f"-I{path}" for path in self.flags.include_dirs)]
        flags = [*self.flags.options, *(f"-D{word}" for word in self.flags.defines)]
        # Whoever else works on the machine goes first: this is long, and nobody waits for it.
        command = ["nice", "-n", "10", *cxx.find_compiler(os.environ).command, *flags, *options, *words, str(source)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=_COMPILE_S, check=False)
        assert done.returncode == 0, "\n".join(done.stderr.splitlines()[:60])


@pytest.fixture(scope="session")
def real(tmp_path_factory: pytest.TempPathFactory) -> Real:
    torch = find_torch()
    if torch is None:
        pytest.skip("there is no torch in this environment")
    release = torch.version.partition("+")[0]
    folder = cache.root(os.environ) / "torch-npu-headers" / f"{release}-{torch.python_version}"
    npu = TorchNpuInfo(version=release, root=folder / "torch_npu")
    if not npu.root.is_dir():
        _fetch(release, folder)
    torch = replace(torch, npu=npu)
    return Real(torch=torch, flags=runtime_flags(torch, "bisheng"), work=tmp_path_factory.mktemp("npu-headers"))


def _fetch(release: str, folder: Path) -> None:
    """Unpack the headers of the torch-npu wheel of a release as `folder`, whole or not at all."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest", scratch]
        try:
            done = subprocess.run(
                [*command, f"torch-npu=={release}"], capture_output=True, text=True, timeout=_FETCH_S, check=False
            )
        except subprocess.TimeoutExpired:
            pytest.skip(f"torch-npu {release} cannot be fetched within {_FETCH_S} s")
        wheels = list(Path(scratch).glob("*.whl"))
        if done.returncode or not wheels:
            said = done.stderr.strip().splitlines()[-1:] or ["pip said nothing"]
            pytest.skip(f"torch-npu {release} cannot be fetched: {said[0]}")
        headers = Path(scratch) / "headers"
        with zipfile.ZipFile(wheels[0]) as wheel:
            wheel.extractall(headers, [name for name in wheel.namelist() if name.startswith(_WANTED)])
        with contextlib.suppress(OSError):  # another run may have been faster
            headers.rename(folder)


@pytest.fixture(scope="session")
def accepts_ascendc(real: Real) -> Callable[..., None]:
    """Compile AscendC against the real headers: its host code sees theirs, its device code those of the emulation.

    Launches are written as the host toolchain writes them; the emulation's ACL is out of the way.
    """
    device = real.work / "device"
    device.mkdir()
    host = resources.toolchains() / "host" / "include"
    for each in host.iterdir():
        if each.name not in ("acl", "super_kernel"):
            (device / each.name).symlink_to(each)
    # The toolkit has this header in a folder of its own.
    (device / "super_kernel").mkdir()
    (device / "super_kernel" / "super_kernel.h").write_text('#pragma once\n#include "acl/super_kernel.h"\n')
    table = arch_include(cache.Cache(cache.root(os.environ)), real.work)

    def check(source: Path, *options: str, includes: Sequence[Path] = ()) -> None:
        text = real.work / f"{source.stem}.{len(list(real.work.iterdir()))}.cpp"
        text.write_bytes(rewrite_launches(source.read_bytes(), str(source), ARCH))
        words = ("-iquote", str(source.parent), f"-D__NPU_ARCH__={ARCH}", *options)
        real.accepts(text, *words, includes=(*includes, device, table))

    return check
