"""The plan: which cases the compare program runs on which data, and what it leaves behind.

    case <name> <entry> <blocks>
    tensor <parameter> <bytes> <in|out|inout|workspace> <input file or ->
    scalar <parameter> <bytes in hex>
    struct <parameter> <bytes in hex>
    null <parameter>
    end

Files are named relative to the plan. `-` fills a tensor with a sentinel, another one in each of the two runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from skrules.compare import numbers
from skrules.compare.case import Case, TensorCase
from skrules.compare.inputs import make_tensor
from skrules.compare.numbers import Array
from skrules.compare.subject import Argument, Subject
from skrules.contract.model import ParameterKind, Role
from skrules.errors import TestFailure

HEADER = "skrules-plan 1"
PLAIN_SENTINEL = 0xA5
SK_SENTINEL = 0x5A


def write_plan(folder: Path, cases: Sequence[Case], entries: Mapping[str, Subject]) -> Path:
    """Write `plan.txt` and the input files below `folder`; return the plan's path. Equal cases give equal bytes."""
    inputs = folder / "inputs"
    inputs.mkdir(parents=True, exist_ok=True)
    lines = [HEADER]
    for case in cases:
        lines.append(f"case {case.name} {case.entry} {case.blocks}")
        for parameter in entries[case.entry].arguments:
            lines.append(_argument(case, parameter))
            tensor = case.tensors.get(parameter.name)
            if tensor is not None and tensor.fill != "sentinel":
                data = numbers.little_endian(make_tensor(case, parameter.name, tensor))
                (folder / _input_file(case, parameter.name)).write_bytes(data)
        lines.append("end")
    plan = folder / "plan.txt"
    plan.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
    return plan


def _input_file(case: Case, parameter: str) -> str:
    return f"inputs/{case.name}.{parameter}.bin"


def _argument(case: Case, parameter: Argument) -> str:
    name = parameter.name
    if parameter.kind is ParameterKind.SCALAR:
        return f"scalar {name} {numbers.encode(parameter.encoding, case.scalars[name]).hex()}"
    if parameter.kind is ParameterKind.HOST_STRUCT:
        return f"struct {name} {case.structs[name].hex()}"
    tensor = case.tensors[name]
    if tensor is None:
        return f"null {name}"
    file = "-" if tensor.fill == "sentinel" else _input_file(case, name)
    return f"tensor {name} {tensor.bytes} {_use(parameter)} {file}"


def _use(parameter: Argument) -> str:
    if Role.WORKSPACE in parameter.roles:
        return "workspace"
    if Role.OUTPUT in parameter.roles:
        return "inout" if Role.INPUT in parameter.roles else "out"
    return "in"


def outputs_of(case: Case, entry: Subject) -> Iterator[tuple[str, TensorCase]]:
    """Yield the tensors that a case's run leaves behind, in the kernel's order."""
    for parameter in entry.arguments:
        tensor = case.tensors.get(parameter.name)
        if Role.OUTPUT in parameter.roles and tensor is not None:
            yield parameter.name, tensor


def read_output(folder: Path, case: Case, name: str, tensor: TensorCase, run: str) -> Array:
    """Return what a run ("plain" or "sk") left in a tensor. Raises TestFailure when it left nothing of the right size."""
    path = folder / f"{case.name}.{name}.{run}"
    try:
        data = path.read_bytes()
    except OSError:
        raise TestFailure(f"case '{case.name}': the {run} run left no {path.name}") from None
    if len(data) != tensor.bytes:
        raise TestFailure(f"case '{case.name}': {path.name} has {len(data)} bytes, not {tensor.bytes}")
    dtype = numbers.numpy_dtype(tensor.dtype)
    return np.frombuffer(data, dtype=dtype).reshape(tensor.shape)
