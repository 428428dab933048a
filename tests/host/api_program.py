"""C++ programs of device API kernels, compiled once a test module and called with numpy arrays."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np

SOURCES = Path(__file__).parent / "api"


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


class Runtime(Protocol):
    """The fixture `host_runtime`."""

    library: Path

    def compiled(self, source: Path, *more: str): ...


class Program:
    """One compiled source of tests/host/api for one arch."""

    def __init__(self, runtime: Runtime, source: str, arch: int) -> None:
        output = runtime.library.parent / f"{Path(source).stem}_{arch}.so"
        options = ("-shared", "-fPIC", "-O1", f"-D__NPU_ARCH__={arch}", str(runtime.library), "-o", str(output))
        result = runtime.compiled(SOURCES / source, *options)
        assert result.returncode == 0, result.stderr
        ctypes.CDLL(str(runtime.library))  # of its name there is one in a process, which others may have loaded
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
