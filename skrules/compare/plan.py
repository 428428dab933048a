"""The plan: which cases the compare program runs on which data, and what it leaves behind.

    case <name> <entry> <blocks>
    super <blocks of the super kernel; left out: the program chooses>
    tensor <parameter> <bytes> <in|out|inout|workspace> <input file or -> <dtype> <dimensions, as 2x3, or ->
    list <parameter> <number of items>
    item <bytes> <in|out|inout|workspace> <input file or -> <dtype> <dimensions>
    scalar <parameter> <bytes in hex>
    struct <parameter> <bytes in hex>
    null <parameter>
    end

Files are named relative to the plan. `-` fills a tensor with a sentinel, another one in each of the two runs. A dtype is its
number in `skrules_dtype` of skrules_wrapper.h.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from skrules.compare import numbers
from skrules.compare.case import Case, TensorCase, label_of
from skrules.compare.inputs import make_tensor
from skrules.compare.numbers import Array
from skrules.compare.subject import Argument, Subject
from skrules.contract.dtypes import DTYPES
from skrules.contract.model import ParameterKind, Role
from skrules.errors import TestFailure

HEADER = "skrules-plan 2"
PLAIN_SENTINEL = 0xA5
SK_SENTINEL = 0x5A


def write_plan(folder: Path, cases: Sequence[Case], entries: Mapping[str, Subject]) -> Path:
    """Write `plan.txt` and the input files below `folder`; return the plan's path. Equal cases give equal bytes."""
    write_inputs(folder, cases)
    lines = [HEADER]
    for case in cases:
        lines.append(f"case {case.name} {case.entry} {case.blocks}")
        lines += [f"super {case.super_kernel_blocks}"] if case.super_kernel_blocks else []
        for parameter in entries[case.entry].arguments:
            lines += _argument(case, parameter)
        lines.append("end")
    plan = folder / "plan.txt"
    plan.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
    return plan


def write_inputs(folder: Path, cases: Sequence[Case]) -> None:
    """Write the initial content of all tensors that are not filled with a sentinel below `folder`, see `input_file`."""
    (folder / "inputs").mkdir(parents=True, exist_ok=True)
    for case in cases:
        for label, tensor in case.all_tensors().items():
            if tensor.fill != "sentinel":
                (folder / input_file(case, label)).write_bytes(numbers.little_endian(make_tensor(case, label, tensor)))


def input_file(case: Case, label: str) -> str:
    """Return where the plan's folder has the initial content of a tensor, in little endian."""
    return f"inputs/{case.name}.{label}.bin"


def _argument(case: Case, parameter: Argument) -> list[str]:
    name = parameter.name
    if parameter.kind is ParameterKind.SCALAR:
        return [f"scalar {name} {numbers.encode(parameter.encoding, case.scalars[name]).hex()}"]
    if parameter.kind is ParameterKind.HOST_STRUCT:
        return [f"struct {name} {case.structs[name].hex()}"]
    if parameter.kind is ParameterKind.TENSOR_LIST:
        items = case.lists[name]
        described = [f"item {_tensor(case, parameter, label_of(name, i), item)}" for i, item in enumerate(items)]
        return [f"list {name} {len(items)}", *described]
    tensor = case.tensors[name]
    return [f"null {name}" if tensor is None else f"tensor {name} {_tensor(case, parameter, name, tensor)}"]


def _tensor(case: Case, parameter: Argument, label: str, tensor: TensorCase) -> str:
    file = "-" if tensor.fill == "sentinel" else input_file(case, label)
    dtype = list(DTYPES).index(tensor.dtype) + 1
    return f"{tensor.bytes} {use_of(parameter)} {file} {dtype} {'x'.join(map(str, tensor.shape)) or '-'}"


def use_of(parameter: Argument) -> str:
    """Return what a kernel does with a tensor: "in", "out", "inout" or "workspace"."""
    if Role.WORKSPACE in parameter.roles:
        return "workspace"
    if Role.OUTPUT in parameter.roles:
        return "inout" if Role.INPUT in parameter.roles else "out"
    return "in"


def outputs_of(case: Case, entry: Subject) -> Iterator[tuple[str, TensorCase]]:
    """Yield the tensors that a case's run leaves behind by their labels, in the kernel's order."""
    for parameter in entry.arguments:
        if Role.OUTPUT not in parameter.roles:
            continue
        tensor = case.tensors.get(parameter.name)
        if tensor is not None:
            yield parameter.name, tensor
        for index, item in enumerate(case.lists.get(parameter.name, ())):
            yield label_of(parameter.name, index), item


def read_output(folder: Path, case: Case, name: str, tensor: TensorCase, run: str) -> Array:
    """Return what a run ("plain" or "sk") left in the tensor with the label `name`.

    Raises TestFailure when it left nothing of the right size.
    """
    path = folder / f"{case.name}.{name}.{run}"
    try:
        data = path.read_bytes()
    except OSError:
        raise TestFailure(f"case '{case.name}': the {run} run left no {path.name}") from None
    if len(data) != tensor.bytes:
        raise TestFailure(f"case '{case.name}': {path.name} has {len(data)} bytes, not {tensor.bytes}")
    dtype = numbers.numpy_dtype(tensor.dtype)
    return np.frombuffer(data, dtype=dtype).reshape(tensor.shape)
