"""Devices of `torch.npu`: which there are, which one is current, and what they are.

`SKRULES_HOST_DEVICES` says how many (2 without it), `SKRULES_HOST_ARCH` of which arch, as for all of the host toolchain.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from types import TracebackType
from typing import TypeAlias

import torch

from skrules.arch import Arch
from skrules.arch_file import load_archs
from skrules.hostnpu import acl

Device: TypeAlias = torch.device | str | int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceProperties:
    """What torch_npu tells of a device and the emulation knows; `total_memory` in bytes, of the host."""

    name: str
    total_memory: int
    cube_core_num: int
    vector_core_num: int


def index_of(device: Device) -> int:
    """Return the index that a device, "npu:1" or 1 means; the current one for None and for "npu".

    Raises ValueError for a device of another kind, and RuntimeError for an index that there is not.
    """
    if device is None:
        return current_device()
    if isinstance(device, int):
        index = device
    else:
        wanted = torch.device(device)
        if wanted.type != "npu":
            raise ValueError(f"an npu device is expected, got {wanted}")
        index = current_device() if wanted.index is None else wanted.index
    if not 0 <= index < device_count():
        raise RuntimeError(f"npu:{index} is none of the {device_count()} devices; SKRULES_HOST_DEVICES says how many there are")
    return index


def is_available() -> bool:
    return device_count() > 0


def device_count() -> int:
    return int(torch._C._accelerator_hooks_device_count())


def current_device() -> int:
    """Return the index of this thread's device."""
    return int(torch.accelerator.current_device_index())


def set_device(device: Device) -> None:
    torch.accelerator.set_device_index(index_of(device))


def synchronize(device: Device = None) -> None:
    """Raise RuntimeError for the first launch on `device` that failed since it was last synchronised; all others have run."""
    torch.accelerator.synchronize(index_of(device))


class device:  # noqa: N801 - the name that torch_npu gives it
    """Context manager: another current device. A negative index leaves it, as in torch_npu."""

    def __init__(self, device: Device) -> None:
        self.index = -1 if device is None or (isinstance(device, int) and device < 0) else index_of(device)
        self.before = -1

    def __enter__(self) -> None:
        self.before = current_device()
        if self.index >= 0:
            set_device(self.index)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        set_device(self.before)


class device_of(device):  # noqa: N801
    """Context manager: the device of a tensor, or no change for a tensor that is on no npu."""

    def __init__(self, tensor: torch.Tensor) -> None:
        super().__init__(tensor.device.index if tensor.device.type == "npu" else -1)


def get_device_name(device: Device = None) -> str:
    """Return what `aclrtGetSocName` says: "skrules-host-dav-2201", which no chip is called. SKRULES_HOST_SOC overrides it."""
    index_of(device)
    return str(acl.library().aclrtGetSocName().decode())


def get_soc_version() -> int:
    """Return the number of the chip that is emulated, 220 for Ascend910B1; see `soc_versions` in `ascend.yaml`."""
    arch = emulated_arch()
    names = (arch.reference_chip.name, *arch.families)
    return next(number for name in names for number, chip in arch.soc_versions.items() if chip == name)


def emulated_arch() -> Arch:
    """Return the arch whose cores and memories the device has."""
    number = acl.device_info(current_device(), acl.NPU_ARCH)
    return load_archs().arch(f"dav-{number}")


def get_device_properties(device: Device = None) -> DeviceProperties:
    index = index_of(device)
    return DeviceProperties(
        name=get_device_name(index),
        total_memory=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        cube_core_num=acl.device_info(index, acl.AICORE_CORE_NUM),
        vector_core_num=acl.device_info(index, acl.VECTOR_CORE_NUM),
    )


def can_device_access_peer(device: Device, peer: Device) -> bool:
    """Return whether a kernel on `device` may touch memory of `peer`: only its own."""
    return index_of(device) == index_of(peer)


def is_bf16_supported() -> bool:
    return True


def is_initialized() -> bool:
    return True


def init() -> None:
    """Nothing to do: the device is there once it is imported."""
