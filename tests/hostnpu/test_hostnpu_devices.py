"""Devices, streams, events and random numbers of the emulated `torch.npu`."""

from __future__ import annotations

import threading
from types import ModuleType

import pytest

torch = pytest.importorskip("torch", reason="needs torch")

pytestmark = pytest.mark.usefixtures("npu")


def test_what_the_device_is(npu: ModuleType) -> None:
    assert npu.is_available() and npu.is_initialized() and npu.device_count() == 2
    assert torch.accelerator.current_accelerator() == torch.device("npu")
    assert npu.get_device_name() == "skrules-host-dav-2201" and npu.get_soc_version() == 220
    properties = npu.get_device_properties(1)
    assert (properties.cube_core_num, properties.vector_core_num) == (24, 48)
    assert npu.can_device_access_peer(0, 0) and not npu.can_device_access_peer(0, 1)


def test_another_arch(npu: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKRULES_HOST_ARCH", "dav-3510")
    assert npu.get_device_name() == "skrules-host-dav-3510" and npu.get_soc_version() == 260


def test_the_current_device(npu: ModuleType) -> None:
    with npu.device(1):
        assert npu.current_device() == 1 and torch.empty(1, device="npu").device == torch.device("npu:1")
        with npu.device(-1), npu.device(None):
            assert npu.current_device() == 1
        with npu.device_of(torch.empty(1, device="npu:0")):
            assert npu.current_device() == 0
        with npu.device_of(torch.empty(1)):
            assert npu.current_device() == 1
    assert npu.current_device() == 0
    npu.set_device("npu:1")
    try:
        assert torch.randn(2, device="npu").device == torch.device("npu:1")
        assert _in_thread(npu.current_device) == 0
    finally:
        npu.set_device(0)


@pytest.mark.parametrize("use", ["set_device", "device", "current_stream", "memory_allocated", "get_rng_state", "synchronize"])
def test_a_device_that_there_is_not(npu: ModuleType, use: str) -> None:
    with pytest.raises(RuntimeError, match="npu:2 is none of the 2 devices; SKRULES_HOST_DEVICES says"):
        getattr(npu, use)(2)
    with pytest.raises(ValueError, match="an npu device is expected, got cpu"):
        getattr(npu, use)("cpu")
    with pytest.raises(RuntimeError, match=r"device 2 is none of 0\.\.1"):
        torch.empty(1, device="npu:2")


def test_streams(npu: ModuleType) -> None:
    stream, elsewhere = npu.Stream(), npu.Stream("npu:1")
    assert stream.device == torch.device("npu:0") and elsewhere.device == torch.device("npu:1")
    assert stream != npu.Stream() and stream.npu_stream != elsewhere.npu_stream
    with npu.stream(stream):
        assert npu.current_stream() == stream and npu.current_stream(1) == npu.default_stream(1)
        with npu.stream(elsewhere):
            assert npu.current_device() == 1 and npu.current_stream() == elsewhere and npu.current_stream(0) == stream
        with npu.stream(None):
            assert npu.current_stream() == stream
        assert _in_thread(npu.current_stream) == npu.default_stream()
    assert npu.current_stream() == npu.default_stream() and npu.current_device() == 0
    assert stream.query() and hash(stream) == hash(stream) and len({stream, stream}) == 1
    stream.synchronize()


def test_streams_are_handed_out_in_turn(npu: ModuleType) -> None:
    assert len({npu.Stream().npu_stream for _ in range(100)}) == 32


def test_events(npu: ModuleType) -> None:
    start, end, stream = npu.Event(enable_timing=True), npu.Event(enable_timing=True), npu.Stream()
    with pytest.raises(RuntimeError, match="that were recorded"):
        start.elapsed_time(end)
    start.record()
    torch.ones(1000, device="npu").sum()
    with npu.stream(stream):
        start.wait()
        end.record()
    assert end.query() and start.elapsed_time(end) > 0
    end.synchronize()
    stream.wait_event(end)
    stream.wait_stream(npu.current_stream())
    assert isinstance(stream.record_event(), npu.Event)
    with pytest.raises(ValueError, match="enable_timing"):
        start.elapsed_time(stream.record_event())
    with pytest.raises(RuntimeError, match="between processes"):
        npu.Event(interprocess=True)


def test_the_state_of_random_numbers(npu: ModuleType) -> None:
    torch.manual_seed(7)
    state, of_cpu = npu.get_rng_state(), torch.get_rng_state()
    first = torch.randn(3, device="npu")
    assert torch.equal(torch.get_rng_state(), of_cpu)  # the CPU's own is left alone
    assert not torch.equal(torch.randn(3, device="npu"), first)
    npu.set_rng_state(state)
    assert torch.equal(torch.randn(3, device="npu"), first)
    npu.manual_seed_all(7)
    assert torch.equal(torch.randn(3, device="npu:1").cpu(), first.cpu())
    assert npu.initial_seed() == 7
    states = npu.get_rng_state_all()
    drawn = [torch.rand(2, device=f"npu:{index}") for index in range(2)]
    npu.set_rng_state_all(states)
    assert all(torch.equal(torch.rand(2, device=f"npu:{index}"), drawn[index]) for index in range(2))


def test_generators_and_seeds(npu: ModuleType) -> None:
    torch.manual_seed(3)
    wanted = torch.randn(3)
    generator = torch.Generator("npu:1").manual_seed(3)
    assert torch.equal(torch.randn(3, device="npu:1", generator=generator).cpu(), wanted)
    with pytest.raises(RuntimeError, match="the generator is on npu:1, the operator runs on npu:0"):
        torch.randn(3, device="npu:0", generator=generator)
    with pytest.raises(RuntimeError, match="the generator is on cpu"):
        torch.randn(3, device="npu", generator=torch.Generator())
    npu.manual_seed((1 << 64) - 1)
    assert npu.initial_seed() == (1 << 64) - 1
    npu.seed_all()
    assert npu.initial_seed() != (1 << 64) - 1
    npu.manual_seed(1)
    dropped = torch.nn.functional.dropout(torch.ones(50, device="npu"))
    npu.manual_seed(1)
    assert torch.equal(torch.nn.functional.dropout(torch.ones(50, device="npu")), dropped)


def _in_thread(ask: object) -> object:
    answers: list[object] = []
    thread = threading.Thread(target=lambda: answers.append(ask()))  # type: ignore[operator]
    thread.start()
    thread.join()
    return answers[0]
