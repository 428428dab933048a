"""Modules of operators on the emulated npu: launches, captured graphs, super kernels, and what may not be captured."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

torch = pytest.importorskip("torch", reason="needs torch")

LENGTH = 4096


def halfs(device: str) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    x, y = (torch.randn(LENGTH).half().to(device) for _ in range(2))
    return x, y, torch.zeros(LENGTH, dtype=torch.half, device=device)


def report(graph: object) -> list[tuple[str, str]]:
    from skrules import hostnpu

    return [(node.kernel, node.super_kernel) for node in hostnpu.report(graph)]


@pytest.mark.parametrize("device", ["npu:0", "npu:1"])
def test_a_launch_is_on_the_device_of_the_tensors(npu: ModuleType, operator: ModuleType, device: str) -> None:
    x, y, z = halfs(device)
    assert operator.run_add_custom(x, y, z, LENGTH) is z
    assert torch.equal(z.cpu(), x.cpu() + y.cpu())
    assert npu.current_device() == 0


def test_tensors_of_two_devices_and_too_little_memory(operator: ModuleType) -> None:
    x, y, z = halfs("npu:0")
    with pytest.raises(ValueError, match=r"'y' \(GM_ADDR\) is on npu:1, but 'x' \(GM_ADDR\) is on npu:0"):
        operator.run_add_custom(x, y.to("npu:1"), z, LENGTH)
    with pytest.raises(RuntimeError, match="dst is out of bounds in GM"):
        operator.run_add_custom(x, y, z[:16].clone(), LENGTH)


def captured(npu: ModuleType, operator: ModuleType, device: str, *, scope: bool) -> tuple[object, list[torch.Tensor]]:
    """A graph of w = 2 * (x + y + y) in which a tensor in between is gone."""
    x, y, z = halfs(device)
    graph = npu.NPUGraph()
    with npu.device(device), npu.graph(graph):
        assert npu.is_current_stream_capturing()
        if scope:
            npu.super_kernel_scope_begin("adds")
        between = torch.empty_like(z)
        operator.run_add_custom(x, y, between, LENGTH)
        operator.run_add_custom(between, y, z, LENGTH)
        if scope:
            npu.super_kernel_scope_end("adds")
        w = z * 2
        del between
    assert not npu.is_current_stream_capturing()
    return graph, [x, y, z, w]


@pytest.mark.parametrize("device", ["npu:0", "npu:1"])
@pytest.mark.parametrize(("scope", "name"), [(True, "sk_0_adds"), (False, "sk_0_none")])
def test_replays_compute_and_fused_ones_the_same(
    npu: ModuleType, operator: ModuleType, device: str, scope: bool, name: str
) -> None:
    graph, (x, y, z, w) = captured(npu, operator, device, scope=scope)
    assert z.abs().sum() == 0, "nothing runs during a capture"
    graph.replay()
    wanted = x.cpu() + y.cpu() + y.cpu()
    assert torch.equal(z.cpu(), wanted) and torch.equal(w.cpu(), wanted * 2)
    alone = [("add_custom", ""), ("add_custom", ""), ("aten::mul", "")]
    assert report(graph) == alone, "scopes alone fuse nothing, as on a device"
    # As serving code calls it.
    graph.super_kernel_optimize(optimize_options={"dcci_after_kernel_end": [".*"]})
    x.fill_(1)
    y.fill_(2)
    graph.replay()
    assert set(z.tolist()) == {5.0} and set(w.tolist()) == {10.0}
    assert report(graph) == [("add_custom", name), ("add_custom", name), ("aten::mul", "")]
    from skrules import hostnpu

    assert [node.twin_runs for node in hostnpu.report(graph)] == [8, 8, 0], "the cores ran the SK functions"


def test_a_scope_without_a_name_is_left_alone(npu: ModuleType, operator: ModuleType) -> None:
    x, y, z = halfs("npu")
    graph = npu.NPUGraph()
    with npu.graph(graph):
        npu.super_kernel_scope_begin()
        operator.run_add_custom(x, y, z, LENGTH)
        npu.super_kernel_scope_end()
        operator.run_add_custom(x, z, z, LENGTH)
    graph.super_kernel_optimize()
    assert report(graph) == [("add_custom", ""), ("add_custom", "sk_0_none")]


def test_streams_join_a_capture_by_events(npu: ModuleType, operator: ModuleType) -> None:
    x, y, z = halfs("npu")
    graph, other = npu.NPUGraph(), npu.Stream()
    with npu.graph(graph, stream=npu.Stream()):
        other.wait_stream(npu.current_stream())
        with npu.stream(other):
            operator.run_add_custom(x, y, z, LENGTH)
        npu.current_stream().wait_stream(other)
    assert z.abs().sum() == 0
    graph.replay()
    assert torch.equal(z.cpu(), x.cpu() + y.cpu())


def test_what_a_graph_made_is_kept_until_it_is_reset(npu: ModuleType) -> None:
    before = npu.memory_allocated()
    graph = npu.NPUGraph()
    with npu.graph(graph):
        x = torch.ones(1000, device="npu")
    del x
    assert npu.memory_allocated() - before == 4000
    graph.replay()
    graph.reset()
    assert npu.memory_allocated() == before
    with npu.graph(graph):
        torch.ones(1000, device="npu")
    del graph
    assert npu.memory_allocated() == before


def test_an_input_that_is_gone_is_told(npu: ModuleType, operator: ModuleType) -> None:
    x, y, z = halfs("npu")
    graph = npu.NPUGraph()
    with npu.graph(graph):
        operator.run_add_custom(x, y, z, LENGTH)
    del x
    with pytest.raises(RuntimeError, match="was freed"):
        graph.replay()


def test_operators_of_torch_are_part_of_a_graph(npu: ModuleType) -> None:
    count, x = torch.zeros(1, device="npu"), torch.arange(6.0, device="npu")
    graph = npu.NPUGraph()
    with npu.graph(graph):
        count.add_(1)
        numbers, noise = torch.arange(4, device="npu"), torch.randn(4, device="npu")
        joined = torch.cat([x[1:] * 2, noise])
        best = torch.topk(joined, 2).values
        torch.add(x, 1, out=x)
    assert (count.item(), x.tolist()) == (0, [0, 1, 2, 3, 4, 5])
    graph.replay()
    first = noise.clone()
    assert joined.tolist() == [2, 4, 6, 8, 10, *first.tolist()]
    graph.replay()
    assert (count.item(), x.tolist(), numbers.tolist()) == (2, [2, 3, 4, 5, 6, 7], [0, 1, 2, 3])
    assert joined.tolist()[:5] == [4, 6, 8, 10, 12] and torch.equal(best, torch.topk(joined, 2).values)
    assert not torch.equal(noise, first), "every replay draws anew"


@pytest.mark.parametrize(
    ("act", "text"),
    [
        (lambda x: x.sum().item(), "_local_scalar_dense waits for values on npu:0, where a graph is being captured"),
        (lambda x: x.nonzero(), "nonzero waits for values"),
        (lambda x: x.cpu(), "a copy between npu:0 and cpu cannot be part of it"),
        (lambda x: x.copy_(torch.ones(3)), "a copy between cpu and npu:0 cannot be part of it"),
        (lambda _: torch.npu.current_stream().synchronize(), "the stream is being captured"),
        (lambda _: torch.npu.super_kernel_scope_end("other"), "scope other was not begun"),
    ],
)
def test_what_cannot_be_captured_is_refused(npu: ModuleType, act: Callable[[torch.Tensor], object], text: str) -> None:
    x = torch.ones(3, device="npu")
    graph = npu.NPUGraph()
    with pytest.raises(RuntimeError, match=text), npu.graph(graph):
        act(x)
    assert npu.current_stream() == npu.default_stream() and not npu.is_current_stream_capturing()
    assert x.sum().item() == 3


def test_captures_and_graphs_used_wrongly(npu: ModuleType) -> None:
    graph = npu.NPUGraph()
    for method in (graph.replay, graph.super_kernel_optimize, lambda: graph.debug_dump("x")):
        with pytest.raises(RuntimeError, match="without a preceding successful capture"):
            method()
    with pytest.raises(RuntimeError, match="no capture of this graph was begun"):
        graph.capture_end()
    with pytest.raises(RuntimeError, match="captured on a non-default stream"):
        graph.capture_begin()
    with pytest.raises(RuntimeError, match="Unknown capture error mode 'none'"), npu.graph(graph, capture_error_mode="none"):
        pass
    with pytest.raises(RuntimeError, match="auto_dispatch_capture"):
        npu.graph(graph, auto_dispatch_capture=True)
    with npu.graph(graph, pool=npu.graph_pool_handle()):
        pass
    with pytest.raises(RuntimeError, match="already owns a captured graph"), npu.graph(graph):
        pass
    assert graph.pool() != npu.NPUGraph().pool()


@pytest.mark.parametrize(
    ("optimize", "debug", "text"),
    [
        ("all", None, "optimize_options param must be dict or None"),
        ({"speed": 1}, None, "Invalid optimize_options param key: 'speed'; allowed: preload_code, "),
        (None, {"split_mode": 1}, "Invalid debug_options param key: 'split_mode'"),
        ({"split_mode": "1"}, None, r"optimize_options param\['split_mode'\] must be int, got str"),
        ({"opt_extend": 1}, None, "must be str, got int"),
        ({"dcci_after_kernel_end": [".*", 1]}, None, r"param\['dcci_after_kernel_end'\]\[1\] must be str, got int"),
        ({"aggressive_opt_strategies": {"all": 1}}, None, "Invalid sub_key 'all' .*; allowed: event_breaker_bypass, "),
        ({"aggressive_opt_strategies": {"task_breaker_bypass": "1"}}, None, "must be int, got str"),
        ({"split_mode": 9}, None, "SPLIT_MODE 9 is none of 1..4"),
        (None, {"debug_per_op_max_core_num": 1}, "option type 17 is not emulated"),
    ],
)
def test_options_are_checked(npu: ModuleType, optimize: object, debug: object, text: str) -> None:
    graph = npu.NPUGraph()
    with npu.graph(graph):
        torch.ones(1, device="npu")
    with pytest.raises(RuntimeError, match=text):
        graph.super_kernel_optimize(optimize, debug)


def test_every_option_arrives(npu: ModuleType, tmp_path: Path) -> None:
    graph = npu.NPUGraph()
    with npu.graph(graph):
        torch.ones(1, device="npu")
    numbers = ("preload_code", "split_mode", "stream_fusion", "constant_codegen", "auto_op_parallel", "early_start")
    kinds = ("dcci_before_kernel_start", "dcci_after_kernel_end", "dcci_disable_on_kernel", "ubuf_lock_ignore_kernel")
    lists = {name: ["a", "b"] for name in kinds}
    strategies = dict.fromkeys(("event_breaker_bypass", "value_breaker_bypass", "task_breaker_bypass"), 1)
    graph.super_kernel_optimize(
        {**dict.fromkeys(numbers, 1), **lists, "opt_extend": "x", "aggressive_opt_strategies": strategies},
        {"debug_sync_all": 1, "debug_op_exec_trace": 1, "debug_cross_core_sync_check": 1, "debug_extend": "y"},
    )
    graph.debug_dump(str(tmp_path / "graph.json"))
    (node,) = json.loads((tmp_path / "graph.json").read_text())
    assert (node["kernel"], node["reason"]) == ("aten::fill_", "DEFAULT_NODE")


@pytest.mark.parametrize("name", ["", "  "])
def test_a_scope_needs_a_name(npu: ModuleType, name: str) -> None:
    for function in (npu.super_kernel_scope_begin, npu.super_kernel_scope_end, torch.ops.npu.super_kernel_scope_begin):
        with pytest.raises(RuntimeError, match="None or a non-empty string"):
            function(name)


def test_a_scope_is_not_called_by_a_part_of_its_name(npu: ModuleType) -> None:
    for function in (npu.super_kernel_scope_begin, npu.super_kernel_scope_end):
        with pytest.raises(RuntimeError, match="scope_name has a NUL"):
            function("model\0x")


def test_a_compiled_function_keeps_its_scopes(npu: ModuleType, operator: ModuleType) -> None:
    library = torch.library.Library("hostnpu_test", "DEF")
    library.define("add_(Tensor x, Tensor y, Tensor(a!) z) -> ()")

    def add(x: torch.Tensor, y: torch.Tensor, z: torch.Tensor) -> None:
        operator.run_add_custom(x, y, z, x.numel())

    library.impl("add_", add, "PrivateUse1")
    torch.library.register_fake("hostnpu_test::add_", lambda _x, _y, _z: None, lib=library)
    for device in ("npu:0", "npu:1"):
        results = torch.library.opcheck(torch.ops.hostnpu_test.add_.default, halfs(device))
        assert set(results.values()) == {"SUCCESS"} and len(results) == 4

    def model(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        npu.super_kernel_scope_begin("model")
        z = torch.empty_like(x)
        torch.ops.hostnpu_test.add_(x, y, z)
        npu.super_kernel_scope_end("model")
        return z

    compiled = torch.compile(model, backend="aot_eager", fullgraph=True)
    x, y, _ = halfs("npu")
    assert torch.equal(compiled(x, y), x + y)
    graph = npu.NPUGraph()
    with npu.graph(graph):
        z = compiled(x, y)
    graph.super_kernel_optimize()
    x.fill_(2)
    graph.replay()
    assert torch.equal(z, x + y)
    assert ("add_custom", "sk_0_model") in report(graph)
