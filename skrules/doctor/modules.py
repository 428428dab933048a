"""PyTorch and torch_npu, found without importing either."""

from __future__ import annotations

import shlex
import sys

from skrules.binding.detect import TorchInfo, find_torch
from skrules.binding.runtime import runtime_flags
from skrules.doctor.check import Check, Status
from skrules.errors import ToolchainError

_PIP = f"{shlex.quote(sys.executable)} -m pip install"
_WITHOUT = "kernels are built and compared, Python modules are not"


def look_at_torch() -> tuple[Check, TorchInfo | None]:
    """Return the check of PyTorch, and PyTorch where modules can be built for it."""
    try:
        torch = find_torch()
    except ToolchainError as error:
        command = f"{_PIP} --force-reinstall torch"
        return Check(name="PyTorch", status=Status.BROKEN, found=error.message, meaning=_WITHOUT, command=command), None
    if torch is None:
        found = "not in this Python"
        return Check(name="PyTorch", status=Status.MISSING, found=found, meaning=_WITHOUT, command=f"{_PIP} torch"), None
    details = {
        "version": torch.version,
        "root": str(torch.root),
        "standard": torch.standard,
        "cxx11_abi": torch.cxx11_abi,
    }
    return Check(name="PyTorch", status=Status.OK, found=f"{torch.version}, {torch.root}", details=details), torch


def look_at_torch_npu(torch: TorchInfo | None, *, is_needed: bool) -> Check:
    """Return the check of torch_npu. Modules for an NPU need it; those of the host toolchain never use it."""
    name = "torch_npu"
    without = "there are no Python modules for an NPU; those for the emulated device do not use it"
    version = torch.version.partition("+")[0] if torch else ""
    command = f"{_PIP} {shlex.quote(f'torch-npu=={version}.*')}" if version else f"{_PIP} torch-npu"
    if torch is None or torch.npu is None:
        status = Status.BROKEN if is_needed and torch else Status.MISSING
        # Beside emulated modules it is in the way: nobody is told to get it who builds for no device.
        return Check(name=name, status=status, found="not in this Python", meaning=without, command=command if is_needed else "")
    npu = torch.npu
    details = {"version": npu.version, "root": str(npu.root)}
    found = f"{npu.version}, {npu.root}"
    try:
        runtime_flags(torch, "bisheng")
    except ToolchainError as error:
        meaning = f"{error.message}: {without}"
        return Check(name=name, status=Status.BROKEN, found=found, meaning=meaning, command=command, details=details)
    return Check(name=name, status=Status.OK, found=found, details=details)
