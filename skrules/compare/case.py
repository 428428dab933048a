"""A case: what an operator is run on, checked and complete."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from skrules.contract.dtypes import DTYPES
from skrules.errors import Location


@dataclass(frozen=True, slots=True, kw_only=True)
class Tolerance:
    """A value is right within atol + rtol * |reference|."""

    rtol: float = 0.0
    atol: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorCase:
    """One tensor of a case. `fill` is random, zeros, ones, arange, constant or sentinel (a byte that differs between the
    two runs); `low` and `high` bound random values, `high` excluded."""

    shape: tuple[int, ...]
    dtype: str
    fill: str = "random"
    constant: float = 0
    low: float = 0
    high: float = 0

    @property
    def elements(self) -> int:
        return math.prod(self.shape)

    @property
    def bytes(self) -> int:
        return self.elements * DTYPES[self.dtype]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One run. `tensors` has None for a nullable tensor that is not given; `scalars` are values, `structs` bytes.

    `blocks` 0: all cores. `tolerance` None: exact for whole numbers, `numbers.TOLERANCES` for others.
    `partial`: the kernel need not write every element.
    """

    name: str
    entry: str
    blocks: int = 0
    seed: int = 0
    tolerance: Tolerance | None = None
    partial: bool = False
    tensors: Mapping[str, TensorCase | None]
    scalars: Mapping[str, bool | int | float]
    structs: Mapping[str, bytes]
    at: Location
