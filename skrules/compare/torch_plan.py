"""The plan of a comparison through torch: what `torch_worker` calls, and on which data.

JSON: `package` is what is imported for the operators, `device` where tensors are, and each case has the arguments of its entry
in order:

    {"kind": "tensor", "label": "x", "use": "in", "dtype": "float16", "shape": [8, 2048], "file": "inputs/even.x.bin"}
    {"kind": "list", "items": [...]}        {"kind": "none"}        {"kind": "value", "value": 1.5}

`file` "" fills a tensor with a byte, another one in each of the two runs. The bytes of a struct are a list of numbers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from skrules.compare.case import Case, TensorCase, label_of
from skrules.compare.plan import input_file, use_of, write_inputs
from skrules.compare.subject import Argument, Subject
from skrules.contract.model import ParameterKind


def callable_through_torch(case: Case, entry: Subject) -> str:
    """Return why a case cannot be run by calls through torch, "" when it can."""
    if case.blocks != entry.blocks:
        return f"block_dim {case.blocks}; a call through torch has the contract's number of blocks"
    if case.super_kernel_blocks:
        return f"super_kernel_blocks {case.super_kernel_blocks}; a call through torch has no say in it"
    return ""


def write_torch_plan(
    folder: Path, cases: Sequence[Case], entries: Mapping[str, Subject], *, package: str = "op_extension", device: str = "npu"
) -> Path:
    """Write `torch.json` and the input files below `folder`; return the plan's path. Equal cases give equal bytes."""
    write_inputs(folder, cases)
    described = [
        {
            "name": case.name,
            "entry": case.entry,
            "arguments": [_argument(case, parameter) for parameter in entries[case.entry].arguments],
        }
        for case in cases
    ]
    plan = folder / "torch.json"
    text = json.dumps({"package": package, "device": device, "cases": described}, indent=1)
    plan.write_text(text + "\n", encoding="utf-8")
    return plan


def _argument(case: Case, parameter: Argument) -> dict[str, Any]:
    name = parameter.name
    if parameter.kind is ParameterKind.SCALAR:
        return {"kind": "value", "value": case.scalars[name]}
    if parameter.kind is ParameterKind.HOST_STRUCT:
        return {"kind": "value", "value": list(case.structs[name])}
    if parameter.kind is ParameterKind.TENSOR_LIST:
        items = enumerate(case.lists[name])
        return {"kind": "list", "items": [_tensor(case, parameter, label_of(name, index), item) for index, item in items]}
    tensor = case.tensors[name]
    return {"kind": "none"} if tensor is None else _tensor(case, parameter, name, tensor)


def _tensor(case: Case, parameter: Argument, label: str, tensor: TensorCase) -> dict[str, Any]:
    return {
        "kind": "tensor",
        "label": label,
        "use": use_of(parameter),
        "dtype": tensor.dtype,
        "shape": list(tensor.shape),
        "file": "" if tensor.fill == "sentinel" else input_file(case, label),
    }
