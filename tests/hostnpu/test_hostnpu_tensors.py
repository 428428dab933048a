"""Tensors on the emulated npu: memory, views, copies, operators of the CPU, autograd, and where memory is."""

from __future__ import annotations

import copy
import io
from types import ModuleType

import pytest

torch = pytest.importorskip("torch", reason="needs torch")

pytestmark = pytest.mark.usefixtures("npu")


def test_values_go_both_ways() -> None:
    x = torch.arange(6.0).reshape(2, 3)
    on = x.to("npu")
    assert on.device == torch.device("npu:0") and on.is_npu
    assert on.data_ptr() != x.data_ptr()
    assert torch.equal(on.cpu(), x) and torch.equal(x.npu().cpu(), x)
    assert on.tolist() == x.tolist() and on[1, 2].item() == 5


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.int8, torch.int64, torch.bool, torch.complex64])
def test_every_dtype_is_copied_and_converted(dtype: torch.dtype) -> None:
    x = torch.tensor([0.0, 1.0, 3.0])
    assert torch.equal(x.to(dtype).npu().cpu(), x.to(dtype))
    assert torch.equal(x.npu().to(dtype).cpu(), x.to(dtype))


def test_fresh_memory_is_not_zero() -> None:
    assert torch.empty(4, dtype=torch.uint8, device="npu").tolist() == [0xA5] * 4
    assert torch.empty(0, device="npu").tolist() == []


def test_operators_of_the_cpu_carry_out_the_rest() -> None:
    x = torch.arange(6.0, device="npu").reshape(2, 3)
    assert (x @ x.t()).tolist() == [[5, 14], [14, 50]]
    assert torch.cat([x, x]).shape == (4, 3)
    assert (x * 2 + 1).sum().item() == 36
    assert (x + 1).device == x.device
    torch.testing.assert_close(x.softmax(1).cpu(), x.cpu().softmax(1))


def test_views_share_memory() -> None:
    x = torch.zeros(2, 3, device="npu")
    for view in (x.view(6), x.t(), x[1:, ::2], x.unfold(1, 2, 1), x.expand(4, 2, 3)):
        assert view.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    x.t()[2].fill_(7)
    x[0, :2] += 1
    assert x.tolist() == [[1, 1, 7], [0, 0, 7]]
    assert x.t().contiguous().tolist() == [[1, 0], [1, 0], [7, 7]]


def test_conjugates_and_parts_of_complex_numbers() -> None:
    x = torch.tensor([1 + 2j, 3 - 1j], device="npu")
    assert x.conj().cpu().tolist() == [1 - 2j, 3 + 1j]
    assert x.conj().clone().tolist() == [1 - 2j, 3 + 1j]
    assert x.conj().imag.tolist() == [-2, 1]
    assert torch.view_as_complex(torch.view_as_real(x)).tolist() == x.tolist()


def test_indexing_by_tensors() -> None:
    x, places = torch.arange(10.0, device="npu"), torch.tensor([1, 2], device="npu")
    x[places] = 5
    x[x > 8] = 0
    assert x[places].tolist() == [5, 5] and x[9].item() == 0
    assert torch.nonzero(x).shape == (8, 1)


def test_sizes_may_change() -> None:
    x = torch.ones(3, device="npu:1")
    assert x.resize_(100).device == torch.device("npu:1") and x[:3].tolist() == [1, 1, 1]
    out = torch.empty(0, device="npu:1")
    assert torch.add(x[:2], 1, out=out).tolist() == [2, 2]


def test_backward() -> None:
    weight = torch.ones(3, device="npu", requires_grad=True)
    (weight * 2).pow(2).sum().backward()
    assert weight.grad is not None and weight.grad.device == weight.device and weight.grad.tolist() == [8, 8, 8]


def test_a_step_of_training() -> None:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.LayerNorm(8), torch.nn.Linear(8, 1)).npu()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        loss = model(torch.ones(2, 4, device="npu")).pow(2).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[2] < losses[0]


def test_printing() -> None:
    assert repr(torch.ones(2, dtype=torch.half, device="npu:1")) == "tensor([1., 1.], device='npu:1', dtype=torch.float16)"


def test_saved_and_loaded() -> None:
    for tensor in (torch.ones(2, device="npu"), torch.ones(2, device="npu").cpu()):
        file = io.BytesIO()
        torch.save(tensor, file)
        assert torch.load(io.BytesIO(file.getvalue()), map_location="npu:1").device == torch.device("npu:1")
        assert torch.load(io.BytesIO(file.getvalue())).device == tensor.device
    assert copy.deepcopy(torch.ones(2, device="npu")).device == torch.device("npu:0")


def test_devices_do_not_mix() -> None:
    with pytest.raises(RuntimeError, match="at least two devices, npu:0 and npu:1"):
        torch.ones(2, device="npu:0") + torch.ones(2, device="npu:1")
    assert torch.ones(2, device="npu:0").to("npu:1").sum().device == torch.device("npu:1")


def test_compiled_functions() -> None:
    double = torch.compile(lambda x: (x * 2 + 1).relu().sum(), backend="aot_eager", fullgraph=True)
    for device in ("npu:0", "npu:1"):
        x = torch.ones(3, device=device, requires_grad=True)
        double(x).backward()
        assert x.grad is not None and x.grad.tolist() == [2, 2, 2] and x.grad.device == torch.device(device)


def test_memory_is_counted_and_given_back(npu: ModuleType) -> None:
    before, elsewhere = npu.memory_allocated(), npu.memory_allocated(1)
    x = torch.empty(1024, device="npu")
    assert npu.memory_allocated() - before == 4096 and npu.memory_allocated(1) == elsewhere
    npu.reset_peak_memory_stats()
    del x
    assert npu.memory_allocated() == before and npu.max_memory_allocated() == before + 4096
    free, total = npu.mem_get_info()
    assert 0 < free <= total == npu.get_device_properties().total_memory


def test_memory_of_the_cpu_may_be_pinned() -> None:
    pinned = torch.ones(3).pin_memory()
    assert pinned.is_pinned() and pinned[1:].is_pinned() and not torch.ones(3).is_pinned()
    assert torch.equal(pinned.npu(non_blocking=True).cpu(), torch.ones(3))
    with pytest.raises(RuntimeError, match="pin"):
        torch.empty(3, device="npu", pin_memory=True)


def test_too_much_memory() -> None:
    with pytest.raises(torch.OutOfMemoryError, match=r"npu:1 is out of memory: no \d+ bytes"):
        torch.empty(1 << 60, dtype=torch.uint8, device="npu:1")
