"""Element types as numpy has them, and the encoding of single values."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, TypeVar

import ml_dtypes
import numpy as np

from skrules.contract.dtypes import DTYPES

Array = np.ndarray[Any, np.dtype[Any]]

_Wide = TypeVar("_Wide", np.float64, np.float32)

_BEYOND_NUMPY: Mapping[str, Any] = MappingProxyType(
    {
        "bfloat16": ml_dtypes.bfloat16,
        "float8_e4m3fn": ml_dtypes.float8_e4m3fn,
        "float8_e5m2": ml_dtypes.float8_e5m2,
    }
)

# Complex tensors have no kernels to compare yet, and no order to take a range from.
COMPARABLE = tuple(name for name in DTYPES if not name.startswith("complex"))

# rtol, atol: the defaults of torch.testing.assert_close; for 8-bit floats the distance of neighbours.
TOLERANCES: Mapping[str, tuple[float, float]] = MappingProxyType(
    {
        "float16": (1e-3, 1e-5),
        "bfloat16": (1.6e-2, 1e-5),
        "float32": (1.3e-6, 1e-5),
        "float64": (1e-7, 1e-7),
        "float8_e4m3fn": (0.125, 1e-5),
        "float8_e5m2": (0.25, 1e-5),
    }
)


def numpy_dtype(name: str) -> np.dtype[Any]:
    """Return the numpy type of one of `COMPARABLE`."""
    dtype: np.dtype[Any] = np.dtype(_BEYOND_NUMPY.get(name, name))
    return dtype


def number_dtype(spelled: str) -> np.dtype[Any] | None:
    """Return the numpy type of `str(array.dtype)`, None when it is no type of real numbers that can be compared."""
    if spelled in COMPARABLE:
        return numpy_dtype(spelled)
    try:
        dtype: np.dtype[Any] = np.dtype(spelled)
    except (TypeError, ValueError, SyntaxError):
        return None
    return dtype if dtype.kind in "biuf" else None


def is_float(name: str) -> bool:
    """Tell whether values of this dtype are floating point numbers."""
    return "float" in name


def limits(name: str) -> tuple[float, float] | tuple[int, int]:
    """Return the smallest and the largest finite value of a dtype."""
    if name == "bool":
        return 0, 1
    if is_float(name):
        float_info = ml_dtypes.finfo(numpy_dtype(name))  # type: ignore[no-untyped-call]
        return float(float_info.min), float(float_info.max)
    info = np.iinfo(numpy_dtype(name))
    return int(info.min), int(info.max)


def encode(name: str, value: float) -> bytes:
    """Return one value in little endian bytes.

    Raises ValueError, with the reason, when the dtype cannot hold the value: fractions, `true` or numbers out of range.
    """
    if name == "bool":
        if not isinstance(value, bool):
            raise ValueError("it must be true or false")
    elif isinstance(value, bool):
        raise ValueError(f"it must be a number, since it is {name}")
    elif is_float(name):
        low, high = limits(name)
        if value - value == 0 and not low <= value <= high:
            raise ValueError(f"{name} ends at {high:g}")
    else:
        low, high = limits(name)
        if not isinstance(value, int):
            raise ValueError(f"it must be a whole number, since it is {name}")
        if not low <= value <= high:
            raise ValueError(f"{name} goes from {low} to {high}")
    if is_float(name):
        return little_endian(np.array([_on_no_tie(name, value)]).astype(numpy_dtype(name)))
    return little_endian(np.array([value], dtype=name))


def _on_no_tie(name: str, value: float) -> np.float64 | np.float32:
    """Return a wider float that rounds to the dtype `name` as `value` itself does, so that it is rounded once.

    A double cannot hold all ints, and the floats that numpy does not have are made of float32. Where these are inexact,
    their last bit is set to 1 (round to odd): that is enough to keep the value off a tie it is not on.
    """
    if name == "float64":
        return np.float64(value)
    wide = _round_to_odd(np.float64(value), value)
    return _round_to_odd(np.float32(wide), float(wide)) if name in _BEYOND_NUMPY else wide


def _round_to_odd(nearest: _Wide, value: float) -> _Wide:
    # Python compares ints and floats exactly, whatever their size.
    back = float(nearest)
    if back == value or back - back != 0:
        return nearest
    inner = np.nextafter(nearest, type(nearest)(0)) if abs(back) > abs(value) else nearest
    bits = np.array([inner]).view(f"u{nearest.itemsize}") | 1
    odd: _Wide = bits.view(nearest.dtype)[0]
    return odd


def little_endian(array: Array) -> bytes:
    """Return the elements as the device has them, in C order."""
    fixed = array.astype(array.dtype.newbyteorder("<")) if array.dtype.byteorder == ">" else array
    return np.ascontiguousarray(fixed).tobytes()
