"""The emulated ACL as Python calls it: the library that the device and the modules of operators share.

What these functions choose is chosen for the calling thread, and what torch chooses is seen here.
"""

from __future__ import annotations

import ctypes
import functools
import os
from pathlib import Path
from typing import Any

from skrules.errors import ToolchainError
from skrules.toolchain.host_runtime import LIBRARY

# aclrtDevAttr, as in CANN's acl_rt.h.
AICORE_CORE_NUM = 101
VECTOR_CORE_NUM = 201
NPU_ARCH = 601

# What this package and the compiled half need of it.
_NEEDED = ("skrules_host_current_stream", "skrules_host_submit", "skrules_host_sk_report")
_TEXT = ("aclGetRecentErrMsg", "aclrtGetSocName", "skrules_host_sk_report")
_HANDLE = ("skrules_host_current_stream", "skrules_host_default_stream")


def check_loaded() -> None:
    """Refuse an emulated device that this process has loaded already, with a module of another version of skrules.

    A process has one, whoever loads it first: kernels, tensors and streams must be of the same.
    """
    try:
        loaded = ctypes.CDLL(LIBRARY, mode=os.RTLD_NOLOAD | os.RTLD_LAZY)
    except OSError:
        return
    if not all(hasattr(loaded, name) for name in _NEEDED):
        raise ToolchainError(
            "a module that was loaded before brought an emulated device of another version",
            hint="import skrules.hostnpu before modules of operators, or build them again with this version of skrules",
        )


def bring(folder: Path) -> None:
    """Load the library of `folder`, unless the process has one already.

    Raises ToolchainError when the environment describes no device: SKRULES_HOST_ARCH, SKRULES_HOST_DEVICES.
    """
    try:
        ctypes.CDLL(LIBRARY, mode=os.RTLD_NOLOAD | os.RTLD_LAZY)
    except OSError:
        ctypes.CDLL(str(folder / LIBRARY))  # by its path; it is found by name from now on
    try:
        device_info(0, NPU_ARCH)
    except RuntimeError as error:
        raise ToolchainError(f"there is no npu device to emulate: {error}") from error


@functools.cache
def library() -> ctypes.CDLL:
    """Return the library that the process has, see `bring`."""
    loaded = ctypes.CDLL(LIBRARY)
    for name in _TEXT:
        getattr(loaded, name).restype = ctypes.c_char_p
    for name in _HANDLE:
        getattr(loaded, name).restype = ctypes.c_void_p
    return loaded


def call(name: str, *arguments: Any) -> None:
    """Call a function that returns an aclError. Raises RuntimeError with the reason that the runtime gives."""
    code = getattr(library(), name)(*arguments)
    if code:
        raise RuntimeError(f"{recent_error() or name} (error {code})")


def recent_error() -> str:
    """Return why the last call or launch of this thread failed, or ""."""
    return (library().aclGetRecentErrMsg() or b"").decode(errors="replace")


def current_stream(device: int) -> ctypes.c_void_p:
    """Return the handle of the stream that this thread has chosen for a device."""
    handle = library().skrules_host_current_stream(device)
    if not handle:
        raise RuntimeError(recent_error())
    return ctypes.c_void_p(handle)


def device_info(device: int, attribute: int) -> int:
    """Return a number of `aclrtGetDeviceInfo`; `attribute` is an aclrtDevAttr."""
    value = ctypes.c_int64()
    call("aclrtGetDeviceInfo", ctypes.c_uint32(device), attribute, ctypes.byref(value))
    return value.value
