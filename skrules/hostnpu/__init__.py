"""The PrivateUse1 device "npu" of torch on the CPU: `import skrules.hostnpu` makes it there, as `torch_npu` does on an NPU.

Tensors at `npu:0` lie in the memory of the host toolchain's emulated device, `torch.npu` has the names of torch_npu's module of
that name, and operators of torch are carried out by the CPU. Modules that the host toolchain built launch on the current device
and stream. Nothing of it is a device result; importing says so once, on stderr.

The first import compiles for half a minute and keeps what it made in the user's cache. Nothing else in skrules imports this.

Raises ToolchainError without torch, without a C++ compiler, or beside a real torch_npu; BuildError where it does not compile.
"""

from __future__ import annotations

from skrules.hostnpu.activation import activate
from skrules.hostnpu.report import ReportedKernel, report

__all__ = ["ReportedKernel", "report"]

activate()
