"""Memory of `torch.npu`, in bytes. Nothing is cached: what is reserved is what tensors and captured graphs hold."""

from __future__ import annotations

from typing import Any

import torch

from skrules.hostnpu.devices import Device, get_device_properties, index_of


def memory_stats(device: Device = None) -> dict[str, Any]:
    """Return torch.accelerator's statistics of a device, such as "allocated_bytes.all.current"."""
    return dict(torch.accelerator.memory_stats(index_of(device)))


def memory_allocated(device: Device = None) -> int:
    return int(torch.accelerator.memory_allocated(index_of(device)))


def max_memory_allocated(device: Device = None) -> int:
    return int(torch.accelerator.max_memory_allocated(index_of(device)))


def memory_reserved(device: Device = None) -> int:
    return int(torch.accelerator.memory_reserved(index_of(device)))


def max_memory_reserved(device: Device = None) -> int:
    return int(torch.accelerator.max_memory_reserved(index_of(device)))


def reset_peak_memory_stats(device: Device = None) -> None:
    torch.accelerator.reset_peak_memory_stats(index_of(device))


def mem_get_info(device: Device = None) -> tuple[int, int]:
    """Return (free, total). All devices share the host's memory; free is what this device does not hold of it."""
    total = get_device_properties(device).total_memory
    return total - memory_allocated(device), total


def empty_cache() -> None:
    """Nothing to do: there is no cache."""
