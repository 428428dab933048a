"""The process that calls operators through torch: eager, and captured and fused on the emulated npu.

Reads a plan of `torch_plan`, and says and leaves behind what the compare program does (`program`): of each case a record on its
standard output, and the outputs of both runs. The captured run is that of serving code: a super kernel scope inside of
`torch.npu.graph`, optimised and replayed. Two calls are in the scope, each with arguments of its own, so that there is something
to fuse; they must agree bit by bit. Needs torch and skrules, and nothing else that either may bring along.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import math
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

_PLAIN_SENTINEL = 0xA5  # as in plan
_SK_SENTINEL = 0x5A
_WRITTEN = ("out", "inout")
_SCOPE = "skrules_compare"


def main(plan: str, out: str) -> None:
    """Run every case of a plan; results go to the folder `out`."""
    asked = json.loads(Path(plan).read_bytes())
    importlib.import_module("skrules.hostnpu")
    package = importlib.import_module(asked["package"])
    for case in asked["cases"]:
        record = {"case": case["name"], "entry": case["entry"]}
        record |= compare(package, case, Path(plan).parent, Path(out), asked["device"])
        print(json.dumps(record), flush=True)


class Arguments:
    """The arguments of one call: `values` as the operator takes them, `written` its outputs by label."""

    def __init__(self, case: Mapping[str, Any], folder: Path, device: str, sentinel: int) -> None:
        self.case, self.folder, self.device, self.sentinel = case, folder, device, sentinel
        self.written: dict[str, torch.Tensor] = {}
        self.values = [self._value(argument) for argument in case["arguments"]]

    def write(self, out: Path, suffix: str) -> None:
        for label, tensor in self.written.items():
            (out / f"{self.case['name']}.{label}.{suffix}").write_bytes(bytes_of(tensor))

    def _value(self, argument: Mapping[str, Any]) -> Any:
        match argument["kind"]:
            case "value":
                return argument["value"]
            case "none":
                return None
            case "list":
                return [self._tensor(item) for item in argument["items"]]
            case _:
                return self._tensor(argument)

    def _tensor(self, described: Mapping[str, Any]) -> torch.Tensor:
        dtype, shape = getattr(torch, described["dtype"]), described["shape"]
        size = math.prod(shape) * dtype.itemsize
        data = (self.folder / described["file"]).read_bytes() if described["file"] else bytes([self.sentinel]) * size
        raw = torch.frombuffer(bytearray(data), dtype=torch.uint8) if data else torch.empty(0, dtype=torch.uint8)
        tensor = raw.view(dtype).reshape(shape).to(self.device)
        if described["use"] in _WRITTEN:
            self.written[described["label"]] = tensor
        return tensor


def bytes_of(tensor: torch.Tensor) -> bytes:
    """Return the elements of a tensor, in order."""
    here = tensor.cpu().contiguous()
    return ctypes.string_at(here.data_ptr(), here.nbytes) if here.nbytes else b""


def compare(package: ModuleType, case: Mapping[str, Any], folder: Path, out: Path, device: str) -> dict[str, Any]:
    """Run one case both ways and return what is said of it. Whatever an operator raises is said too, with the stage."""
    stage, entry = "setup", case["entry"]
    try:
        call = getattr(torch.ops.ascendc_ops, entry)
        plain = Arguments(case, folder, device, _PLAIN_SENTINEL)
        fused, beside = (Arguments(case, folder, device, _SK_SENTINEL) for _ in range(2))
        with torch.npu.device(device):
            stage = "plain"
            call(*plain.values)
            torch.npu.synchronize(device)
            plain.write(out, "plain")
            stage = "prepare"
            if f"prepare_{entry}" in dir(package):
                for arguments in (fused, beside):
                    getattr(package, f"prepare_{entry}")(*arguments.values)
            stage = "capture"
            graph = torch.npu.NPUGraph()
            with torch.npu.graph(graph):
                torch.npu.super_kernel_scope_begin(_SCOPE)
                call(*fused.values)
                call(*beside.values)
                torch.npu.super_kernel_scope_end(_SCOPE)
            stage = "optimize"
            graph.super_kernel_optimize()
            stage = "execute"
            graph.replay()
            fused.write(out, "sk")
        return _evidence(graph, fused, beside)
    except Exception as error:
        return {"status": "failed", "stage": stage, "error": str(error) or type(error).__name__}


def _evidence(graph: Any, fused: Arguments, beside: Arguments) -> dict[str, Any]:
    nodes = importlib.import_module("skrules.hostnpu").report(graph)
    if len(nodes) != 2:
        raise RuntimeError(f"two calls launch {len(nodes)} kernels; each must launch exactly one")
    for label, tensor in fused.written.items():
        if bytes_of(tensor) != bytes_of(beside.written[label]):
            raise RuntimeError(f"two equal calls in one super kernel give another '{label}' each")
    first, second = nodes
    return {
        "status": "ran",
        "blocks": first.blocks,
        "companion_blocks": second.blocks,
        "evidence": {
            "source": "runtime",
            "twin_ran": first.twin_runs > 0 and second.twin_runs > 0,
            "super_kernel": first.super_kernel,
            "detail": first.reason,
        },
    }
