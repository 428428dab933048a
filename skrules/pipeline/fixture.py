"""`operator-sk-runtime-fixture.json` of the public tool as the cases of a build."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from skrules.compare import numbers
from skrules.compare.case import TensorCase
from skrules.contract.entry import Entry
from skrules.contract.model import Role
from skrules.errors import Location, UsageError
from skrules.standalone.fixtures import subject_of
from skrules.standalone.published import read_published


def cases_of_fixture(path: Path, entries: tuple[Entry, ...]) -> bytes:
    """Return a cases file that runs an operator on what its fixture says. There is no reference: both runs are compared.

    Raises UsageError for a fixture that does not fit, for an operator with several entries, which a fixture cannot tell
    apart, and for a byte that makes no number.
    """
    at = Location(file=str(path))
    if len(entries) != 1:
        names = ", ".join(entry.name for entry in entries)
        raise UsageError(f"a fixture is of one entry, and the operator has: {names or 'none'}", at=at, hint="write cases.yaml")
    subject = subject_of(entries[0])
    case = read_published(path, subject)
    roles = {argument.name: argument.roles for argument in subject.arguments}
    tensors = {
        name: _tensor(name, tensor, is_input=Role.INPUT in roles[name], at=at)
        for name, tensor in case.tensors.items()
        if tensor is not None
    }
    document = {
        "schema_version": 1,
        "cases": [
            {
                "name": case.name,
                "entry": case.entry,
                "block_dim": case.blocks,
                "tensors": tensors,
                "scalars": dict(case.scalars),
            }
        ],
    }
    return (json.dumps(document, indent=2) + "\n").encode()


def _tensor(name: str, tensor: TensorCase, *, is_input: bool, at: Location) -> dict[str, Any]:
    document: dict[str, Any] = {"shape": list(tensor.shape), "dtype": tensor.dtype}
    if tensor.fill == "sentinel":
        return document
    first = np.frombuffer(tensor.data, dtype=numbers.numpy_dtype(tensor.dtype), count=1)[0]
    value = float(first) if numbers.is_float(tensor.dtype) else first.item()
    if isinstance(value, float) and not math.isfinite(value):
        raise UsageError(f"'{name}' is filled with bytes that are no number in {tensor.dtype}", at=at, hint="write cases.yaml")
    return {**document, "values" if is_input else "initial": value}
