"""How two arrays differ: in numbers, within a tolerance, and bit for bit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skrules.compare import numbers
from skrules.compare.case import Tolerance
from skrules.compare.numbers import Array
from skrules.compare.plan import PLAIN_SENTINEL, SK_SENTINEL


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberDifference:
    """`run` ("plain" or "sk") against the reference. Errors are over pairs of finite values; a NaN is right where the
    reference has one, an infinity where it has the same. `index` None: nothing differs."""

    run: str
    elements: int
    mismatches: int
    max_abs_error: float
    max_rel_error: float
    rtol: float
    atol: float
    index: tuple[int, ...] | None = None
    expected: str = ""
    actual: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BitDifference:
    """The SK run against the plain run. `unwritten` elements hold the sentinel in both and count as neither.

    `padding` elements are masked in the reference: nobody need write them, and none of them is among the unwritten.
    """

    elements: int
    mismatches: int
    mismatching_bytes: int
    unwritten: int
    sk_unwritten: int = 0  # of the mismatches: written by the plain run only
    index: tuple[int, ...] | None = None
    plain: str = ""
    sk: str = ""
    unwritten_index: tuple[int, ...] | None = None
    padding: int = 0


def default_tolerance(dtype: str) -> Tolerance:
    """Return what is right when the case does not say: whole numbers exactly, others by `numbers.TOLERANCES`."""
    rtol, atol = numbers.TOLERANCES.get(dtype, (0.0, 0.0))
    return Tolerance(rtol=rtol, atol=atol)


def compare_numbers(
    actual: Array, expected: Array, dtype: str, tolerance: Tolerance, run: str, skip: Array | None = None
) -> NumberDifference:
    """Compare a run's output with the reference, which is first rounded to the output's `dtype`.

    `skip` marks elements that are not compared: nobody wrote them, or they are padding. Whole numbers are compared exactly
    unless there is a tolerance.
    """
    with np.errstate(all="ignore"):
        rounded = expected.astype(numbers.numpy_dtype(dtype))
        if dtype == "bool":  # as bytes: a kernel may leave others than 0 and 1
            actual, rounded = actual.view(np.uint8), rounded.view(np.uint8)
        left, right = actual.astype(np.float64), rounded.astype(np.float64)
        finite = np.isfinite(left) & np.isfinite(right)
        error = np.where(finite, np.abs(left - right), 0.0)
        size = np.where(finite, np.abs(right), 0.0)
        same = (actual == rounded) | (np.isnan(left) & np.isnan(right))
        relative = np.where(size > 0, error / np.where(size > 0, size, 1.0), 0.0)
        near = finite & (error <= tolerance.atol + tolerance.rtol * size)
    is_exact = tolerance.rtol == 0 and tolerance.atol == 0
    wrong = ~same if is_exact else ~(same | near)
    if skip is not None:
        wrong, error, relative = wrong & ~skip, np.where(skip, 0.0, error), np.where(skip, 0.0, relative)
    index = _first(wrong)
    return NumberDifference(
        run=run,
        elements=int(actual.size - (0 if skip is None else np.count_nonzero(skip))),
        mismatches=int(np.count_nonzero(wrong)),
        max_abs_error=float(error.max(initial=0.0)),
        max_rel_error=float(relative.max(initial=0.0)),
        rtol=tolerance.rtol,
        atol=tolerance.atol,
        index=index,
        expected="" if index is None else spell(rounded[index]),
        actual="" if index is None else spell(actual[index]),
    )


def unwritten_elements(plain: Array, sk: Array) -> Array:
    """Return a mask of the elements that still hold the sentinels in both runs."""
    untouched: Array = np.all(_bytes(plain) == PLAIN_SENTINEL, axis=-1) & np.all(_bytes(sk) == SK_SENTINEL, axis=-1)
    return untouched.reshape(plain.shape)


def compare_bits(plain: Array, sk: Array, has_sentinel: bool, padding: Array | None = None) -> BitDifference:
    """Compare the two runs' outputs byte by byte; `has_sentinel`: they were filled with the sentinels before.

    `padding` marks elements that need not be written. What either run did write there is compared all the same.
    """
    left, right = _bytes(plain), _bytes(sk)
    differs = left != right
    wrong = np.any(differs, axis=-1).reshape(plain.shape)
    unwritten = unwritten_elements(plain, sk) if has_sentinel else np.zeros(plain.shape, dtype=bool)
    wrong &= ~unwritten
    lost = np.all(right == SK_SENTINEL, axis=-1).reshape(plain.shape) & wrong if has_sentinel else unwritten & False
    missing = unwritten if padding is None else unwritten & ~padding
    index = _first(wrong)
    return BitDifference(
        elements=int(plain.size),
        mismatches=int(np.count_nonzero(wrong)),
        mismatching_bytes=int(np.count_nonzero(differs & wrong.reshape(-1, 1))),
        unwritten=int(np.count_nonzero(missing)),
        sk_unwritten=int(np.count_nonzero(lost)),
        index=index,
        plain="" if index is None else _spell_bits(plain, index),
        sk="" if index is None else _spell_bits(sk, index),
        unwritten_index=_first(missing),
        padding=0 if padding is None else int(np.count_nonzero(padding)),
    )


def _bytes(array: Array) -> Array:
    """The bytes of every element: shape [elements, bytes an element]."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).reshape(-1, array.dtype.itemsize)


def _first(mask: Array) -> tuple[int, ...] | None:
    flat = mask.reshape(-1)
    place = int(np.argmax(flat)) if flat.size else 0
    if not flat.size or not flat[place]:
        return None
    return tuple(int(part) for part in np.unravel_index(place, mask.shape))


def _spell_bits(array: Array, index: tuple[int, ...]) -> str:
    """A value with its bytes, since values that differ in bits alone (-0.0, NaN payloads) look alike."""
    element = array[index]
    return f"{spell(element)} (0x{element.tobytes()[::-1].hex()})"


def spell(value: Any) -> str:
    """Write one numpy value as briefly as tells it from its neighbours in its own dtype."""
    return str(int(value)) if isinstance(value, np.bool_) else str(value)
