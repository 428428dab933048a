"""Wrong calls: each is refused before a launch, with operator, parameter and value."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import pytest

torch = pytest.importorskip("torch", reason="needs torch")

from tests.binding.conftest import Stub, Workshop, entry, load, zeros_of_scalars  # noqa: E402

pytestmark = pytest.mark.usefixtures("on_npu")

Refused = Callable[..., str]


def test_too_many_arguments(module: ModuleType, refused: Refused) -> None:
    x = torch.ones(1)
    text = refused(TypeError, module.run_add, x, x, x, 1, 2)
    assert text == "sample: run_add(): takes 4 arguments, got 5; parameters: x, y, z, n"
    assert refused(TypeError, module.run_nothing, 1) == "sample: run_nothing(): takes 0 arguments, got 1; parameters: none"


def test_missing_arguments_are_all_named(module: ModuleType, refused: Refused) -> None:
    text = refused(TypeError, module.run_add, torch.ones(1), z=torch.ones(1))
    assert text == "sample: run_add(): missing: y, n; parameters: x, y, z, n"


def test_unknown_keyword(module: ModuleType, refused: Refused) -> None:
    text = refused(TypeError, module.run_broken, kode=1)
    assert text == "sample: run_broken(): no parameter 'kode'; parameters: code"


def test_argument_given_twice(module: ModuleType, refused: Refused) -> None:
    assert refused(TypeError, module.run_broken, 1, code=1) == "sample: run_broken(): parameter 'code' is given twice"


def test_not_a_tensor(module: ModuleType, refused: Refused) -> None:
    x = torch.ones(1)
    text = refused(TypeError, module.run_add, x, [1.0], x, 1)
    assert text == "sample: run_add(): 'y' (__gm__ float *) takes a torch.Tensor, got [1.0] (list)"


def test_none_where_it_is_not_allowed(module: ModuleType, refused: Refused) -> None:
    x = torch.ones(1)
    assert "'x' (__gm__ float *) takes a torch.Tensor, got None (NoneType)" in refused(TypeError, module.run_add, None, x, x, 1)


def test_a_nullable_tensor_says_that_none_is_allowed(module: ModuleType, refused: Refused) -> None:
    assert "'x' (GM_ADDR) takes a torch.Tensor or None, got 3 (int)" in refused(TypeError, module.run_maybe, 3, torch.ones(1))


def test_wrong_dtype(module: ModuleType, refused: Refused) -> None:
    text = refused(TypeError, module.run_strict, torch.ones(2, 2), torch.ones(1))
    assert text == "sample: run_strict(): 'x' (GM_ADDR) must be float16, got float32"


def test_wrong_rank(module: ModuleType, refused: Refused) -> None:
    text = refused(ValueError, module.run_strict, torch.ones(2, 3, 4, dtype=torch.float16), torch.ones(1))
    assert text == "sample: run_strict(): 'x' (GM_ADDR) must have rank 2, got rank 3, shape [2, 3, 4]"


def test_not_contiguous(module: ModuleType, refused: Refused) -> None:
    x, t = torch.ones(12), torch.ones(3, 4).t()
    place = "must be contiguous, got shape [4, 3] with strides [1, 4]"
    assert refused(ValueError, module.run_add, t, x, x, 12).endswith(f"'x' (__gm__ float *) {place}; pass .contiguous() of it")
    # A contiguous copy of an output would take the result with it.
    assert refused(ValueError, module.run_add, x, x, t, 12).endswith(f"'z' (__gm__ float *) {place}")


def test_wrong_device(module: ModuleType, refused: Refused) -> None:
    x = torch.ones(1)
    for device in ("cpu", "meta"):
        text = refused(ValueError, module.run_add, x, torch.ones(1, device=device), x, 1)
        assert text == (
            f"sample: run_add(): 'y' (__gm__ float *) must be on the npu, got a tensor on {device}; "
            "`import skrules.hostnpu` gives torch the emulated one"
        )


def test_two_devices(module: ModuleType, refused: Refused) -> None:
    text = refused(ValueError, module.run_add, torch.ones(1), torch.ones(1), torch.ones(1, device="npu:1"), 1)
    assert text == "sample: run_add(): 'z' (__gm__ float *) is on npu:1, but 'x' (__gm__ float *) is on npu:0"


@pytest.mark.parametrize("place", range(3))
def test_gradients(module: ModuleType, refused: Refused, place: int) -> None:
    tensors = [torch.ones(1) for _ in range(3)]
    tensors[place].requires_grad_()
    text = refused(RuntimeError, module.run_add, *tensors, 1)
    assert text == (
        f"sample: run_add(): '{'xyz'[place]}' (__gm__ float *) requires grad, and there is no backward; "
        "call it under torch.no_grad()"
    )
    with torch.no_grad():
        assert module.run_add(*tensors, 1) is tensors[2]


def test_sparse(module: ModuleType, refused: Refused) -> None:
    x = torch.ones(1)
    text = refused(ValueError, module.run_add, x.cpu().to_sparse(), x, x, 1)
    assert text.endswith("'x' (__gm__ float *) must be dense, got layout Sparse")


def test_lazy_conjugate_and_negation(module: ModuleType, refused: Refused) -> None:
    x = torch.ones(1)
    lazy = torch.ones(1, dtype=torch.complex64).conj()
    assert "'x' (__gm__ float *) is a lazy conjugate or negation" in refused(ValueError, module.run_add, lazy, x, x, 1)
    assert "'y' (__gm__ float *) is a lazy conjugate or negation" in refused(ValueError, module.run_add, x, lazy.imag, x, 1)


def test_a_tensor_without_memory(module: ModuleType, refused: Refused) -> None:
    from torch._subclasses import FakeTensorMode

    with FakeTensorMode():
        fake = torch.ones(4)
    text = refused(ValueError, module.run_add, fake, fake, fake, 4)
    assert text == "sample: run_add(): 'x' (__gm__ float *) has no memory, got a FakeTensor"


INTEGERS = {
    "a": ("int8_t", -128, 127), "b": ("uint8_t", 0, 255), "c": ("int16_t", -32768, 32767), "d": ("uint16_t", 0, 65535),
    "e": ("int32_t", -(1 << 31), (1 << 31) - 1), "f": ("uint32_t", 0, (1 << 32) - 1),
    "g": ("int64_t", -(1 << 63), (1 << 63) - 1), "h": ("uint64_t", 0, (1 << 64) - 1), "n": ("Mode", -128, 127),
}  # fmt: skip


@pytest.mark.parametrize("name", INTEGERS)
@pytest.mark.parametrize("side", ["below", "above", "far"])
def test_integer_out_of_range(module: ModuleType, refused: Refused, name: str, side: str) -> None:
    c_type, low, high = INTEGERS[name]
    value = {"below": low - 1, "above": high + 1, "far": 10**30}[side]
    text = refused(ValueError, module.run_scalars, torch.ones(64), **{**zeros_of_scalars(), name: value})
    assert text == f"sample: run_scalars(): '{name}' ({c_type}) takes {low}..{high}, got {value}"


@pytest.mark.parametrize("value", [1.0, "1", None, torch.tensor(1)], ids=["float", "str", "None", "tensor"])
def test_not_an_integer(module: ModuleType, refused: Refused, value: object) -> None:
    text = refused(TypeError, module.run_broken, value)
    assert text == f"sample: run_broken(): 'code' (uint32_t) takes an int, got {value!r} ({type_name(value)})"


@pytest.mark.parametrize(
    ("name", "c_type", "value", "takes"),
    [
        ("i", "float", 3.5e38, "-3.4028235e38..3.4028235e38 or an infinity"),
        ("k", "half", 65520.0, "-65504..65504 or an infinity"),
        ("l", "bfloat16_t", -3.4e38, "-3.3895314e38..3.3895314e38 or an infinity"),
        ("j", "double", 10**400, "what a double can hold"),
    ],
)
def test_float_out_of_range(module: ModuleType, refused: Refused, name: str, c_type: str, value: float, takes: str) -> None:
    text = refused(ValueError, module.run_scalars, torch.ones(64), **{**zeros_of_scalars(), name: value})
    assert text.startswith(f"sample: run_scalars(): '{name}' ({c_type}) takes {takes}, got {str(value)[:40]}")
    assert len(text) < 220


@pytest.mark.parametrize("value", ["1.0", None, 1j, [1.0], torch.tensor(1.0)], ids=["str", "None", "complex", "list", "tensor"])
def test_not_a_float(module: ModuleType, refused: Refused, value: object) -> None:
    text = refused(TypeError, module.run_scalars, torch.ones(64), **{**zeros_of_scalars(), "i": value})
    assert text == f"sample: run_scalars(): 'i' (float) takes a float, got {value!r} ({type_name(value)})"


@pytest.mark.parametrize("value", [1, 0.0, "True", None])
def test_not_a_bool(module: ModuleType, refused: Refused, value: object) -> None:
    text = refused(TypeError, module.run_scalars, torch.ones(64), **{**zeros_of_scalars(), "m": value})
    assert text == f"sample: run_scalars(): 'm' (bool) takes a bool, got {value!r} ({type_name(value)})"


def test_an_exception_of_a_value_passes_through(module: ModuleType, refused: Refused) -> None:
    class Angry:
        def __index__(self) -> int:
            raise ZeroDivisionError("mine")

    assert refused(ZeroDivisionError, module.run_broken, Angry()) == "mine"


@pytest.mark.parametrize("value", [b"", bytes(15), bytearray(17), list(range(15)), torch.ones(4).numpy()[:3]])
def test_struct_of_the_wrong_size(module: ModuleType, refused: Refused, value: object) -> None:
    bytes_given = value.nbytes if hasattr(value, "nbytes") else len(value)  # type: ignore[arg-type]
    text = refused(ValueError, module.run_tiled, torch.ones(16), value)
    assert text == f"sample: run_tiled(): 'tiling' (const Tiling) takes exactly 16 bytes, got {bytes_given}"


@pytest.mark.parametrize("value", ["0123456789abcdef", 5, None, {}, torch.ones(16)], ids=["str", "int", "None", "dict", "tensor"])
def test_not_a_struct(module: ModuleType, refused: Refused, value: object) -> None:
    text = refused(TypeError, module.run_tiled, torch.ones(16), value)
    assert text.startswith("sample: run_tiled(): 'tiling' (const Tiling) takes bytes or a sequence of 16 byte values, got ")
    assert text.endswith(f" ({type_name(value)})")


@pytest.mark.parametrize(
    ("value", "kind", "takes"),
    [
        (256, ValueError, "0..255, got 256"),
        (-1, ValueError, "0..255, got -1"),
        (10**30, ValueError, f"0..255, got {10**30}"),
        (1.0, TypeError, "an int, got 1.0 (float)"),
        ("1", TypeError, "an int, got '1' (str)"),
    ],
)
def test_struct_bytes_that_are_no_bytes(
    module: ModuleType, refused: Refused, value: object, kind: type[Exception], takes: str
) -> None:
    text = refused(kind, module.run_tiled, torch.ones(16), [0, 0, 0, value, *[0] * 12])
    assert text == f"sample: run_tiled(): 'tiling' (const Tiling), byte 3, takes {takes}"


def test_struct_buffer_in_pieces(module: ModuleType, refused: Refused) -> None:
    text = refused(ValueError, module.run_tiled, torch.ones(16), memoryview(bytes(32))[::2])
    assert "'tiling' (const Tiling) takes bytes that lie in one piece, got <memory" in text


def test_a_sequence_that_shrinks_while_it_is_read(module: ModuleType, refused: Refused) -> None:
    items: list[object] = [0] * 16

    class Thief:
        def __index__(self) -> int:
            items.clear()
            return 1

    items[2] = Thief()
    assert refused(ValueError, module.run_tiled, torch.ones(16), items).endswith("takes exactly 16 bytes, got 0")


def test_a_value_whose_repr_fails_or_is_long(module: ModuleType, refused: Refused) -> None:
    class Shy:
        def __repr__(self) -> str:
            raise ValueError("no")

    assert refused(TypeError, module.run_broken, Shy()).endswith("got a value without a repr (Shy)")
    text = refused(TypeError, module.run_broken, "ä" * 200)
    assert text.endswith("ä... (str)") and len(text) < 120


def test_cores_that_nobody_knows(workshop: Workshop, stub: Stub, refused: Refused) -> None:
    fresh = load(workshop.build("fresh", [entry("nothing")]))
    stub.library.stub_no_device(1)
    try:
        text = refused(RuntimeError, fresh.run_nothing)
    finally:
        stub.library.stub_no_device(0)
    assert text == "fresh: run_nothing(): the arch of device 0 is unknown: aclrtGetDeviceInfo gives 0 and error 107001"
    assert fresh.run_nothing() is None


def test_a_block_that_no_device_has_room_for(module: ModuleType, refused: Refused) -> None:
    text = refused(RuntimeError, module.run_wide)
    assert text == "sample: run_wide(): a block of it has more cores than device 0"


@pytest.mark.parametrize(
    ("device", "told"),
    [
        (-1, "no npu device is set; call torch.npu.set_device first"),
        (5, "no stream of device 5"),
    ],
)
def test_a_call_without_tensors_needs_a_current_device(
    module: ModuleType, stub: Stub, refused: Refused, device: int, told: str
) -> None:
    stub.library.stub_set_device(device)
    try:
        text = refused(RuntimeError, module.run_nothing)
    finally:
        stub.library.stub_set_device(0)
    assert text == f"sample: run_nothing(): {told}"


def test_a_stream_that_is_gone(module: ModuleType, stub: Stub, refused: Refused) -> None:
    stub.library.stub_capture(-1)
    try:
        text = refused(RuntimeError, module.run_nothing)
    finally:
        stub.library.stub_capture(0)
    assert text == "sample: run_nothing(): the stream is gone: error 107003"


def test_all_cores_of_another_arch(workshop: Workshop, refused: Refused) -> None:
    later = load(workshop.build("fresh", [entry("nothing"), entry("cube", blocks=3)], arch="dav-3510"))
    text = refused(RuntimeError, later.run_nothing)
    assert text == (
        "fresh: run_nothing(): it runs on all cores of dav-3510, but the emulated device is dav-2201; "
        "set SKRULES_HOST_ARCH=dav-3510"
    )
    assert later.run_cube() is None  # its blocks are in the contract


def test_a_kernel_that_fails(module: ModuleType) -> None:
    with pytest.raises(RuntimeError) as caught:
        module.run_broken(1)
    assert str(caught.value) == "sample: run_broken(): the kernel failed with error 507015: vector core exception"
    assert module.run_broken(0) is None


def type_name(value: object) -> str:
    return type(value).__name__
