"""Whether Python modules can be built, and if not, why: said once, with what to do."""

from __future__ import annotations

from skrules.binding.detect import TorchInfo, find_torch
from skrules.binding.runtime import runtime_flags
from skrules.errors import ToolchainError
from skrules.toolchain.base import Toolchain

_LEFT_OUT = "kernels are built and compared, Python modules are not"


def usable_torch(toolchain: Toolchain) -> tuple[TorchInfo | None, str]:
    """Return the torch that modules are built for, or None and the line that says what is left out."""
    torch = find_torch()
    if torch is None:
        return None, f"no PyTorch in this Python: {_LEFT_OUT}; pip install torch"
    try:
        runtime_flags(torch, toolchain.name)
    except ToolchainError as error:
        return None, f"{error.message}: {_LEFT_OUT}; {error.hint}"
    return torch, ""
