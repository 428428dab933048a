"""Element types of tensors by their torch/numpy names, and the C++ spellings of scalars that have them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

# Bytes of one element. torch: https://docs.pytorch.org/docs/stable/tensor_attributes.html#torch-dtype
DTYPES: Mapping[str, int] = MappingProxyType(
    {
        "bool": 1,
        "int8": 1,
        "uint8": 1,
        "int16": 2,
        "uint16": 2,
        "int32": 4,
        "uint32": 4,
        "int64": 8,
        "uint64": 8,
        "float16": 2,
        "bfloat16": 2,
        "float32": 4,
        "float64": 8,
        "float8_e4m3fn": 1,
        "float8_e5m2": 1,
        "complex64": 8,
        "complex128": 16,
    }
)

# What people write instead; only for the hint of a message.
DTYPE_SYNONYMS: Mapping[str, str] = MappingProxyType(
    {
        "half": "float16",
        "fp16": "float16",
        "bf16": "bfloat16",
        "float": "float32",
        "fp32": "float32",
        "double": "float64",
        "fp64": "float64",
        "char": "int8",
        "byte": "uint8",
        "short": "int16",
        "int": "int32",
        "long": "int64",
    }
)

# LP64 and 8-bit char, as on every host and device that CANN supports. `half` and `bfloat16_t` are AscendC's.
SCALAR_TYPES: Mapping[str, str] = MappingProxyType(
    {
        "bool": "bool",
        "char": "int8",
        "int8_t": "int8",
        "uint8_t": "uint8",
        "int16_t": "int16",
        "uint16_t": "uint16",
        "char16_t": "uint16",
        "int32_t": "int32",
        "uint32_t": "uint32",
        "char32_t": "uint32",
        "uint": "uint32",
        "int64_t": "int64",
        "uint64_t": "uint64",
        "size_t": "uint64",
        "ssize_t": "int64",
        "ptrdiff_t": "int64",
        "intptr_t": "int64",
        "uintptr_t": "uint64",
        "half": "float16",
        "float16_t": "float16",
        "bfloat16_t": "bfloat16",
        "float": "float32",
        "float32_t": "float32",
        "double": "float64",
        "float64_t": "float64",
    }
)
