"""Calls that must work: values arrive exactly, the very tensor comes back, memory and blocks are right."""

from __future__ import annotations

import enum
import inspect
import struct
from fractions import Fraction
from types import ModuleType

import pytest

torch = pytest.importorskip("torch", reason="needs torch")
np = pytest.importorskip("numpy", reason="needs numpy")

from tests.binding.conftest import SCALARS, Stub, zeros_of_scalars  # noqa: E402

pytestmark = pytest.mark.usefixtures("on_npu")

LAYOUT = struct.Struct("<qQdiIfhHHHbB?b")
ORDER = "ghjeficdklabmn"


def sent(module: ModuleType, **values: object) -> dict[str, object]:
    """What a kernel gets of `values`; half and bfloat16 as their bits."""
    out = torch.zeros(LAYOUT.size, dtype=torch.uint8)
    module.run_scalars(out, **{**zeros_of_scalars(), **values})
    return dict(zip(ORDER, LAYOUT.unpack(out.cpu().numpy().tobytes()), strict=True))


def test_the_result_is_computed_and_the_very_tensor_is_returned(module: ModuleType) -> None:
    x, y, z = torch.arange(8.0), torch.ones(8), torch.zeros(8)
    assert module.run_add(x, y, z, 8) is z
    assert torch.equal(z, torch.arange(8.0) + 1)


def test_parameters_are_taken_by_name_in_any_order(module: ModuleType) -> None:
    x, y, z = torch.arange(8.0), torch.ones(8), torch.zeros(8)
    assert module.run_add(x, n=8, z=z, y=y) is z
    assert z[7] == 8
    assert module.run_add(**{"".join("x"): x, "y": y, "z": z, "".join(["n"]): 4}) is z


@pytest.mark.parametrize(
    ("name", "value"),
    [(name, value) for name, bits in zip("abcdefgh", (8, 8, 16, 16, 32, 32, 64, 64), strict=True)
     for value in ((-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if name in "aceg" else (0, (1 << bits) - 1))],
)  # fmt: skip
def test_integers_arrive_up_to_their_limits(module: ModuleType, name: str, value: int) -> None:
    got = sent(module, **{name: value})
    assert got[name] == value
    assert all(got[other] == 0 for other in SCALARS if other != name)


def test_integers_may_be_numpy_numbers_and_enumerations(module: ModuleType) -> None:
    color = enum.IntEnum("color", {"RED": 3})
    assert sent(module, e=np.int64(-7), f=color.RED, n=-5)["e"] == -7
    assert sent(module, f=color.RED)["f"] == 3
    assert sent(module, n=-5)["n"] == -5


def test_bools_arrive(module: ModuleType) -> None:
    assert sent(module, m=True)["m"] is True
    assert sent(module, m=np.bool_(True))["m"] is True
    assert sent(module, m=False)["m"] is False


@pytest.mark.parametrize(
    "value", [0.0, -0.0, 1.0, 0.1, -2.5, 3.4028234663852886e38, 1e-45, 7e-46, 1e-300, float("inf"), float("-inf")]
)
def test_floats_are_rounded_once(module: ModuleType, value: float) -> None:
    got = sent(module, i=value, j=value)
    assert struct.pack("<d", got["j"]) == struct.pack("<d", value)
    assert struct.pack("<f", got["i"]) == np.float32(value).tobytes()


def test_floats_may_be_ints_and_numpy_numbers(module: ModuleType) -> None:
    assert sent(module, i=3)["i"] == 3.0
    assert sent(module, i=np.float32(0.1))["i"] == np.float32(0.1)
    assert sent(module, j=Fraction(1, 4))["j"] == 0.25


def nearest(value: float, exponent: int, fraction: int) -> int:
    """The bits of the nearest float of a format, found by comparing all of them as exact fractions."""
    sign = 1 if np.signbit(value) else 0
    exact = abs(Fraction(value))
    bias = (1 << (exponent - 1)) - 1
    low, high = 0, ((1 << exponent) - 1) << fraction

    def number(bits: int) -> Fraction:
        stored, rest = bits >> fraction, bits & ((1 << fraction) - 1)
        scale = Fraction(2) ** (max(stored, 1) - bias - fraction)
        return (rest + ((1 << fraction) if stored else 0)) * scale

    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if number(middle) <= exact else (low, middle)
    below, above = exact - number(low), number(high) - exact
    up = above < below or (above == below and low & 1)
    return sign << (exponent + fraction) | (high if up else low)


def test_half_and_bfloat16_are_the_nearest_number_ties_to_even(module: ModuleType) -> None:
    random = np.random.default_rng(5)
    values = [float(v) for v in random.standard_normal(150) * 10.0 ** random.integers(-9, 4, 150)]
    # Ties, and just beside them: by way of float32 these would be rounded twice.
    values += [
        sign * (1 + (2 * k + 1) * 2.0**-11 + off) for sign in (1, -1) for k in (0, 1, 511) for off in (0.0, 2.0**-40, -(2.0**-40))
    ]
    values += [
        sign * (1 + (2 * k + 1) * 2.0**-8 + off) for sign in (1, -1) for k in (0, 1, 63) for off in (0.0, 2.0**-40, -(2.0**-40))
    ]
    # Smallest subnormals, the border to normal numbers, the largest ones.
    values += [2.0**-24, 2.0**-25, 2.0**-25 * 1.000001, 2.0**-26, 3 * 2.0**-25, 2.0**-14 - 2.0**-26, 65504.0, 65519.9, 0.0, -0.0]
    values += [2.0**-133, 2.0**-134, 2.0**-134 * 1.000001, 5e-324]
    for value in values:
        got = sent(module, k=value, l=value)
        assert got["k"] == nearest(value, 5, 10), value
        assert got["l"] == nearest(value, 8, 7), value


def test_halves_of_infinity_and_nan(module: ModuleType) -> None:
    got = sent(module, k=float("inf"), l=float("-inf"))
    assert (got["k"], got["l"]) == (0x7C00, 0xFF80)
    got = sent(module, k=float("nan"), l=float("nan"))
    assert got["k"] & 0x7C00 == 0x7C00 and got["k"] & 0x3FF
    assert got["l"] & 0x7F80 == 0x7F80 and got["l"] & 0x7F


def test_structs_arrive_from_bytes_buffers_and_sequences(module: ModuleType) -> None:
    data = struct.pack("<If8B", 3, 0.5, *range(8))
    for value in (
        data,
        bytearray(data),
        memoryview(data),
        list(data),
        tuple(data),
        np.frombuffer(data, np.uint32),
        np.array(list(data), np.uint8),
    ):
        out = torch.zeros(16, dtype=torch.uint8)
        assert module.run_tiled(out, value) is None
        assert out.cpu().numpy().tobytes() == data


def test_a_large_struct_keeps_its_alignment(module: ModuleType) -> None:
    out = torch.zeros(3, dtype=torch.uint8)
    module.run_large(out, 7, bytes(1023) + b"\x09")
    assert out.tolist() == [7, 1, 9]


def test_none_is_a_null_address_where_it_is_allowed(module: ModuleType) -> None:
    x, out = torch.ones(1), torch.zeros(1, dtype=torch.uint8)
    assert module.run_maybe(x, out) is x
    assert out.item() == 1
    assert module.run_maybe(None, out) is None
    assert out.item() == 0


def test_blocks_are_the_contracts_or_all_cores_of_the_kind(module: ModuleType, stub: Stub) -> None:
    x = torch.ones(1)
    module.run_add(x, x, x, 0)
    assert stub.ask("stub_blocks") == 8
    for kind, blocks in {"nothing": 48, "cube": 24, "mixed": 24, "bare": 24, "vectors": 24}.items():
        getattr(module, f"run_{kind}")()
        assert stub.ask("stub_blocks") == blocks, kind


def test_empty_tensors_are_tensors(module: ModuleType) -> None:
    x = torch.ones(0)
    assert module.run_add(x, x, x, 0) is x


def test_parameters_and_other_subclasses_are_tensors(module: ModuleType) -> None:
    weight = torch.nn.Parameter(torch.ones(4))
    z = torch.zeros(4)
    with torch.no_grad():
        assert module.run_add(weight, weight, z, 4) is z
        assert module.run_add(z, z, weight, 4) is weight


def test_autograd_learns_that_an_output_was_written(module: ModuleType) -> None:
    x, y, z = torch.ones(4), torch.ones(4), torch.zeros(4)
    before = (x._version, z._version)
    module.run_add(x, y, z, 4)
    assert (x._version, z._version) == (before[0], before[1] + 1)
    with torch.inference_mode():
        inferred = torch.zeros(4)
        assert module.run_add(x, y, inferred, 4) is inferred


def test_functions_tell_their_signature_and_types(module: ModuleType) -> None:
    assert str(inspect.signature(module.run_add)) == "(x, y, z, n)"
    assert module.run_add.__name__ == "run_add"
    assert module.run_add.__module__ == module.__name__
    assert "Launches add<float>." in module.run_add.__doc__
    assert "x: GM_ADDR, float16, rank 2" in module.run_strict.__doc__
    assert "x: GM_ADDR, or None" in module.run_maybe.__doc__


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("beside", [-1, 0, 1])
@pytest.mark.parametrize("top", [60, 61, 100])
@pytest.mark.parametrize(("name", "digits", "code"), [("i", 24, "<f"), ("l", 8, None)])
def test_large_ints_are_rounded_once(
    module: ModuleType, name: str, digits: int, code: str | None, top: int, beside: int, sign: int
) -> None:
    """Ints beside a tie of the narrow type: as a double they would lie on it."""
    kept, odd = 1 << (digits - 1), (1 << digits) + 1
    value = (odd << (top - digits)) + beside  # between kept and kept + 1, in units of 2^(top - digits + 1)
    expected = (kept + (1 if beside > 0 else 0)) * 2.0 ** (top - digits + 1)
    assert float(value) == float(odd << (top - digits))
    bits = sent(module, **{name: sign * value})[name]
    got = bits if code else struct.unpack("<f", struct.pack("<I", int(str(bits)) << 16))[0]
    assert got == sign * expected


def test_the_device_of_a_launch_is_that_of_its_tensors_else_the_current_one(module: ModuleType, stub: Stub) -> None:
    for device in (1, 0):
        x, y, z = (torch.ones(8, device=f"npu:{device}") for _ in range(3))
        assert module.run_add(x, y, z, 8)[7] == 2
        assert stub.ask("stub_device") == device
    stub.library.stub_set_device(2)
    try:
        module.run_nothing()
    finally:
        stub.library.stub_set_device(0)
    assert stub.ask("stub_device") == 2


def test_a_captured_launch_is_not_waited_for(module: ModuleType, stub: Stub) -> None:
    x, y, z = torch.arange(8.0), torch.ones(8), torch.zeros(8)
    stub.library.stub_fail(b"a launch of before")
    stub.library.stub_capture(1)
    try:
        assert module.run_add(x, y, z, 8) is z
    finally:
        stub.library.stub_capture(0)
    with pytest.raises(RuntimeError, match="a launch of before"):
        module.run_add(x, y, z, 8)
