"""What `import skrules.hostnpu` does, in order: refuse where it cannot be, compile, register, say so."""

from __future__ import annotations

import importlib
import os
import sys

from skrules.binding.detect import find_torch
from skrules.errors import ToolchainError
from skrules.hostnpu import acl, library

_BACKEND = "npu"
_UNNAMED = "privateuseone"  # torch's word for a PrivateUse1 that nobody has taken


def activate() -> None:
    """Make the device known to torch. Raises ToolchainError or BuildError, and torch is then as it was."""
    _refuse_torch_npu()
    found = find_torch()
    if found is None:
        raise ToolchainError("skrules.hostnpu needs torch, and there is none", hint="pip install torch==2.13.0")
    torch = importlib.import_module("torch")
    _require_room(torch._C._get_privateuse1_backend_name())
    acl.check_loaded()
    folder = library.provide(found, os.environ)
    acl.bring(folder)
    torch.utils.rename_privateuse1_backend(_BACKEND)
    torch.ops.load_library(folder / library.NAME)
    importlib.import_module("skrules.hostnpu.scopes").define()
    module = importlib.import_module("skrules.hostnpu.npu")
    torch._register_device_module(_BACKEND, module)
    torch.utils.generate_methods_for_privateuse1_backend()
    print(
        f"skrules.hostnpu: {module.device_count()} npu devices are emulated on the CPU ({module.get_device_name()}); "
        "results are not device results",
        file=sys.stderr,
    )


def _require_room(backend: str) -> None:
    """Refuse beside another PrivateUse1 device; `backend` is its name. Importing torch may have brought torch_npu along."""
    _refuse_torch_npu()
    if backend != _UNNAMED:
        raise ToolchainError(f"torch has a PrivateUse1 device already: '{backend}'", hint="there is room for one in a process")


def _refuse_torch_npu() -> None:
    if "torch_npu" in sys.modules:
        raise ToolchainError(
            "torch_npu is loaded: the emulated npu cannot be beside a real one",
            hint="set TORCH_DEVICE_BACKEND_AUTOLOAD=0, so that `import torch` does not load it, or leave out skrules.hostnpu",
        )
