"""The emulated cube unit against numpy, on both archs: their L0A layouts differ, their results do not."""

from __future__ import annotations

import numpy as np
import pytest
from api_program import LaunchError, Program

NO_QUANT, F322F16, F322BF16, DEQF16, VDEQF16, QF322B8 = range(6)
SHAPES = [(16, 16, 16), (48, 32, 64), (37, 29, 50), (128, 64, 96), (16, 17, 3)]


@pytest.fixture(scope="module", params=[2201, 3510])
def program(request, host_runtime):
    return Program(host_runtime, "cube.cpp", request.param)


@pytest.fixture
def rng():
    return np.random.default_rng(42)


def matrices(rng, m, n, k, dtype=np.float16):
    if dtype is np.int8:
        return rng.integers(-128, 128, (m, k)).astype(np.int8), rng.integers(-128, 128, (k, n)).astype(np.int8)
    return rng.uniform(-1, 1, (m, k)).astype(dtype), rng.uniform(-1, 1, (k, n)).astype(dtype)


def empty():
    return np.zeros(0, np.uint8)


@pytest.mark.parametrize(("m", "n", "k"), SHAPES)
def test_half_product(program, rng, m, n, k):
    a, b = matrices(rng, m, n, k)
    expected = a.astype(np.float64) @ b.astype(np.float64)
    for op, times in ((0, 1), (1, 2)):  # 1: added to what L0C holds
        c = np.full((m, n), np.nan, np.float32)
        program.run("half_float", a, b, empty(), c, op=op, m=m, n=n, k=k)
        assert np.allclose(c, expected * times, atol=1e-4), op


def test_row_of_bias(program, rng):
    m, n, k = 32, 40, 32
    a, b = matrices(rng, m, n, k)
    bias = rng.uniform(-5, 5, n).astype(np.float32)
    c = np.zeros((m, n), np.float32)
    program.run("half_float", a, b, bias, c, op=2, m=m, n=n, k=k)
    assert np.allclose(c, a.astype(np.float64) @ b.astype(np.float64) + bias, atol=1e-4)


def test_one_row_is_read_as_a_vector(program, rng):
    a, b = matrices(rng, 1, 48, 256)
    c = np.zeros((1, 48), np.float32)
    program.run("half_float", a, b, empty(), c, m=1, n=48, k=256)
    assert np.allclose(c, a.astype(np.float64) @ b.astype(np.float64), atol=1e-3)


@pytest.mark.parametrize(("m", "n", "k"), [(32, 32, 64), (48, 96, 32), (32, 64, 96)])
def test_integers_are_exact(program, rng, m, n, k):
    a, b = matrices(rng, m, n, k, np.int8)
    c = np.zeros((m, n), np.int32)
    program.run("int8_int32", a, b, empty(), c, m=m, n=n, k=k)
    expected = a.astype(np.int32) @ b.astype(np.int32)
    assert np.array_equal(c, expected)
    scaled = np.zeros((m, n), np.float16)
    program.run("int8_half", a, b, empty(), scaled, m=m, n=n, k=k, mode=DEQF16, scalar=0.0078125)
    assert np.array_equal(scaled, (expected * 0.0078125).astype(np.float16))


@pytest.mark.parametrize(("m", "n", "k"), [(16, 16, 16), (32, 48, 64)])
def test_floats(program, rng, m, n, k):
    a, b = matrices(rng, m, n, k, np.float32)
    c = np.zeros((m, n), np.float32)
    program.run("float_float", a, b, empty(), c, m=m, n=n, k=k)
    assert np.allclose(c, a.astype(np.float64) @ b.astype(np.float64), atol=1e-4)


def test_conversions_and_relu_on_the_way_out(program, rng):
    m, n, k = 32, 48, 64
    a, b = matrices(rng, m, n, k)
    exact = np.zeros((m, n), np.float32)
    program.run("half_float", a, b, empty(), exact, m=m, n=n, k=k)
    for relu in (0, 1):
        wide = np.maximum(exact, 0) if relu else exact
        half = np.zeros((m, n), np.float16)
        program.run("half_half", a, b, empty(), half, m=m, n=n, k=k, mode=F322F16, extra=relu)
        assert np.array_equal(half, wide.astype(np.float16))
        small = np.zeros((m, n), np.int8)
        program.run("half_int8", a, b, empty(), small, m=m, n=n, k=k, mode=QF322B8, scalar=16, extra=relu)
        assert np.array_equal(small, np.clip(np.rint(wide.astype(np.float64) * 16), -128, 127).astype(np.int8))


def test_bfloat16(program, rng):
    m, n, k = 16, 32, 16
    a, b = (matrix.astype(np.float32) for matrix in matrices(rng, m, n, k))
    bits = [(matrix.view(np.uint32) >> 16).astype(np.uint16) for matrix in (a, b)]
    a, b = ((words.astype(np.uint32) << 16).view(np.float32) for words in bits)
    c = np.zeros((m, n), np.uint16)
    program.run("bf16_bf16", *bits, empty(), c, m=m, n=n, k=k, mode=F322BF16)
    result = (c.astype(np.uint32) << 16).view(np.float32)
    assert np.allclose(result, a.astype(np.float64) @ b.astype(np.float64), rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize("kernel", ["half_float", "new_params"])
def test_blocks_of_columns(program, rng, kernel, request):
    if kernel == "new_params" and "2201" in request.node.name:
        pytest.skip("dav-3510 only")
    m, n, k = 24, 48, 16
    a, b = matrices(rng, m, n, k)
    blocks = np.zeros((n // 16, m, 16), np.float32)
    program.run(kernel, a, b, empty(), blocks, form=1, m=m, n=n, k=k)
    rows = np.zeros((m, n), np.float32)
    program.run(kernel, a, b, empty(), rows, form=0, m=m, n=n, k=k)
    assert np.array_equal(blocks.transpose(1, 0, 2).reshape(m, n), rows) and rows.any()


WRONG = {
    0: "Mmad: filter (B) lies in L0A, it must lie in L0B",
    1: "Mmad: fm (A) address L0A+32 is not 512-byte aligned",
    2: "LoadData(2D): src lies in L0A, it must lie in L1",
    3: "LoadData(2D): src needs 512 bytes at L1+512 but its buffer ends at L1+512",
    4: "Add: dst lies in UB, which an AIC core does not have",
    5: "Fixpipe: quantPre NoQuant does not convert float to half",
    6: "Fixpipe: dst is out of bounds in GM",
    7: "Fixpipe: src needs 64 bytes at L0C+1024 but its buffer ends at L0C+1024",
    8: "DataCopy(ND2NZ): dst lies in L0A, it must lie in L1",
    9: "Mmad: fm (A) needs 1024 bytes at L0A+0 but its buffer ends at L0A+512",
}


@pytest.mark.parametrize("op", WRONG)
def test_wrong_uses(program, op):
    a, c = np.zeros((16, 16), np.float16), np.zeros((16, 16), np.float32)
    with pytest.raises(LaunchError) as error:
        program.run("wrong", a, a, empty(), c, op=op)
    assert WRONG[op] in str(error.value)
