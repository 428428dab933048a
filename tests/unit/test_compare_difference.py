from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from skrules.compare.case import Tolerance
from skrules.compare.difference import compare_bits, compare_numbers, default_tolerance, spell, unwritten_elements

EXACT = Tolerance()
NAN, INF = float("nan"), float("inf")


def _numbers(actual: list[float], expected: list[float], tolerance: Tolerance = EXACT, dtype: str = "float32"):  # type: ignore[no-untyped-def]
    return compare_numbers(np.array(actual, dtype=dtype), np.array(expected), dtype, tolerance, "plain")


def _sentinels(dtype: str, count: int) -> tuple[np.ndarray, np.ndarray]:
    size = np.dtype(dtype).itemsize
    return tuple(np.frombuffer(bytes([byte]) * size * count, dtype=dtype).copy() for byte in (0xA5, 0x5A))  # type: ignore[return-value]


class TestNumbers:
    def test_equal(self) -> None:
        found = _numbers([1, 2], [1, 2])
        assert (found.elements, found.mismatches, found.index, found.max_abs_error, found.max_rel_error) == (2, 0, None, 0, 0)

    def test_the_first_mismatch_and_the_errors(self) -> None:
        found = compare_numbers(np.array([[1, 2], [3, 5]], dtype="float32"), np.array([[1, 2], [4, 4]]), "float32", EXACT, "sk")
        assert (found.mismatches, found.index, found.actual, found.expected) == (2, (1, 0), "3.0", "4.0")
        assert (found.max_abs_error, found.max_rel_error, found.run) == (1.0, 0.25, "sk")

    def test_tolerances_add_up(self) -> None:
        assert _numbers([11.0], [10.0], Tolerance(rtol=0.05, atol=0.5)).mismatches == 0
        assert _numbers([11.1], [10.0], Tolerance(rtol=0.05, atol=0.5)).mismatches == 1

    @pytest.mark.parametrize(
        ("actual", "expected", "mismatches"),
        [(NAN, NAN, 0), (NAN, 1, 1), (1, NAN, 1), (INF, INF, 0), (-INF, INF, 1), (INF, 1, 1), (1, -INF, 1), (INF, NAN, 1)],
    )
    def test_what_is_not_finite_only_equals_itself(self, actual: float, expected: float, mismatches: int) -> None:
        found = _numbers([actual], [expected], Tolerance(rtol=1e9, atol=1e9))
        assert (found.mismatches, found.max_abs_error) == (mismatches, 0.0)

    def test_the_reference_is_rounded_to_the_output(self) -> None:
        third = np.array([1 / 3, 70000.0])
        actual = np.array([1 / 3, INF]).astype(np.float16)
        found = compare_numbers(actual, third, "float16", EXACT, "plain")
        assert found.mismatches == 0
        actual = np.array([1 / 3]).astype(ml_dtypes.bfloat16)
        assert compare_numbers(actual, np.array([1 / 3]), "bfloat16", EXACT, "plain").mismatches == 0

    def test_signed_zero_is_equal_in_numbers(self) -> None:
        assert _numbers([-0.0], [0.0]).mismatches == 0

    def test_whole_numbers_beyond_doubles_are_exact(self) -> None:
        big = (1 << 60) + 1
        found = compare_numbers(np.array([big]), np.array([big - 1]), "int64", EXACT, "plain")
        assert (found.mismatches, found.actual, found.expected) == (1, str(big), str(big - 1))
        assert compare_numbers(np.array([7], dtype="uint8"), np.array([9]), "uint8", Tolerance(atol=2), "plain").mismatches == 0

    def test_bytes_of_bool(self) -> None:
        actual = np.array([0, 1, 2], dtype=np.uint8).view(np.bool_)
        found = compare_numbers(actual, np.array([False, True, True]), "bool", EXACT, "plain")
        assert (found.mismatches, found.index, found.actual) == (1, (2,), "2")

    def test_skipped_elements_do_not_count(self) -> None:
        found = compare_numbers(
            np.array([1.0, 9.0]), np.array([1.0, 1.0]), "float64", EXACT, "plain", skip=np.array([False, True])
        )
        assert (found.elements, found.mismatches, found.max_abs_error) == (1, 0, 0.0)

    def test_nothing_at_all_and_a_single_element(self) -> None:
        assert _numbers([], []).elements == 0
        found = compare_numbers(np.float32(2).reshape(()), np.float64(3).reshape(()), "float32", EXACT, "plain")
        assert (found.mismatches, found.index) == (1, ())

    def test_defaults(self) -> None:
        assert default_tolerance("int32") == EXACT and default_tolerance("float16") == Tolerance(rtol=1e-3, atol=1e-5)


class TestBits:
    def test_equal_and_different(self) -> None:
        left = np.array([[1, 2], [3, 4]], dtype="<i4")
        assert compare_bits(left, left.copy(), True).mismatches == 0
        right = left.copy()
        right[1, 0] = 259
        found = compare_bits(left, right, True)
        assert (found.mismatches, found.mismatching_bytes, found.index) == (1, 1, (1, 0))
        assert (found.plain, found.sk) == ("3 (0x00000003)", "259 (0x00000103)")

    def test_bits_tell_apart_what_numbers_do_not(self) -> None:
        found = compare_bits(np.array([0.0], dtype="float32"), np.array([-0.0], dtype="float32"), True)
        assert (found.mismatches, found.sk) == (1, "-0.0 (0x80000000)")
        assert compare_bits(np.array([NAN], dtype="float32"), np.array([NAN], dtype="float32"), True).mismatches == 0

    @pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "float64"])
    def test_unwritten_elements(self, dtype: str) -> None:
        plain, sk = _sentinels(dtype, 5)
        plain[:3] = sk[:3] = 1
        found = compare_bits(plain, sk, True)
        assert (found.unwritten, found.unwritten_index, found.mismatches) == (2, (3,), 0)
        assert unwritten_elements(plain, sk).tolist() == [False] * 3 + [True] * 2

    def test_half_an_element_is_a_mismatch(self) -> None:
        plain, sk = _sentinels("float32", 1)
        plain.view(np.uint8)[:2] = sk.view(np.uint8)[:2] = 7
        assert (compare_bits(plain, sk, True).mismatches, compare_bits(plain, sk, True).unwritten) == (1, 0)

    def test_written_by_one_run_only(self) -> None:
        plain, sk = _sentinels("int32", 4)
        plain[:] = 1
        sk[:2] = 1
        found = compare_bits(plain, sk, True)
        assert (found.mismatches, found.sk_unwritten, found.unwritten) == (2, 2, 0)

    def test_without_sentinels_nothing_is_unwritten(self) -> None:
        plain, sk = _sentinels("int32", 2)
        found = compare_bits(plain, sk, False)
        assert (found.unwritten, found.sk_unwritten, found.mismatches) == (0, 0, 2)


def test_different_values_are_spelled_differently() -> None:
    assert spell(np.float32(0.1)) != spell(np.float32(0.10000001))
    assert spell(ml_dtypes.bfloat16(1.5)) == "1.5" and spell(np.int8(-3)) == "-3"
