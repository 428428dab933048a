"""Vector instructions of the emulated device API against numpy."""

from __future__ import annotations

import numpy as np
import pytest
from api_program import LaunchError, Program

COUNT, MASK_COUNT, MASK_BITS, MASK_REGISTERS, COUNTER = range(5)
FULL = 2**64 - 1


@pytest.fixture(scope="module")
def program(host_runtime):
    return Program(host_runtime, "vector.cpp", 2201)


@pytest.fixture
def rng():
    return np.random.default_rng(20260731)


def numbers(rng, dtype, count, low=-100, high=100):
    return rng.uniform(low, high, count).astype(dtype)


def rounded(values, dtype):
    """What a correctly rounded instruction gives: computed wide, rounded once."""
    return values.astype(dtype)


BINARY = {
    0: lambda x, y: x + y,
    1: lambda x, y: x - y,
    2: lambda x, y: x * y,
    3: np.maximum,
    4: np.minimum,
    5: lambda x, y: x / y,
    6: lambda x, y: np.maximum(x + y, 0),
}


@pytest.mark.parametrize(("dtype", "ops"), [("float16", 7), ("float32", 7), ("int16", 5), ("int32", 5)])
def test_binary_on_a_count(program, rng, dtype, ops):
    name = {"float16": "half", "float32": "float"}.get(dtype, dtype)
    wide = {"float16": np.float32, "float32": np.float32}.get(dtype, np.int64)
    for op in range(ops):
        x, y = (numbers(rng, dtype, 1000) for _ in range(2))
        z = np.zeros(1008, dtype)
        program.run(f"binary_{name}", x, y, z, op=op, count=1000, extra=x.nbytes)
        expected = rounded(BINARY[op](x.astype(wide), y.astype(wide)), dtype)
        assert np.array_equal(z[:1000], expected), f"op {op}"
        assert not z[1000:].any(), "elements beyond the count were written"


def test_fused_multiply_add_reads_the_destination(program, rng):
    x, y, z = (numbers(rng, np.float32, 64, -2, 2) for _ in range(3))
    before = z.copy()
    program.run("binary_float", x, y, z, op=7, count=64, extra=256)
    assert np.allclose(z, x * before + y, rtol=1e-6)


def test_bits_of_short_integers(program, rng):
    x, y = (rng.integers(0, 65536, 128).astype(np.uint16) for _ in range(2))
    for op, function in ((8, np.bitwise_and), (9, np.bitwise_or)):
        z = np.zeros(128, np.uint16)
        program.run("binary_uint16", x, y, z, op=op, count=128, extra=256)
        assert np.array_equal(z, function(x, y))
    z = np.zeros(128, np.int16)
    program.run("unary_int16", x.view(np.int16), z[:0], z, op=15, count=128, extra=256)
    assert np.array_equal(z, ~x.view(np.int16))


@pytest.mark.parametrize(
    ("form", "mask", "active"),
    [
        (MASK_COUNT, (40, 0), np.arange(64) < 40),
        (MASK_BITS, (0xF0F0F0F0_0000FFFF, 0), np.array([0xF0F0F0F0_0000FFFF >> i & 1 for i in range(64)], bool)),
        (MASK_REGISTERS, (0x5555_5555_5555_5555, 0), np.arange(64) % 2 == 0),
    ],
)
def test_masks_leave_other_lanes_alone(program, rng, form, mask, active):
    x, y, z = (numbers(rng, np.float32, 256) for _ in range(3))
    expected = np.where(np.tile(active, 4), x + y, z)
    program.run("binary_float", x, y, z, op=0, form=form, repeats=4, mask=mask, extra=1024)
    assert np.array_equal(z, expected)


def test_second_word_of_a_bit_mask(program, rng):
    x, y, z = (numbers(rng, np.float16, 128) for _ in range(3))
    active = np.arange(128) >= 100
    expected = np.where(active, x + y, z)
    program.run("binary_half", x, y, z, op=0, form=MASK_BITS, repeats=1, mask=(0, FULL << 36 & FULL), extra=256)
    assert np.array_equal(z, expected)


def test_counter_mode_counts_elements_not_repeats(program, rng):
    x, y = (numbers(rng, np.float32, 512) for _ in range(2))
    z = np.zeros(512, np.float32)
    program.run("binary_float", x, y, z, op=2, form=COUNTER, count=333, extra=2048)
    assert np.array_equal(z[:333], (x * y)[:333])
    assert not z[333:].any()


def test_strides_of_blocks_and_repeats(program, rng):
    x, y = (numbers(rng, np.float32, 512) for _ in range(2))
    z = np.zeros(512, np.float32)
    # mode 1: x in every other block and every other repeat, y the same 64 elements in each repeat
    program.run("binary_float", x, y, z, op=0, form=MASK_COUNT, repeats=3, mode=1, mask=(64, 0), extra=2048)
    blocks = x.reshape(64, 8)
    for repeat in range(3):
        taken = blocks[repeat * 16 + np.arange(8) * 2].reshape(-1)
        assert np.array_equal(z[repeat * 64 : repeat * 64 + 64], taken + y.reshape(64, 8)[:8].reshape(-1))


def test_mask_beyond_a_repeat_is_an_error(program, rng):
    x, y, z = (numbers(rng, np.float32, 256) for _ in range(3))
    with pytest.raises(LaunchError, match=r"Add: mask 65 is not in 1\.\.64, the elements of one repeat"):
        program.run("binary_float", x, y, z, op=0, form=MASK_COUNT, repeats=1, mask=(65, 0), extra=1024)


UNARY = {
    0: lambda x, s: x + s,
    1: lambda x, s: x * s,
    2: np.maximum,
    3: np.minimum,
    4: lambda x, s: np.where(x >= 0, x, x * s),
    5: lambda x, _: np.abs(x),
    6: lambda x, _: np.exp(x),
    7: lambda x, _: np.log(x),
    8: lambda x, _: np.sqrt(x),
    9: lambda x, _: 1 / np.sqrt(x),
    10: lambda x, _: 1 / x,
    11: lambda x, _: np.maximum(x, 0),
}


@pytest.mark.parametrize(("name", "dtype"), [("half", np.float16), ("float", np.float32)])
def test_unary_and_scalar(program, rng, name, dtype):
    for op, function in UNARY.items():
        x = numbers(rng, dtype, 500, 0.1 if op >= 7 else -8, 8)
        z = np.zeros(512, dtype)
        program.run(f"unary_{name}", x, z[:0], z, op=op, count=500, scalar=1.75, extra=1000 if dtype is np.float16 else 2000)
        expected = rounded(function(x.astype(np.float32), np.float32(1.75)), dtype)
        assert np.allclose(z[:500].astype(np.float32), expected.astype(np.float32), rtol=1e-3 if dtype is np.float16 else 1e-6), (
            op
        )


def test_shifts_keep_the_sign(program):
    x = np.array([-32768, -5, -1, 0, 1, 5, 300, 32767] * 8, np.int16)
    for op, expected in ((13, (x.astype(np.int32) << 3).astype(np.int16)), (14, x >> 3)):
        z = np.zeros(64, np.int16)
        program.run("unary_int16", x, z[:0], z, op=op, count=64, scalar=3, extra=128)
        assert np.array_equal(z, expected)


def test_integers_wrap_around(program):
    x = np.full(64, 2**31 - 1, np.int32)
    z = np.zeros(64, np.int32)
    program.run("unary_int32", x, z[:0], z, op=0, count=64, scalar=2, extra=256)
    assert (z == -(2**31) + 1).all()


def test_duplicate_and_copy(program, rng):
    x, z = np.zeros(256, np.float32), np.zeros(256, np.float32)
    program.run("unary_float", x, z[:0], z, op=17, mask=(64, 0), repeats=2, scalar=3, extra=1024)
    blocks = z.reshape(-1, 8)
    assert (blocks[0:32:2] == 3).all() and not blocks[1:32:2].any()
    x, z = numbers(rng, np.float32, 128), np.zeros(128, np.float32)
    program.run("unary_float", x, z[:0], z, op=18, mask=(10, 0), repeats=2, extra=512)
    assert np.array_equal(z.reshape(2, 64)[:, :10], x.reshape(2, 64)[:, :10]) and not z.reshape(2, 64)[:, 10:].any()


def test_half_sources_into_a_float_destination(program, rng):
    x, y = (numbers(rng, np.float16, 128, -2, 2) for _ in range(2))
    product = x.astype(np.float32) * y.astype(np.float32)
    for op, expected in ((0, product), (1, product), (2, x.astype(np.float32) * np.float32(0.5))):
        z = numbers(rng, np.float32, 128)
        before = z.copy()
        program.run("wide", x, y, z, op=op, count=128, repeats=2, scalar=0.5, extra=512)
        assert np.allclose(z, expected + before, rtol=1e-6), op


NONE, RINT, FLOOR, CEIL, ROUND, TRUNC, ODD = range(7)
DIRECTED = {
    FLOOR: np.floor,
    CEIL: np.ceil,
    TRUNC: np.trunc,
    RINT: np.rint,
    NONE: np.rint,
    ROUND: lambda x: np.trunc(x + np.copysign(0.5, x)),
}


@pytest.mark.parametrize("mode", DIRECTED)
def test_cast_to_integers_rounds_and_saturates(program, rng, mode):
    x = np.concatenate([np.arange(-6, 6, 0.25), numbers(rng, np.float32, 16, -3e4, 3e4), [4e9, -4e9, 3.3e4, -3.3e4]]).astype(
        np.float32
    )
    x = np.concatenate([x, np.zeros(128 - len(x), np.float32)])
    for name, dtype in (("int32", np.int32), ("int16", np.int16)):
        z = np.zeros(128, dtype)
        program.run(f"cast_float_{name}", x, z[:0], z, mode=mode, count=128)
        limits = np.iinfo(dtype)
        assert np.array_equal(z, np.clip(DIRECTED[mode](x.astype(np.float64)), limits.min, limits.max).astype(dtype)), name


def directed(x, near, mode):
    """`x` (float32) rounded to float16 in a direction, from the nearest value `near`."""
    inner = np.where(np.abs(near.astype(np.float64)) > np.abs(x), np.nextafter(near, np.float16(0)), near)
    outer = np.nextafter(inner, np.copysign(np.float16(np.inf), x.astype(np.float16)))
    exact = near.astype(np.float64) == x
    below, above = np.abs(x - inner.astype(np.float64)), np.abs(outer.astype(np.float64) - x)
    chosen = {
        FLOOR: np.where(x < 0, outer, inner),
        CEIL: np.where(x < 0, inner, outer),
        TRUNC: inner,
        ROUND: np.where(above <= below, outer, inner),
        ODD: np.where(inner.view(np.uint16) & 1, inner, outer),
    }[mode]
    return np.where(exact, near, chosen).astype(np.float16)


@pytest.mark.parametrize("mode", [NONE, RINT, FLOOR, CEIL, ROUND, TRUNC, ODD])
@pytest.mark.parametrize("form", [COUNT, MASK_COUNT])
def test_cast_float_to_half(program, rng, mode, form):
    ties = (np.float16(1) + np.arange(64) / 2048).astype(np.float32)
    x = np.concatenate([ties, -ties, numbers(rng, np.float32, 128, -500, 500), numbers(rng, np.float32, 64, -1e-6, 1e-6)])
    z = np.zeros(320, np.float16)
    program.run("cast_float_half", x, z[:0], z, mode=mode, form=form, count=320)
    near = x.astype(np.float16)
    expected = near if mode in (NONE, RINT) else directed(x.astype(np.float64), near, mode)
    assert np.array_equal(z.view(np.uint16), expected.view(np.uint16))


def test_cast_bfloat16_both_ways(program, rng):
    x = numbers(rng, np.float32, 128, -1e5, 1e5)
    bits = np.zeros(128, np.uint16)
    program.run("cast_float_bfloat16", x, bits[:0], bits, mode=RINT, count=128)
    wide = x.view(np.uint32).astype(np.uint64)
    assert np.array_equal(bits, ((wide + 0x7FFF + (wide >> 16 & 1)) >> 16).astype(np.uint16))
    back = np.zeros(128, np.float32)
    program.run("cast_bfloat16_float", bits, bits[:0], back, mode=NONE, count=128)
    assert np.array_equal(back.view(np.uint32), bits.astype(np.uint32) << 16)


def test_other_casts(program, rng):
    halves = numbers(rng, np.float16, 256, -200, 200)
    floats = np.zeros(256, np.float32)
    program.run("cast_half_float", halves, floats[:0], floats, mode=NONE, form=MASK_COUNT, count=256)
    assert np.array_equal(floats, halves.astype(np.float32))
    small = np.zeros(256, np.int8)
    program.run("cast_half_int8", halves, small[:0], small, mode=TRUNC, count=256)
    assert np.array_equal(small, np.clip(np.trunc(halves.astype(np.float32)), -128, 127).astype(np.int8))
    whole = rng.integers(-(2**31), 2**31, 64).astype(np.int32)
    floats = np.zeros(64, np.float32)
    program.run("cast_int32_float", whole, floats[:0], floats, mode=RINT, count=64)
    assert np.array_equal(floats, whole.astype(np.float32))
    short = np.zeros(64, np.int16)
    program.run("cast_int32_int16", whole, short[:0], short, mode=NONE, count=64)
    assert np.array_equal(short, np.clip(whole, -32768, 32767).astype(np.int16))
    x = numbers(rng, np.float32, 64)
    program.run("cast_float_float", x, x[:0], floats, mode=FLOOR, count=64)
    assert np.array_equal(floats, np.floor(x))


def test_four_bit_integers_share_bytes(program):
    halves = np.arange(-20, 44).astype(np.float16) / 2
    packed = np.zeros(32, np.uint8)
    program.run("cast_half_int4", halves, packed[:0], packed, mode=RINT, count=64)
    expected = np.clip(np.rint(halves.astype(np.float32)), -8, 7).astype(np.int8)
    assert np.array_equal(packed, (expected[0::2] & 15 | expected[1::2] << 4).astype(np.uint8))
    back = np.zeros(64, np.float16)
    program.run("cast_int4_half", packed, packed[:0], back, mode=NONE, count=64)
    assert np.array_equal(back, expected.astype(np.float16))


COMPARISONS = [np.less, np.greater, np.equal, np.less_equal, np.greater_equal, np.not_equal]


@pytest.mark.parametrize(("name", "dtype"), [("half", np.float16), ("float", np.float32)])
def test_compare_and_select(program, rng, name, dtype):
    x, y = (rng.integers(-3, 4, 256).astype(dtype) for _ in range(2))
    for mode, function in enumerate(COMPARISONS):
        for form in (COUNT, MASK_COUNT, 2):  # 2: with a scalar
            right = dtype(1) if form == 2 else y
            bits, chosen = np.zeros(32, np.uint8), np.zeros(256, dtype)
            program.run(f"compare_{name}", x, y, bits, chosen, mode=mode, form=form, count=256, scalar=1)
            holds = function(x, right)
            assert np.array_equal(np.unpackbits(bits, bitorder="little").astype(bool), holds), (mode, form)
            assert np.array_equal(chosen, np.where(holds, x, y)), (mode, form)


def test_select_modes(program, rng):
    x, y = (numbers(rng, np.float32, 128) for _ in range(2))
    bits, chosen = np.zeros(16, np.uint8), np.zeros(128, np.float32)
    program.run("compare_float", x, y, bits, chosen, op=1, count=128, scalar=-7)
    assert np.array_equal(chosen, np.where(x < y, x, np.float32(-7)))
    program.run("compare_float", x, y, bits, chosen, op=2, count=128)
    assert np.array_equal(chosen, np.where(np.tile((x < y)[:64], 2), x, y)), "every repeat takes the same 64 bits"


def tree(values):
    """Pairwise sums, rounded to the type after each addition."""
    while len(values) > 1:
        values = values[0::2] + values[1::2]
    return values[0]


def padded(values, lanes):
    return np.concatenate([values, np.zeros(-len(values) % lanes, values.dtype)]).reshape(-1, lanes)


@pytest.mark.parametrize(("name", "dtype", "lanes"), [("half", np.float16, 128), ("float", np.float32, 64)])
def test_sums_are_pairwise_trees(program, rng, name, dtype, lanes):
    x = numbers(rng, dtype, 1000, -4, 4)
    size = x.nbytes
    z = np.zeros(1000, dtype)
    program.run(f"reduce_{name}", x, z[:0], z, op=0, count=1000, extra=size)
    level = x
    while len(level) > 1:
        level = np.array([tree(row) for row in padded(level, lanes)], dtype)
    assert z[0] == level[0] and not z[1:].any()

    program.run(f"reduce_{name}", x, z[:0], z, op=3, repeats=4, mask=(50, 0), extra=size)
    rows = x[: 4 * lanes].reshape(4, lanes).copy()
    rows[:, 50:] = 0
    assert np.array_equal(z[:4], [tree(row) for row in rows])

    program.run(f"reduce_{name}", x, z[:0], z, op=6, repeats=4, extra=size)
    assert np.array_equal(z[:32], [tree(row) for row in x[: 4 * lanes].reshape(32, -1)])
    program.run(f"reduce_{name}", x, z[:0], z, op=11, repeats=4, extra=size)
    assert np.array_equal(z[:4], [tree(row) for row in x[: 4 * lanes].reshape(4, lanes)])
    program.run(f"reduce_{name}", x, z[:0], z, op=12, repeats=4, extra=size)
    assert np.array_equal(z[:32], x[: 4 * lanes].reshape(32, -1).min(axis=1))
    program.run(f"reduce_{name}", x, z[:0], z, op=8, repeats=4, extra=size)
    assert np.array_equal(z[: 2 * lanes], x[: 4 * lanes : 2] + x[1 : 4 * lanes : 2])


@pytest.mark.parametrize(("name", "dtype", "lanes"), [("half", np.float16, 128), ("float", np.float32, 64)])
def test_extremes_and_their_places(program, rng, name, dtype, lanes):
    x = rng.integers(-50, 50, 500).astype(dtype)  # ties: the first place counts
    index = np.uint16 if dtype is np.float16 else np.uint32
    for op, value, place in ((1, np.max, np.argmax), (2, np.min, np.argmin)):
        z = np.zeros(500, dtype)
        program.run(f"reduce_{name}", x, z[:0], z, op=op, count=500, extra=x.nbytes)
        assert z[0] == value(x) and z.view(index)[1] == place(x)
    rows = x[: 3 * lanes].reshape(3, lanes)
    z = np.zeros(500, dtype)
    program.run(f"reduce_{name}", x, z[:0], z, op=4, repeats=3, extra=x.nbytes)
    assert np.array_equal(z[:6:2], rows.max(axis=1)) and np.array_equal(z.view(index)[1:6:2], rows.argmax(axis=1))
    program.run(f"reduce_{name}", x, z[:0], z, op=5, repeats=3, extra=x.nbytes)
    assert np.array_equal(z[:3], rows.min(axis=1))
    program.run(f"reduce_{name}", x, z[:0], z, op=7, repeats=3, extra=x.nbytes)
    assert np.array_equal(z[:24], rows.reshape(24, -1).max(axis=1))


def test_elements_move_about(program, rng):
    x = numbers(rng, np.float16, 2048)
    z = np.zeros(256, np.float16)
    program.run("permute", x, x[:0], z, op=0, extra=512)
    assert np.array_equal(z.reshape(16, 16), x[:256].reshape(16, 16).T)
    places = rng.integers(0, 1000, 200).astype(np.uint32)
    z = np.zeros(208, np.float16)
    program.run("permute", x, places * 2, z, op=1, count=200, extra=416)
    assert np.array_equal(z[:200], x[32 + places])
    z = np.zeros(256, np.float16)
    program.run("permute", x, x[:0], z, op=2, repeats=2, extra=512)
    assert np.array_equal(z.reshape(16, 16), np.repeat(x[:16, None], 16, axis=1))
    z = np.zeros(64, np.float16)
    program.run("permute", x, x[:0], z, op=3, count=64, scalar=5, extra=128)
    assert np.array_equal(z, np.arange(5, 69).astype(np.float16))
