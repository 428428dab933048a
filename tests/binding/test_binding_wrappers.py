"""Runtime wrappers from Python: lists become views, what is prepared is what is used, and one call is one launch."""

from __future__ import annotations

import contextlib
import gc
import inspect
from collections.abc import Callable, Iterator
from types import ModuleType

import pytest

torch = pytest.importorskip("torch", reason="needs torch")

from tests.binding.conftest import Stub  # noqa: E402

pytestmark = pytest.mark.usefixtures("on_npu")

Refused = Callable[..., str]
Call = tuple[list[torch.Tensor], torch.Tensor, torch.Tensor, float]


@contextlib.contextmanager
def capture(stub: Stub) -> Iterator[None]:
    """What is launched inside is captured, says the device."""
    stub.library.stub_capture(1)
    try:
        yield
    finally:
        stub.library.stub_capture(0)


def chain(*lengths: int, scratch: int = 100) -> Call:
    """Arguments of run_chain: tensors of these lengths, their output, scratch bytes and a scale."""
    xs = [torch.full((length,), float(index + 1)) for index, length in enumerate(lengths)]
    return xs, torch.zeros(sum(lengths)), torch.zeros(scratch, dtype=torch.uint8), 2.0


def test_a_list_is_prepared_and_then_used(module: ModuleType, stub: Stub) -> None:
    xs, out, scratch, _ = call = chain(2, 0, 3)
    before = stub.ask("stub_launches")
    assert module.prepare_chain(*call) is None
    assert stub.ask("stub_launches") == before
    assert module.run_chain(*call) is out
    assert stub.ask("stub_launches") == before + 1 and stub.ask("stub_blocks") == 3
    assert out.tolist() == [2, 2, 6, 6, 6]
    # New values in the same tensors need no new preparation, and neither does another scale or output.
    xs[0].fill_(5)
    other = torch.zeros(5)
    assert module.run_chain(tuple(xs), other, scratch, scale=1.0) is other
    assert other.tolist() == [5, 5, 3, 3, 3]


def test_outputs_and_the_workspace_are_new_to_autograd(module: ModuleType) -> None:
    xs, out, scratch, _ = call = chain(2)
    versions = [tensor._version for tensor in (*xs, out, scratch)]
    module.prepare_chain(*call)
    assert [tensor._version for tensor in (*xs, out, scratch)] == [versions[0], versions[1], versions[2] + 1]
    module.run_chain(*call)
    assert [tensor._version for tensor in (*xs, out, scratch)] == [versions[0], versions[1] + 1, versions[2] + 2]


def test_lists_of_outputs(module: ModuleType) -> None:
    outs = [torch.zeros(2, dtype=torch.uint8), torch.zeros(0, dtype=torch.uint8), torch.zeros(3, dtype=torch.uint8)]
    before = [out._version for out in outs]
    assert module.run_spread(torch.arange(5, dtype=torch.uint8), outs) is None
    assert [out.tolist() for out in outs] == [[0, 1], [], [2, 3, 4]]
    assert [out._version for out in outs] == [version + 1 for version in before]
    assert not hasattr(module, "prepare_spread")


@pytest.mark.parametrize(
    ("tensor", "told"),
    [
        (lambda: torch.zeros(2, 3, dtype=torch.bfloat16), [1, 12, 2, 11, 2, 3]),
        (lambda: torch.zeros((), dtype=torch.int8), [1, 1, 0, 2, 0, 0]),
        (lambda: torch.zeros(4, dtype=torch.complex128), [1, 64, 1, 17, 4, 0]),
        (lambda: torch.empty(2, dtype=torch.uint8).view(torch.float8_e8m0fnu), [1, 2, 1, 0, 2, 0]),
        (lambda: None, [0, 0, 0, 0, 0, 0]),
    ],
)
def test_what_a_view_says(module: ModuleType, tensor: Callable[[], torch.Tensor | None], told: list[int]) -> None:
    out = torch.zeros(6, dtype=torch.int64)
    module.run_told(tensor(), out)
    assert out.tolist() == told


def test_signatures_and_names(module: ModuleType) -> None:
    for function in (module.run_chain, module.prepare_chain):
        assert list(inspect.signature(function).parameters) == ["xs", "out", "scratch", "scale"]
    assert module.__skrules_entries__["chain"] == ("xs", "out", "scratch", "scale")
    assert "Writes what run_chain reads to the end of 'scratch'." in module.prepare_chain.__doc__
    assert "xs: list of GM_ADDR, float32, rank 1" in module.run_chain.__doc__


def test_a_workspace_that_the_kernel_does_not_have(module: ModuleType, stub: Stub, refused: Refused) -> None:
    assert module.__skrules_entries__["bare_list"] == ("xs", "workspace")
    workspace = torch.zeros(32, dtype=torch.uint8)
    with capture(stub):
        assert "'workspace' (GM_ADDR) is not prepared" in refused(RuntimeError, module.run_bare_list, [], workspace)
    module.prepare_bare_list([], workspace)
    with capture(stub):
        assert module.run_bare_list([], workspace) is None


def test_what_is_not_prepared_is_prepared_by_the_call(module: ModuleType, stub: Stub) -> None:
    """As long as no graph is captured: compiled code launches with copies of what is written."""
    xs, out, scratch, scale = chain(1, 2)
    for workspace in (scratch, scratch.clone()):
        out.zero_()
        assert module.run_chain(xs, out, workspace, scale) is out
        assert out.tolist() == [2, 4, 4]
    assert module.run_chain(xs[1:], out[1:], scratch, 1.0).tolist() == [2, 2]
    with capture(stub):
        assert module.run_chain(xs[1:], out[1:], scratch, 1.0) is not None


NOT_PREPARED = (
    "sample: run_chain(): 'scratch' (GM_ADDR) is not prepared; "
    "call prepare_chain with the same arguments first, before a graph is captured"
)


def test_run_before_prepare(module: ModuleType, stub: Stub, refused: Refused) -> None:
    xs, out, scratch, scale = call = chain(1, 2)
    with capture(stub):
        assert refused(RuntimeError, module.run_chain, *call) == NOT_PREPARED
    module.prepare_chain(*call)
    other = scratch.clone()
    with capture(stub):
        assert refused(RuntimeError, module.run_chain, xs, out, other, scale) == NOT_PREPARED
        assert refused(RuntimeError, module.run_chain, xs, out, scratch[:-32], scale) == NOT_PREPARED
        assert module.run_chain(xs, out, scratch[4:], scale) is out  # the same end


@pytest.fixture
def captured(stub: Stub) -> Iterator[Callable[..., object]]:
    """Calls a function under capture."""

    def call(function: Callable[..., object], *args: object) -> object:
        with capture(stub):
            return function(*args)

    yield call


def test_another_list_than_was_prepared(module: ModuleType, captured: Callable[..., object], refused: Refused) -> None:
    xs, out, scratch, scale = call = chain(1, 2, 2)
    module.prepare_chain(*call)
    place = "sample: run_chain(): 'scratch' (GM_ADDR) is prepared for "
    again = "; call prepare_chain again"
    text = refused(RuntimeError, captured, module.run_chain, xs[:2], out, scratch, scale)
    assert text == f"{place}3 tensors, got 2{again}"
    text = refused(RuntimeError, captured, module.run_chain, [xs[0], xs[2], xs[1]], out, scratch, scale)
    assert text == f"{place}other tensors, the first at place 1{again}"
    text = refused(RuntimeError, captured, module.run_chain, [xs[0], xs[1], xs[2][:1]], out, scratch, scale)
    assert text == f"{place}other tensors, the first at place 2{again}"
    module.prepare_chain([xs[2]], out, scratch, scale)
    assert "prepared for 1 tensors, got 3" in refused(RuntimeError, captured, module.run_chain, *call)


def test_memory_that_was_given_back_is_not_prepared(
    module: ModuleType, captured: Callable[..., object], refused: Refused
) -> None:
    xs, out, memory, scale = chain(1, scratch=128)

    def tensor() -> torch.Tensor:
        """A tensor of its own over the same memory."""
        storage = torch._C._construct_storage_from_data_pointer(memory.data_ptr(), memory.device, 128)
        return torch.empty(0, dtype=torch.uint8).set_(storage)

    scratch = tensor()
    module.prepare_chain(xs, out, scratch, scale)
    assert module.run_chain(xs, out, scratch, scale) is out
    del scratch
    gc.collect()
    assert refused(RuntimeError, captured, module.run_chain, xs, out, tensor(), scale) == NOT_PREPARED


def test_one_workspace_serves_one_entry_at_a_time(module: ModuleType, captured: Callable[..., object], refused: Refused) -> None:
    call = chain(1, scratch=64)
    module.prepare_chain(*call)
    scratch = call[2]
    module.prepare_bare_list([], scratch)  # 32 bytes: at another place than the 64 of chain
    assert module.run_chain(*call) is call[1]
    text = refused(RuntimeError, captured, module.run_bare_list, [], scratch[:32])
    assert "is not prepared" in text  # chain's descriptors are there


@pytest.mark.parametrize("function", ["prepare_chain", "run_chain"])
def test_a_workspace_that_is_too_small(module: ModuleType, refused: Refused, function: str) -> None:
    xs, out, scratch, scale = chain(1, scratch=63)
    text = refused(ValueError, getattr(module, function), xs, out, scratch, scale)
    assert text == (
        f"sample: {function}(): 'scratch' (GM_ADDR) has 63 bytes, too few for 64 bytes of descriptors "
        "at its end, at a multiple of 32"
    )
    odd = torch.zeros(128, dtype=torch.uint8)[1:66]
    assert "has 65 bytes, too few for 64 bytes" in refused(ValueError, getattr(module, function), xs, out, odd, scale)
    empty = torch.zeros(0, dtype=torch.uint8)
    assert "has 0 bytes, too few" in refused(ValueError, getattr(module, function), xs, out, empty, scale)


def test_what_a_wrapper_refuses(module: ModuleType, refused: Refused) -> None:
    text = refused(ValueError, module.prepare_chain, *chain(1, 1, 1, 1))
    assert text == "sample: prepare_chain(): 'xs' takes at most 3 tensors, got 4"
    xs, out, scratch, _ = call = chain(1)
    module.prepare_chain(*call)
    assert refused(ValueError, module.run_chain, xs, out, scratch, -1.0) == "sample: run_chain(): 'scale' is negative"


def test_a_refused_preparation_leaves_nothing_prepared(
    module: ModuleType, captured: Callable[..., object], refused: Refused
) -> None:
    xs, out, scratch, scale = call = chain(1)
    module.prepare_chain(*call)
    refused(ValueError, module.prepare_chain, xs * 4, out, scratch, scale)
    assert refused(RuntimeError, captured, module.run_chain, *call) == NOT_PREPARED


@pytest.mark.parametrize(
    ("xs", "kind", "message"),
    [
        (lambda: 1.5, TypeError, "'xs' (GM_ADDR) takes a list or tuple of torch.Tensor, got 1.5 (float)"),
        (lambda: None, TypeError, "'xs' (GM_ADDR) takes a list or tuple of torch.Tensor, got None (NoneType)"),
        (lambda: [torch.ones(1), None], TypeError, "'xs[1]' (GM_ADDR) must be a torch.Tensor, got None (NoneType)"),
        (lambda: [torch.ones(1), torch.ones(1).half()], TypeError, "'xs[1]' (GM_ADDR) must be float32, got float16"),
        (lambda: [torch.ones(1, 1)], ValueError, "'xs[0]' (GM_ADDR) must have rank 1, got rank 2, shape [1, 1]"),
        (
            lambda: [torch.ones(4)[::2]],
            ValueError,
            "'xs[0]' (GM_ADDR) must be contiguous, got shape [2] with strides [2]; pass .contiguous() of it",
        ),
        (
            lambda: [torch.ones(1, device="cpu")],
            ValueError,
            "'xs[0]' (GM_ADDR) must be on the npu, got a tensor on cpu; `import skrules.hostnpu` gives torch the emulated one",
        ),
        (
            lambda: [torch.ones(1), torch.ones(1, device="npu:1")],
            ValueError,
            "'xs[1]' (GM_ADDR) is on npu:1, but 'xs[0]' (GM_ADDR) is on npu:0",
        ),
    ],
)
@pytest.mark.parametrize("function", ["prepare_chain", "run_chain"])
def test_items_are_checked_one_by_one(
    module: ModuleType, refused: Refused, function: str, xs: Callable[[], object], kind: type[Exception], message: str
) -> None:
    _, out, scratch, scale = chain(1)
    text = refused(kind, getattr(module, function), xs(), out, scratch, scale)
    assert text == f"sample: {function}(): {message}"


def test_a_list_that_shrinks_while_other_arguments_are_read(module: ModuleType) -> None:
    xs, out, scratch, scale = call = chain(1, 2)
    module.prepare_chain(*call)

    class Thief:
        def __float__(self) -> float:
            xs.clear()
            gc.collect()
            return scale

    assert module.run_chain(xs, out, scratch, Thief()) is out
    assert out.tolist() == [2, 4, 4]


def test_other_arguments_are_checked_as_ever(module: ModuleType, refused: Refused) -> None:
    xs, out, scratch, _ = chain(1)
    assert refused(TypeError, module.prepare_chain, xs, out, scratch) == (
        "sample: prepare_chain(): missing: scale; parameters: xs, out, scratch, scale"
    )
    assert "'scale' (float) takes a float, got 'x' (str)" in refused(TypeError, module.run_chain, xs, out, scratch, "x")
    assert "'scratch' (GM_ADDR) takes a torch.Tensor, got None" in refused(TypeError, module.run_chain, xs, out, None, 1.0)


def test_a_kernel_that_is_not_in_the_build_says_why(module: ModuleType, refused: Refused) -> None:
    text = refused(RuntimeError, module.run_gone, torch.ones(1), b"")
    assert text == "sample: run_gone(): its kernel stands under '#ifdef NEVER', which does not hold in this build"


def test_nothing_is_prepared_under_capture(module: ModuleType, stub: Stub, refused: Refused) -> None:
    call = chain(2)
    with capture(stub):
        text = refused(RuntimeError, module.prepare_chain, *call)
        assert text.endswith("a graph is being captured; prepare before the capture begins")
        assert "is not prepared" in refused(RuntimeError, module.run_chain, *call)
