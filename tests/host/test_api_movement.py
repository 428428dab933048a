"""GatherMask, Gatherb, DataCopyPad in compact mode, reductions by bits and flags in the spelling of C, against numpy."""

from __future__ import annotations

import numpy as np
import pytest
from api_program import LaunchError, Program


@pytest.fixture(scope="module", params=[2201, 3510])
def program(host_runtime, request):
    return Program(host_runtime, "movement.cpp", request.param)


@pytest.fixture(scope="module")
def newer(host_runtime):
    return Program(host_runtime, "movement.cpp", 3510)


@pytest.fixture
def rng():
    return np.random.default_rng(20261130)


# Which of the first four elements a built-in pattern keeps.
PATTERNS = {1: [0, 2], 2: [1, 3], 3: [0], 4: [1], 5: [2], 6: [3], 7: [0, 1, 2, 3]}


@pytest.mark.parametrize(("name", "dtype"), [("half", np.float16), ("float", np.float32)])
def test_patterns_keep_elements_of_every_repeat(program, rng, name, dtype):
    lanes = 256 // np.dtype(dtype).itemsize
    x = rng.uniform(-9, 9, 3 * lanes).astype(dtype)
    for pattern, places in PATTERNS.items():
        z, count = np.zeros_like(x), np.zeros(1, np.uint64)
        program.run(f"gather_mask_{name}", x, x[:0], z, count, op=0, mode=pattern, repeats=3, extra=x.nbytes)
        expected = x[np.isin(np.arange(x.size) % 4, places)]
        assert count[0] == expected.size
        assert np.array_equal(z, np.pad(expected, (0, x.size - expected.size)))


def test_counted_repeats_begin_their_pattern_anew(program, rng):
    x = rng.uniform(-9, 9, 256).astype(np.float32)
    z, count = np.zeros_like(x), np.zeros(1, np.uint64)
    program.run("gather_mask_float", x, x[:0], z, count, op=0, mode=2, count=37, repeats=2, extra=x.nbytes)
    expected = np.concatenate([x[1:37:2], x[65 : 64 + 37 : 2]])  # the second repeat begins 8 blocks further
    assert count[0] == expected.size == 36 and np.array_equal(z[:36], expected) and not z[36:].any()


def test_more_elements_than_a_repeat_and_in_place(program, rng):
    x = rng.uniform(-9, 9, 1000).astype(np.float32)
    z, count = np.zeros_like(x), np.zeros(1, np.uint64)
    program.run("gather_mask_float", x, x[:0], z, count, op=2, mode=1, count=999, extra=x.nbytes)
    assert count[0] == 500 and np.array_equal(z[:500], x[::2][:500])


@pytest.mark.parametrize(("name", "dtype"), [("half", np.float16), ("float", np.float32)])
def test_bits_of_a_tensor(program, rng, name, dtype):
    size = np.dtype(dtype).itemsize
    x = rng.uniform(-9, 9, 2048 // size).astype(dtype)
    raw = rng.integers(0, 256, 256).astype(np.uint8)
    bits = np.unpackbits(raw, bitorder="little").astype(bool)
    block = 32 // size
    # Two repeats of 50 elements in every other block, 20 blocks apart; the bits of the second begin one block further.
    z, count = np.zeros_like(x), np.zeros(1, np.uint64)
    program.run(f"gather_mask_{name}", x, raw, z, count, op=1, count=50, repeats=2, k=2, m=20, n=1, extra=x.nbytes)
    expected = []
    for repeat in range(2):
        for i in range(50):
            if bits[repeat * 256 + i]:
                expected.append(x[repeat * 20 * block + i // block * 2 * block + i % block])
    assert count[0] == len(expected) and np.array_equal(z[: len(expected)], np.array(expected, dtype))
    # Without a count a repeat has 256 bytes; with stride 0 each repeat has the same bits.
    z = np.zeros_like(x)
    program.run(f"gather_mask_{name}", x, raw, z, count, op=1, repeats=4, k=1, m=8, n=0, extra=x.nbytes)
    lanes = 256 // size
    expected = x[: 4 * lanes][np.tile(bits[:lanes], 4)]
    assert count[0] == expected.size and np.array_equal(z[: expected.size], expected)


def test_bytes_are_gathered_on_newer_archs(newer, rng):
    x = rng.integers(-128, 128, 512).astype(np.int8)
    z, count = np.zeros_like(x), np.zeros(1, np.uint64)
    newer.run("gather_mask_int8", x, x[:0], z, count, op=0, mode=6, repeats=2, extra=512)
    assert count[0] == 128 and np.array_equal(z[:128], x[3::4])


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"mode": 0, "repeats": 1}, "GatherMask: pattern 0 is none of 1..7"),
        ({"mode": 8, "repeats": 1}, "GatherMask: pattern 8 is none of 1..7"),
        ({"mode": 7, "repeats": 255}, "GatherMask: src0 needs 32 bytes at UB+32768 but its buffer ends at UB+32768"),
    ],
)
def test_misused_masks(program, options, text):
    x = np.zeros(64, np.float32)
    with pytest.raises(LaunchError) as error:
        program.run("gather_mask_float", x, x[:0], x.copy(), np.zeros(1, np.uint64), op=0, extra=256, **options)
    assert text in str(error.value)


def test_blocks_from_offsets(program, rng):
    x = rng.uniform(-9, 9, 512).astype(np.float32)
    order = rng.permutation(64)[:16].astype(np.uint32)
    z = np.zeros_like(x)
    program.run("gather_blocks", x, order * 32, z, repeats=2, m=2, n=20, extra=x.nbytes)
    expected = np.zeros((64, 8), np.float32)
    for i, place in enumerate(order):
        expected[i // 8 * 20 + i % 8 * 2] = x.reshape(64, 8)[place]
    assert np.array_equal(z.reshape(64, 8), expected)
    with pytest.raises(LaunchError, match=r"Gatherb: src address UB\+4 is not 32-byte aligned"):
        program.run("gather_blocks", x, np.full(8, 4, np.uint32), z, repeats=1, m=1, n=8, extra=x.nbytes)


@pytest.mark.parametrize(("name", "dtype"), [("half", np.float16), ("float", np.float32)])
def test_reductions_of_lanes_by_bits(program, rng, name, dtype):
    lanes = 256 // np.dtype(dtype).itemsize
    x = rng.permutation(3 * lanes).astype(dtype) - 190  # whole numbers: sums are exact
    words = (0x5A5A_F00F_0000_8001, 0x3 if lanes == 128 else 0)
    active = np.tile([bool(words[lane // 64] >> lane % 64 & 1) for lane in range(lanes)], 3)
    for op, expected in ((0, x[active].sum(dtype=np.float64)), (1, x[active].max()), (2, x[active].min())):
        z = np.full(32 // x.itemsize, -7, dtype)
        program.run(f"reduce_bits_{name}", x, x[:0], z, op=op, repeats=3, mask=words, extra=x.nbytes)
        assert z[0] == dtype(expected)
        index = z.view(np.uint16 if dtype is np.float16 else np.uint32)[1]
        assert index == np.flatnonzero(x == x[active].max())[0] if op == 1 else z[1] == -7


@pytest.mark.parametrize(
    ("op", "text"),
    [
        (0, ""),
        (1, "WaitFlag<MTE2_V>(EVENT_ID3) with no earlier SetFlag"),
        (2, "set_flag: there is no event from pipe"),
        (3, "SetFlag<V_MTE3>: event id 9 is none of 0..7"),
    ],
)
def test_flags_in_the_spelling_of_c(program, rng, op, text):
    x = rng.uniform(-9, 9, 64).astype(np.float32)
    y = x.copy()
    if text:
        with pytest.raises(LaunchError) as error:
            program.run("flags", y, op=op)
        assert text in str(error.value)
    else:
        program.run("flags", y, op=op)
        assert np.array_equal(y, x + x)


def test_compact_pieces_lie_side_by_side(newer, rng):
    pieces, length, apart = 3, 21, 11
    x = rng.integers(-128, 128, (pieces, length + apart)).astype(np.int8)
    y = np.full((pieces, length + 5), 77, np.int8)
    shown = np.zeros(64, np.int8)
    newer.run("compact", x.reshape(-1), y.reshape(-1), shown, count=pieces, extra=length, m=apart, n=5, k=64, mode=9)
    packed = x[:, :length].reshape(-1)
    assert np.array_equal(shown, np.pad(packed, (0, 1), constant_values=9))  # one fill, behind the last piece
    assert np.array_equal(y[:, :length], x[:, :length]) and (y[:, length:] == 77).all()


def test_the_normal_mode_is_the_one_without(newer, rng):
    x = rng.integers(-128, 128, 60).astype(np.int8)
    y = np.zeros(60, np.int8)
    newer.run("normal", x, y, count=3, extra=20)
    assert np.array_equal(x, y)


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        ("DataCopyPad<half, PaddingMode::Compact>(x, g, {1, 2, 0, 0, 0}, {});", "DataCopyPad with a PaddingMode needs dav-3510"),
        ("GatherMask(x, x, b, true, 4, {1, 1, 0, 0}, n);", "GatherMask: bits come in unsigned integers as wide as T"),
        ("GatherMask(c, c, 1, true, 4, {1, 1, 0, 0}, n);", "GatherMask does not support this element type on this arch"),
        ("Scatter(x, x, b, {1, 2, {3}}, 4, {});", "Scatter is not emulated by the host toolchain"),
        ("Sort<half, true>(x, x, b, x, 1);", "Sort is not emulated by the host toolchain"),
        ("SetHF32Mode<true>(b);", "SetHF32Mode is not emulated by the host toolchain"),
    ],
)
def test_what_does_not_compile_says_one_thing(host_runtime, tmp_path, statement, text):
    tensors = "LocalTensor<half> x; LocalTensor<uint32_t> b; LocalTensor<int8_t> c; GlobalTensor<half> g; uint64_t n = 0;"
    source = tmp_path / "kernel.cpp"
    source.write_text(f'#include "kernel_operator.h"\nusing namespace AscendC;\nvoid k() {{ {tensors} (void)n; {statement} }}\n')
    result = host_runtime.compiled(source, "-fsyntax-only", "-D__NPU_ARCH__=2201")
    errors = [line for line in result.stderr.splitlines() if " error: " in line]
    assert len(errors) == 1 and text in errors[0], result.stderr
