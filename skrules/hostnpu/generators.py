"""Random numbers of `torch.npu`. Every device has a generator of its own; with the same seed it draws what the CPU's draws."""

from __future__ import annotations

from collections.abc import Iterable

import torch

from skrules.hostnpu.devices import Device, current_device, device_count, index_of


def get_rng_state(device: Device = "npu") -> torch.Tensor:
    """Return the state of a device's generator, a ByteTensor of the CPU."""
    return torch.ops.skrules_hostnpu.rng_state(index_of(device))


def set_rng_state(new_state: torch.Tensor, device: Device = "npu") -> None:
    torch.ops.skrules_hostnpu.set_rng_state(index_of(device), new_state)


def get_rng_state_all() -> list[torch.Tensor]:
    return [get_rng_state(index) for index in range(device_count())]


def set_rng_state_all(new_states: Iterable[torch.Tensor]) -> None:
    for index, state in enumerate(new_states):
        set_rng_state(state, index)


def manual_seed(seed: int) -> None:
    """Seed the generator of the current device."""
    _seed(current_device(), seed)


def manual_seed_all(seed: int) -> None:
    for index in range(device_count()):
        _seed(index, seed)


def seed() -> None:
    """Seed the generator of the current device with a number that is new every time."""
    manual_seed(_fresh())


def seed_all() -> None:
    manual_seed_all(_fresh())


def initial_seed() -> int:
    """Return the seed of the current device's generator."""
    return int(torch.ops.skrules_hostnpu.initial_seed(current_device())) % (1 << 64)


def _seed(device: int, seed: int) -> None:
    # Seeds are 64 bits, with or without a sign; the operator takes them with one.
    bits = int(seed) % (1 << 64)
    torch.ops.skrules_hostnpu.manual_seed(device, bits - (1 << 64) if bits >> 63 else bits)


def _fresh() -> int:
    return int(torch.Generator().seed())
