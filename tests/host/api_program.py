"""C++ programs of device API kernels, compiled once a test module and called with numpy arrays."""

from __future__ import annotations

import ctypes
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from skrules.engine.action import Action
from skrules.toolchain import hostcc
from skrules.toolchain.host import HostToolchain

SOURCES = Path(__file__).parent / "api"
needs_compiler = pytest.mark.skipif(not shutil.which("g++"), reason="no g++")


class Options(ctypes.Structure):
    """Mirrors `Options` of api/harness.h."""

    _fields_ = [
        *((name, ctypes.c_int32) for name in ("op", "form", "count", "repeats", "mode", "extra")),
        ("scalar", ctypes.c_float),
        *((name, ctypes.c_int32) for name in ("m", "n", "k")),
        ("mask", ctypes.c_uint64 * 2),
    ]


class LaunchError(Exception):
    """The launch failed; the text is the runtime's."""


class Program:
    """One compiled source of tests/host/api for one arch."""

    def __init__(self, source: str, arch: str, factory: pytest.TempPathFactory) -> None:
        # One place a session: a process must not load two copies of the runtime library.
        folder = factory.getbasetemp() / "api"
        library = _runtime_library(folder)
        output = folder / f"{Path(source).stem}_{arch}.so"
        driver = hostcc.Driver(_toolchain().environment())
        driver.run(["-shared", "-fPIC", "-O1", f"--npu-arch={arch}", str(SOURCES / source), str(library), "-o", str(output)])
        ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)
        self._library = ctypes.CDLL(str(output))
        self._library.lastError.restype = ctypes.c_char_p

    def run(self, kernel: str, *arrays: np.ndarray, blocks: int = 1, mask: Sequence[int] = (0, 0), **options: float) -> None:
        """Launch `kernel` on up to four arrays, which then hold what the device buffers hold. Raises LaunchError."""
        given = [*arrays, *(np.empty(0, np.uint8) for _ in range(4 - len(arrays)))]
        assert all(array.flags.c_contiguous for array in given)
        addresses = (ctypes.c_void_p * 4)(*(array.ctypes.data for array in given))
        sizes = (ctypes.c_size_t * 4)(*(array.nbytes for array in given))
        packed = Options(mask=(ctypes.c_uint64 * 2)(*mask), **options)
        error = self._library.runKernel(kernel.encode(), blocks, addresses, sizes, ctypes.byref(packed))
        assert error != -1, f"no kernel {kernel}"
        if error:
            raise LaunchError((self._library.lastError() or b"").decode())


def _toolchain() -> HostToolchain:
    return HostToolchain(environ=os.environ, why="tests")


def _runtime_library(folder: Path) -> Path:
    (action,) = _toolchain().support((), "build")
    assert isinstance(action, Action) and callable(action.run)
    action.run(folder)
    return folder / action.outputs[0]
