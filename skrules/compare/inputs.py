"""What tensors hold before a run. The same for the same seed, entry, case and tensor, in whatever order they are made."""

from __future__ import annotations

import hashlib
import json

import numpy as np

from skrules.compare import numbers
from skrules.compare.case import Case, TensorCase
from skrules.compare.numbers import Array

# The largest n such that 0 .. n are all exact in the dtype: 2 to the number of its significand bits.
_EXACT = {"float16": 2048, "bfloat16": 256, "float32": 1 << 24, "float64": 1 << 53, "float8_e4m3fn": 16, "float8_e5m2": 8}


def make_inputs(case: Case) -> dict[str, Array]:
    """Return the initial content of every tensor of a case that has one, by label: all but nulls and sentinels."""
    return {name: make_tensor(case, name, tensor) for name, tensor in case.all_tensors().items() if tensor.fill != "sentinel"}


def make_tensor(case: Case, name: str, tensor: TensorCase) -> Array:
    """Return the content of the tensor with the label `name`, of its shape and dtype."""
    dtype = numbers.numpy_dtype(tensor.dtype)
    if tensor.fill == "random":
        return _random(case, name, tensor)
    if tensor.fill == "data":
        return np.frombuffer(tensor.data, dtype=dtype.newbyteorder("<")).astype(dtype).reshape(tensor.shape)
    if tensor.fill == "arange":
        # Counts up and starts over where the dtype cannot hold the next number exactly.
        period = _EXACT.get(tensor.dtype) or int(numbers.limits(tensor.dtype)[1]) + 1
        count = np.arange(tensor.elements, dtype=np.uint64) % np.uint64(min(period, 1 << 63))
        return count.astype(dtype).reshape(tensor.shape)
    value = {"zeros": 0, "ones": 1}.get(tensor.fill, tensor.constant)
    return (
        np.full(tensor.shape, value).astype(dtype)
        if numbers.is_float(tensor.dtype)
        else np.full(tensor.shape, value, dtype=dtype)
    )


def _random(case: Case, name: str, tensor: TensorCase) -> Array:
    source = json.dumps([case.seed, case.entry, case.name, name]).encode()
    generator = np.random.Generator(np.random.PCG64(int.from_bytes(hashlib.sha256(source).digest(), "big")))
    dtype = numbers.numpy_dtype(tensor.dtype)
    if numbers.is_float(tensor.dtype):
        # Weighing the ends keeps ranges as wide as the dtype itself from overflowing.
        part = generator.random(tensor.shape)
        return np.asarray(tensor.low * (1 - part) + tensor.high * part).astype(dtype)
    if tensor.dtype == "bool":
        return np.asarray(generator.integers(int(tensor.low), int(tensor.high), size=tensor.shape)).astype(dtype)
    return np.asarray(generator.integers(int(tensor.low), int(tensor.high), size=tensor.shape, dtype=dtype.type))
