from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from skrules.compare.numbers import encode, limits, numpy_dtype

NARROW = ["float16", "bfloat16", "float32", "float8_e4m3fn", "float8_e5m2"]


def _nearest(name: str, value: Fraction) -> bytes:
    """The element nearest to a value, ties to even, found by looking at the candidates one by one."""
    dtype = numpy_dtype(name)
    guess = np.array([float(value)]).astype(dtype).view(f"u{dtype.itemsize}")
    around = [max(0, int(guess[0]) + step) for step in (-1, 0, 1)]
    best = min(around, key=lambda bits: (abs(Fraction(float(_of_bits(bits, dtype))) - value), bits & 1))
    return best.to_bytes(dtype.itemsize, "little")


def _of_bits(bits: int, dtype: np.dtype) -> np.generic:
    return np.array([bits], dtype=f"u{dtype.itemsize}").view(dtype)[0]


def _ties(name: str) -> list[int]:
    """Ints beyond 2^53 that lie on a tie of the dtype or one beside it."""
    digits = {"bfloat16": 8, "float32": 24}[name]
    return [
        sign * ((odd << (top - digits)) + beside)
        for top in (60, 61, 90, 120)
        for odd in ((1 << digits) + 1, (1 << digits) + 3, (2 << digits) - 3)
        for beside in (-1, 0, 1)
        for sign in (1, -1)
    ]


@pytest.mark.parametrize(("name", "value"), [(name, value) for name in ("bfloat16", "float32") for value in _ties(name)])
def test_ints_are_rounded_once(name: str, value: int) -> None:
    assert encode(name, value) == _nearest(name, Fraction(value))


@pytest.mark.parametrize("name", NARROW)
@pytest.mark.parametrize("tiny", [0.0, 2.0**-40, -(2.0**-40)])
def test_fractions_beside_a_tie_are_rounded_once(name: str, tiny: float) -> None:
    digits = {"float16": 10, "bfloat16": 7, "float32": 23, "float8_e4m3fn": 3, "float8_e5m2": 2}[name]
    for odd in (1, 3):
        value = 1 + odd * 2.0 ** -(digits + 1) + tiny
        for signed in (value, -value):
            assert encode(name, signed) == _nearest(name, Fraction(signed))


@pytest.mark.parametrize("name", [*NARROW, "float64"])
def test_what_needs_no_rounding_stays(name: str) -> None:
    dtype = numpy_dtype(name)
    low, high = limits(name)
    for value in (0, 1, -2, 0.5, low, high):
        assert encode(name, value) == np.array([value]).astype(dtype).tobytes()
    assert np.isnan(np.frombuffer(encode(name, float("nan")), dtype=dtype).astype(np.float64)).all()
    assert np.copysign(1.0, np.frombuffer(encode(name, -0.0), dtype=dtype).astype(np.float64))[0] == -1


def test_subnormals_are_rounded_once() -> None:
    for value in (2.0**-25, 2.0**-25 + 2.0**-60, 3 * 2.0**-25, 3 * 2.0**-25 - 2.0**-60):
        assert encode("float16", value) == _nearest("float16", Fraction(value))
    for value in (2.0**-134 + 2.0**-149, 3 * 2.0**-134 - 2.0**-149, 3 * 2.0**-134):
        assert encode("bfloat16", value) == _nearest("bfloat16", Fraction(value))


def test_a_double_of_an_int_is_the_nearest() -> None:
    assert np.frombuffer(encode("float64", (1 << 53) + 1), dtype="<f8")[0] == 2.0**53
