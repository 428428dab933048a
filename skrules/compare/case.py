"""A case: what an operator is run on, checked and complete."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from skrules.contract.dtypes import DTYPES
from skrules.errors import Location


@dataclass(frozen=True, slots=True, kw_only=True)
class Tolerance:
    """A value is right within atol + rtol * |reference|."""

    rtol: float = 0.0
    atol: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorCase:
    """One tensor of a case. `fill` is random, zeros, ones, arange, constant, data or sentinel (a byte that differs between
    the two runs); `low` and `high` bound random values, `high` excluded; `data` has all elements in little endian."""

    shape: tuple[int, ...]
    dtype: str
    fill: str = "random"
    constant: float = 0
    low: float = 0
    high: float = 0
    data: bytes = b""

    @property
    def elements(self) -> int:
        return math.prod(self.shape)

    @property
    def bytes(self) -> int:
        return self.elements * DTYPES[self.dtype]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One run. `tensors` has None for a nullable tensor that is not given; `lists` are tensor lists, `scalars` values and
    `structs` bytes.

    `blocks` 0: all cores. `super_kernel_blocks` 0: the comparison chooses. `tolerance` None: exact for whole numbers,
    `numbers.TOLERANCES` for others. `partial`: the kernel need not write every element.
    """

    name: str
    entry: str
    blocks: int = 0
    super_kernel_blocks: int = 0
    seed: int = 0
    tolerance: Tolerance | None = None
    partial: bool = False
    tensors: Mapping[str, TensorCase | None]
    scalars: Mapping[str, bool | int | float]
    structs: Mapping[str, bytes]
    lists: Mapping[str, tuple[TensorCase, ...]] = field(default_factory=dict)
    at: Location

    def all_tensors(self) -> dict[str, TensorCase]:
        """Return every tensor that is given by its label: "x", or "xs[2]" for one of a list."""
        given = {name: tensor for name, tensor in self.tensors.items() if tensor is not None}
        return given | {label_of(name, index): item for name, items in self.lists.items() for index, item in enumerate(items)}


def label_of(name: str, index: int) -> str:
    """Return what an item of a tensor list is called in messages and file names."""
    return f"{name}[{index}]"
