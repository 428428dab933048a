"""`torch.npu`: the names that torch_npu's module of that name has, as far as they mean something on the emulated device.

Names and meanings are those of https://github.com/Ascend/pytorch (9e73e708), torch_npu/npu/__init__.py. What is missing here
raises AttributeError; nothing is a pretence.
"""

from __future__ import annotations

from skrules.hostnpu.devices import (
    DeviceProperties,
    can_device_access_peer,
    current_device,
    device,
    device_count,
    device_of,
    get_device_name,
    get_device_properties,
    get_soc_version,
    init,
    is_available,
    is_bf16_supported,
    is_initialized,
    set_device,
    synchronize,
)
from skrules.hostnpu.generators import (
    get_rng_state,
    get_rng_state_all,
    initial_seed,
    manual_seed,
    manual_seed_all,
    seed,
    seed_all,
    set_rng_state,
    set_rng_state_all,
)
from skrules.hostnpu.graphs import NPUGraph, graph, graph_pool_handle, is_current_stream_capturing
from skrules.hostnpu.memory import (
    empty_cache,
    max_memory_allocated,
    max_memory_reserved,
    mem_get_info,
    memory_allocated,
    memory_reserved,
    memory_stats,
    reset_peak_memory_stats,
)
from skrules.hostnpu.scopes import super_kernel_scope_begin, super_kernel_scope_end
from skrules.hostnpu.streams import Event, Stream, StreamContext, current_stream, default_stream, set_stream, stream

__all__ = [
    "DeviceProperties",
    "Event",
    "NPUGraph",
    "Stream",
    "StreamContext",
    "can_device_access_peer",
    "current_device",
    "current_stream",
    "default_stream",
    "device",
    "device_count",
    "device_of",
    "empty_cache",
    "get_device_name",
    "get_device_properties",
    "get_rng_state",
    "get_rng_state_all",
    "get_soc_version",
    "graph",
    "graph_pool_handle",
    "init",
    "initial_seed",
    "is_available",
    "is_bf16_supported",
    "is_current_stream_capturing",
    "is_initialized",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "max_memory_reserved",
    "mem_get_info",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "reset_peak_memory_stats",
    "seed",
    "seed_all",
    "set_device",
    "set_rng_state",
    "set_rng_state_all",
    "set_stream",
    "stream",
    "super_kernel_scope_begin",
    "super_kernel_scope_end",
    "synchronize",
]

# What tells this device from a real one: packages of the host toolchain load here, others do not.
__skrules_emulated__ = True


def _is_in_bad_fork() -> bool:
    # Asked by torch.manual_seed. Nothing of the emulation is lost by a fork: it has neither driver nor threads.
    return False


def _lazy_init() -> None:
    """Nothing to do: the device is there once it is imported."""
