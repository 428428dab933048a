"""Operators as torch sees them: what is defined, what a call does, and what tracing and compiling make of it."""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs torch")

from tests.binding.conftest import ENTRIES, SCALARS, Stub, Workshop, zeros_of_scalars  # noqa: E402

pytestmark = pytest.mark.usefixtures("on_npu")

NAME = "ops_of_sample"
ROOT = Path(__file__).parents[2]
CHECKS = ("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic")


@pytest.fixture(scope="session")
def folder(workshop: Workshop, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package of the operator "sample" with all of ENTRIES."""
    place = tmp_path_factory.mktemp("packages")
    workshop.package(place / NAME, "sample", ENTRIES)
    return place


@pytest.fixture(scope="session")
def package(folder: Path) -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SK_ACLGRAPH_NPU_ARCH", "dav-2201")
        patch.syspath_prepend(folder)
        yield importlib.import_module(NAME)


@pytest.fixture
def ops(package: ModuleType) -> Any:
    del package
    return torch.ops.ascendc_ops


def numbers(count: int = 4) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    return torch.arange(float(count)), torch.ones(count), torch.zeros(count)


SCHEMAS = {
    "add": "(Tensor x, Tensor y, Tensor(a2!) z, int n) -> Tensor(a2!)",
    "add_": "(Tensor x, Tensor y, Tensor(a2!) z, int n) -> ()",
    "scalars": "(Tensor(a0!) out, int a, int b, int c, int d, int e, int f, int g, int h, float i, float j, float k, float l, "
    "bool m, Scalar n) -> Tensor(a0!)",
    "tiled": "(Tensor(a0!) out, int[] tiling) -> ()",
    "maybe": "(Tensor(a0)? x, Tensor(a1!) out) -> Tensor(a0)?",
    "maybe_": "(Tensor? x, Tensor(a1!) out) -> ()",
    "chain": "(Tensor[] xs, Tensor(a1!) out, Tensor(a2!) scratch, float scale) -> Tensor(a1!)",
    "spread": "(Tensor x, Tensor(a1!)[] outs) -> ()",
    "nothing": "() -> ()",
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_schema(ops: Any, name: str) -> None:
    assert str(getattr(ops, name).default._schema) == f"ascendc_ops::{name}{SCHEMAS[name]}"


def test_nothing_is_loaded_before_the_first_launch(folder: Path) -> None:
    done = subprocess.run(
        [
            *(sys.executable, "-c"),
            f"import sys; sys.path.insert(0, {str(folder)!r}); import torch, {NAME}\n"
            "op = torch.ops.ascendc_ops.add\n"
            "op(*(torch.ones(1, device='meta'),) * 3, 1)\n"
            f"assert '{NAME}.sample_dav_2201' not in sys.modules\n"
            "import skrules.hostnpu\n"
            "op(*(torch.ones(1, device='npu'),) * 3, 1)\n"
            f"assert '{NAME}.sample_dav_2201' in sys.modules",
        ],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT), "SK_ACLGRAPH_NPU_ARCH": "dav-2201"},
    )
    assert done.returncode == 0, done.stderr


def test_outputs_are_passed_in_and_the_very_tensor_is_given_back(ops: Any) -> None:
    x, y, z = numbers()
    before = z._version
    assert ops.add(x, y, z, 4) is z
    assert z.tolist() == [1.0, 2.0, 3.0, 4.0]
    assert z._version > before
    assert ops.add(n=2, z=torch.zeros(4), y=y, x=x).tolist() == [1.0, 2.0, 0.0, 0.0]


def test_a_launch_that_fails_or_returns_nothing(ops: Any) -> None:
    assert ops.nothing() is None
    with pytest.raises(RuntimeError, match=r"sample: run_broken\(\): the kernel failed"):
        ops.broken(1)


def test_scalars_of_every_type(ops: Any, package: ModuleType) -> None:
    values = {**zeros_of_scalars(), "a": -128, "b": 255, "e": -(2**31), "h": 2**63 - 1, "i": 0.1, "k": 2, "m": True, "n": 1}
    out, native = torch.zeros(64, dtype=torch.uint8), torch.zeros(64, dtype=torch.uint8)
    ops.scalars(out, *(values[name] for name in SCALARS))
    package.run_scalars(native, *(values[name] for name in SCALARS))
    assert out.tolist() == native.tolist()
    assert any(native.tolist())


def test_structs_are_their_bytes(ops: Any) -> None:
    out = torch.zeros(16, dtype=torch.uint8)
    ops.tiled(out, list(range(16)))
    assert out.tolist() == list(range(16))


def test_none_and_lists(ops: Any) -> None:
    out = torch.full((1,), 7, dtype=torch.uint8)
    assert ops.maybe(None, out) is None
    assert out.item() == 0
    x = torch.ones(1)
    assert ops.maybe(x, out) is x
    assert out.item() == 1
    outs = [torch.zeros(2, dtype=torch.uint8), torch.zeros(3, dtype=torch.uint8)]
    ops.spread(torch.arange(5, dtype=torch.uint8), outs)
    assert [each.tolist() for each in outs] == [[0, 1], [2, 3, 4]]


def test_what_is_prepared_before_a_call(ops: Any, package: ModuleType, stub: Stub) -> None:
    xs, out, scratch = [torch.ones(2), torch.ones(1)], torch.zeros(3), torch.zeros(512, dtype=torch.uint8)
    stub.library.stub_capture(1)
    try:
        with pytest.raises(RuntimeError, match="call prepare_chain with the same arguments first"):
            ops.chain(xs, out, scratch, 2.0)
    finally:
        stub.library.stub_capture(0)
    package.prepare_chain(xs, out, scratch, 2.0)
    assert ops.chain(xs, out, scratch, 2.0) is out
    assert out.tolist() == [2.0, 2.0, 2.0]


REFUSED = {
    "device": (
        "add",
        lambda x, y, z: (x, y, z.cpu(), 4),
        "'z' (__gm__ float *) must be on the npu, got a tensor on cpu; `import skrules.hostnpu` gives torch the emulated one",
    ),
    "cpu": (
        "add",
        lambda x, y, z: (x.cpu(), y.cpu(), z.cpu(), 4),
        "'x' (__gm__ float *) must be on the npu, got a tensor on cpu; `import skrules.hostnpu` gives torch the emulated one",
    ),
    "devices": (
        "add",
        lambda x, y, z: (x, y.to("npu:1"), z, 4),
        "'y' (__gm__ float *) is on npu:1, but 'x' (__gm__ float *) is on npu:0",
    ),
    "meta": (
        "add",
        lambda x, y, z: (x, y.to("meta"), z, 4),
        "'y' (__gm__ float *) is on meta, but 'x' (__gm__ float *) is on npu:0",
    ),
    "gradients": (
        "add",
        lambda x, y, z: (x, y.requires_grad_(), z, 4),
        "'y' (__gm__ float *) requires grad, and there is no backward; call it under torch.no_grad()",
    ),
    "none": ("add", lambda x, _, z: (x, None, z, 4), "'y' (__gm__ float *) takes a torch.Tensor, got None (NoneType)"),
    "strides": (
        "add",
        lambda x, y, z: (x[::2], y, z, 2),
        "'x' (__gm__ float *) must be contiguous, got shape [2] with strides [2]",
    ),
    "dtype": ("strict", lambda x, y, _: (x, y), "'x' (GM_ADDR) must be float16, got float32"),
    "rank": (
        "strict",
        lambda x, y, _: (x.half(), y),
        "'x' (GM_ADDR) must have rank 2, got rank 1, shape [4]",
    ),
    "range": ("add", lambda x, y, z: (x, y, z, -1), "'n' (uint32_t) takes 0..4294967295, got -1"),
    "struct": ("tiled", lambda x, *_: (x, [0] * 15), "'tiling' (const Tiling) takes exactly 16 bytes, got 15"),
    "byte": ("tiled", lambda x, *_: (x, [0] * 15 + [256]), "'tiling' (const Tiling), byte 15, takes 0..255, got 256"),
    "absent": ("gone", lambda x, *_: (x, []), "its kernel stands under '#ifdef NEVER', which does not hold in this build"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_call_is_refused_with_names_and_values_before_the_launch(ops: Any, stub: Stub, case: str) -> None:
    name, arguments, message = REFUSED[case]
    before = stub.ask("stub_launches")
    with pytest.raises((TypeError, ValueError, RuntimeError)) as raised:
        getattr(ops, name)(*arguments(*numbers()))
    assert f"sample: run_{name}(): " in str(raised.value)
    assert message in str(raised.value)
    assert stub.ask("stub_launches") == before


def test_numbers_of_the_wrong_type_are_refused_by_the_schema(ops: Any) -> None:
    x, y, z = numbers()
    for arguments, message in (((x, y, z, 1.5), "for argument 'n' but instead found type 'float'"), ((x, y, z), "argument 'n'")):
        with pytest.raises(RuntimeError, match=r"ascendc_ops::add\(\)") as raised:
            ops.add(*arguments)
        assert message in str(raised.value)


def test_shapes_are_known_without_a_device(ops: Any) -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode

    x, y, z = (each.to("meta") for each in numbers())
    assert ops.add(x, y, z, 4) is z
    with FakeTensorMode():
        x, y, z = numbers(3)
        assert ops.add(x, y, z, 3).shape == (3,)
        with pytest.raises(TypeError, match=r"sample: run_strict\(\): 'x' \(GM_ADDR\) must be float16, got float32"):
            ops.strict(x, y)


def test_gradients_are_refused_while_compiling_too(ops: Any) -> None:
    use = torch.compile(lambda x, y, z: ops.add(x, y, z, 4), backend="aot_eager", fullgraph=True)
    x, y, z = numbers()
    with pytest.raises(RuntimeError, match=r"'x' \(__gm__ float \*\) requires grad, and there is no backward"):
        use(x.requires_grad_(), y, z)
    with torch.no_grad():
        assert use(x, y, z).tolist() == [1.0, 2.0, 3.0, 4.0]


def test_derivatives_are_refused_where_they_would_be_zero(ops: Any, stub: Stub) -> None:
    x, y, z = numbers()

    def use(x: torch.Tensor) -> torch.Tensor:
        return ops.add(x, y, torch.zeros_like(x), 4).sum()

    before = stub.ask("stub_launches")
    with pytest.raises(
        RuntimeError, match=r"sample: run_add\(\): 'x' \(__gm__ float \*\) requires grad, and there is no backward"
    ):
        torch.func.grad(use)(x)
    with pytest.raises(
        RuntimeError, match=r"sample: run_add\(\): 'x' \(__gm__ float \*\) has a tangent, and there is no forward"
    ):
        torch.func.jvp(use, (x,), (y,))
    forward = torch.autograd.forward_ad
    with forward.dual_level(), pytest.raises(RuntimeError, match=r"'y' \(__gm__ float \*\) has a tangent"):
        ops.add(x, forward.make_dual(y, x), z, 4)
    assert stub.ask("stub_launches") == before
    # What is not followed is nobody's derivative.
    assert torch.func.grad(lambda w: (w * ops.add(x, y, z, 4)).sum())(torch.ones_like(x)).tolist() == [1.0, 2.0, 3.0, 4.0]


def test_what_a_call_is_dispatched_on(ops: Any) -> None:
    for key in ("PrivateUse1", "Meta"):
        assert torch._C._dispatch_has_kernel_for_dispatch_key("ascendc_ops::add_", key)
    assert ops.nothing() is None  # without any tensor


def test_compiled_code_calls_the_launch_and_keeps_the_order_of_writes(ops: Any) -> None:
    @torch.compile(backend="aot_eager", fullgraph=True)
    def use(x: torch.Tensor, y: torch.Tensor, z: torch.Tensor) -> tuple[torch.Tensor, ...]:
        before = z + 1
        result = ops.add(x, y, z, 4)
        again = ops.add(result, y, torch.empty_like(z), n=4)
        return before, again, z * 10

    x, y, z = numbers()
    before, again, after = use(x, y, z)
    assert before.tolist() == [1.0] * 4
    assert again.tolist() == [2.0, 3.0, 4.0, 5.0]
    assert after.tolist() == [10.0, 20.0, 30.0, 40.0]
    assert z.tolist() == [1.0, 2.0, 3.0, 4.0]


def test_compiled_code_with_none_and_lists(ops: Any) -> None:
    @torch.compile(backend="aot_eager", fullgraph=True)
    def use(x: torch.Tensor, out: torch.Tensor, first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
        ops.maybe(None, out)
        ops.spread(x, [first, second])
        return out + 1

    outs = [torch.zeros(2, dtype=torch.uint8), torch.zeros(3, dtype=torch.uint8)]
    assert use(torch.arange(5, dtype=torch.uint8), torch.full((1,), 7, dtype=torch.uint8), *outs).item() == 1
    assert [each.tolist() for each in outs] == [[0, 1], [2, 3, 4]]


def test_compiled_code_prepares_what_it_copies(ops: Any) -> None:
    @torch.compile(backend="aot_eager", fullgraph=True)
    def use(xs: list[torch.Tensor], scratch: torch.Tensor) -> torch.Tensor:
        return ops.chain(xs, torch.zeros(3), scratch, 2.0) + 1

    for value in (1.0, 2.0):
        xs = [torch.full((2,), value), torch.full((1,), value)]
        assert use(xs, torch.zeros(512, dtype=torch.uint8)).tolist() == [2 * value + 1] * 3


def byte_tensor(count: int) -> torch.Tensor:
    return torch.arange(count, dtype=torch.uint8)


SAMPLES = {
    "add": lambda: (*numbers(), 4),
    "scalars": lambda: (byte_tensor(64), *zeros_of_scalars().values()),
    "tiled": lambda: (byte_tensor(16), list(range(16))),
    "maybe": lambda: (torch.ones(1), byte_tensor(1)),
    "told": lambda: (None, torch.zeros(4, dtype=torch.int64)),
    "spread": lambda: (byte_tensor(5), [byte_tensor(2), byte_tensor(3)]),
    "chain": lambda: ([torch.ones(2), torch.ones(1)], torch.zeros(3), torch.zeros(512, dtype=torch.uint8), 2.0),
}


@pytest.mark.parametrize("form", ["", "_"], ids=["composed", "launch"])
@pytest.mark.parametrize("name", SAMPLES)
def test_torch_accepts_the_operator(ops: Any, name: str, form: str) -> None:
    with contextlib.redirect_stderr(io.StringIO()):
        result = torch.library.opcheck(getattr(ops, name + form).default, SAMPLES[name](), test_utils=CHECKS)
    assert set(result.values()) == {"SUCCESS"}


def test_a_second_package_with_the_same_entry(workshop: Workshop, package: ModuleType, tmp_path: Path) -> None:
    del package
    workshop.package(tmp_path / "more_ops", "plus", [ENTRIES[0]])
    sys.path.insert(0, str(tmp_path))
    try:
        with pytest.raises(ImportError, match=r"more_ops cannot define torch\.ops\.ascendc_ops\.add: another package"):
            importlib.import_module("more_ops")
    finally:
        sys.path.remove(str(tmp_path))


def test_what_is_done_to_an_installed_module_is_told(workshop: Workshop, tmp_path: Path) -> None:
    """Modules as the linker made them: cut off, renamed, and of another operator."""
    for name, damage, message in (
        ("cut", lambda path: path.write_bytes(path.read_bytes()[:-64]), "plus_dav_2201.so of {} is cut off"),
        (
            "another",
            lambda path: path.write_bytes((workshop.folder / "sample_dav_2201/sample_dav_2201.so").read_bytes()),
            "PyInit",
        ),
    ):
        workshop.package(tmp_path / name, "plus", [ENTRIES[0]])
        damage(tmp_path / name / "plus_dav_2201.so")
        done = subprocess.run(
            [sys.executable, "-c", f"import sys; sys.path.insert(0, '.'); import {name}; {name}.load('plus', 'dav-2201')"],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
        )
        assert done.returncode == 1
        last = done.stderr.strip().splitlines()[-1]
        assert last.startswith("RuntimeError: plus_dav_2201") and message.format(name) in last
        assert last.endswith("build it again")
