"""The operator's own reference: `reference.py` beside its cases, with one function an entry.

    def add_custom(x, y):
        return x + y

A function takes, by name, those inputs, in-place tensors, lists of them, scalars and structs (as bytes) it wants, and returns
the output, or a mapping from output to array when there are several. An output list is a list of arrays. Elements that are
padding, which the kernel may leave as they are, are masked: `numpy.ma.masked_array(values, mask=...)`. The file stands alone:
what it would import from beside it could change without anybody running the cases again.

It is the user's code and may do anything, so it runs in a process of its own (`reference_worker`), once for all cases of an
operator. Only data comes back: for each case a JSON record and raw arrays, which are checked here.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from skrules.compare import numbers
from skrules.compare.case import Case, TensorCase, label_of
from skrules.compare.child import Ending, never, run_child, tail, worker
from skrules.compare.numbers import Array
from skrules.compare.plan import input_file, outputs_of
from skrules.compare.subject import Subject
from skrules.contract.model import Role
from skrules.errors import Location, TestFailure

_PATH_BYTES = 500  # as much of a file's name as faulthandler writes


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """What a reference left in `folder`.

    `ending` says how its process ended and `said` what it printed at last, for cases without a result; `place` is the line
    where it was when it was killed or crashed, 0 when that is not known.
    """

    folder: Path
    name: str
    cases: tuple[str, ...]
    ending: str
    said: str = ""
    place: int = 0

    def expected(self, case: Case, entry: Subject) -> dict[str, Array]:
        """Return the expected output arrays of a case by label, in the dtype that the reference computed; masked where masked.

        Raises TestFailure: no function for the entry, its code fails or ends the process, it asks for what the kernel does not
        have, or it returns other outputs, shapes or values than the case can have.
        """
        index = self.cases.index(case.name)
        record = _read(self.folder / f"{index}.json", self.name)
        if record is None:
            raise self._missing(index)
        line = record.get("line")
        at = Location(file=self.name, line=line if type(line) is int else 0)
        arrays = record.get("arrays")
        described = arrays if isinstance(arrays, dict) else {}
        return {label: _array(self.folder, described.get(label), label, tensor, at) for label, tensor in outputs_of(case, entry)}

    def _missing(self, index: int) -> TestFailure:
        culprit = next((at for at, _ in enumerate(self.cases) if not (self.folder / f"{at}.json").exists()), index)
        if index != culprit:
            message = f"the reference has no result, since it ended in case '{self.cases[culprit]}'"
            return TestFailure(message, at=Location(file=self.name))
        begun = _read(self.folder / f"{index}.begun.json", self.name) or {}
        line = self.place or begun.get("line")
        at = Location(file=self.name, line=line if type(line) is int else 0)
        return TestFailure(f"the reference {self.ending} in case '{self.cases[index]}'", at=at, notes=self.said.splitlines())


def run_reference(
    path: Path,
    name: str,
    work: Path,
    cases: Sequence[Case],
    entries: Mapping[str, Subject],
    timeout_s: float,
    *,
    interrupted: Callable[[], bool] = never,
) -> Reference:
    """Run the reference file `path`, which messages call `name`, on `cases`, whose plan is in `work`.

    `timeout_s` is the wall time for all cases together. Raises TestFailure with the place when the file cannot be loaded,
    BuildError when `interrupted()` turns true.
    """
    folder = work.resolve() / "reference"
    request = write_request(path, folder, cases, entries, timeout_s)
    log = folder / "output.txt"
    with log.open("wb") as output:
        ending = run_child(
            [*worker("skrules.compare.reference_worker"), str(request)],
            env=os.environ,
            stdout=output,
            stderr=output,
            timeout_s=timeout_s,
            interrupted=interrupted,
            what=f"the reference {name}",
        )
    return read_reference(path, name, folder, cases, ending, tail(log))


def write_request(path: Path, folder: Path, cases: Sequence[Case], entries: Mapping[str, Subject], timeout_s: float) -> Path:
    """Make `folder`, beside the inputs of the plan, and write what the worker is to do; return that file."""
    folder.mkdir(parents=True)
    request = {
        "reference": str(path.absolute()),
        # A little early: the process is killed at its end, and what it did by then is worth a line.
        "deadline": time.time() + max(0.8 * timeout_s, timeout_s - 1),
        "cases": [_request(case, entries[case.entry]) for case in cases],
    }
    file = folder / "request.json"
    file.write_text(json.dumps(request), encoding="utf-8")
    return file


def read_reference(path: Path, name: str, folder: Path, cases: Sequence[Case], ending: Ending, said: str) -> Reference:
    """Return what the worker left in `folder`. Raises TestFailure with the place when it could not load `path`."""
    place = _place(folder / "trace.txt", path.absolute())
    if _read(folder / "loaded.json", name) is None:
        message = f"the reference cannot be loaded: its process {ending.text}"
        raise TestFailure(message, at=Location(file=name, line=place), notes=said.splitlines())
    names = tuple(case.name for case in cases)
    return Reference(folder=folder, name=name, cases=names, ending=ending.text, said=said, place=place)


def _request(case: Case, entry: Subject) -> dict[str, Any]:
    """Describe one case: what its function may ask for, and the outputs it must return."""
    arguments: dict[str, Any] = {name: {"value": value} for name, value in case.scalars.items()}
    arguments |= {name: {"bytes": data.hex()} for name, data in case.structs.items()}
    outputs: dict[str, Any] = {}
    for parameter in entry.arguments:
        name = parameter.name
        if Role.INPUT in parameter.roles and name in case.tensors:
            arguments[name] = _input(case, name, case.tensors[name])
        elif Role.INPUT in parameter.roles and name in case.lists:
            items = [_input(case, label_of(name, index), item) for index, item in enumerate(case.lists[name])]
            arguments[name] = {"list": items}
        # By parameter: a list is one output, even one without items.
        if Role.OUTPUT in parameter.roles and name in case.lists:
            outputs[name] = {"list": [label_of(name, index) for index in range(len(case.lists[name]))]}
        elif Role.OUTPUT in parameter.roles and case.tensors.get(name) is not None:
            outputs[name] = {"label": name}
    shapes = {label: tensor.shape for label, tensor in outputs_of(case, entry)}
    functions = (entry.name, entry.kernel_name)
    return {"name": case.name, "functions": functions, "arguments": arguments, "outputs": outputs, "shapes": shapes}


def _input(case: Case, label: str, tensor: TensorCase | None) -> dict[str, Any]:
    if tensor is None or tensor.fill == "sentinel":
        return {"value": None}
    return {"file": f"../{input_file(case, label)}", "dtype": tensor.dtype, "shape": tensor.shape}


def _read(path: Path, name: str) -> dict[str, Any] | None:
    """Read a record, None when there is none or it is no record. Raises the failure that it reports."""
    try:
        data = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(data, dict):
        return None
    if "error" not in data:
        return data
    error = data["error"]
    try:
        at = Location(file=name, line=int(error["line"]), column=int(error["column"]))
        failure = TestFailure(str(error["message"]), at=at, allowed=map(str, error["allowed"]), hint=str(error["hint"]))
    except (TypeError, KeyError, ValueError):
        return None
    raise failure


def _place(trace: Path, path: Path) -> int:
    """Return the innermost line of the user's file in what faulthandler wrote, 0 when it is not there."""
    spelled = str(path).encode("ascii", "backslashreplace").decode()[:_PATH_BYTES]
    with contextlib.suppress(OSError):
        found = re.search(rf'File "{re.escape(spelled)}(?:\.\.\.)?", line (\d+) ', trace.read_text("utf-8", "replace"))
        return int(found[1]) if found else 0
    return 0


def _array(folder: Path, described: Any, label: str, tensor: TensorCase, at: Location) -> Array:
    """Read and check one output. Nothing is believed of what the worker says of its arrays."""
    described = described if isinstance(described, dict) else {}
    shape = described.get("shape")
    if shape != list(tensor.shape):
        raise TestFailure(f"the reference's '{label}' has the shape {shape}, not {list(tensor.shape)}", at=at)
    dtype = numbers.number_dtype(str(described.get("dtype")))
    if dtype is None:
        raise TestFailure(f"the reference's '{label}' is an array of {described.get('dtype')}", at=at)
    array = np.frombuffer(_bytes(folder, described, "data", dtype.itemsize * tensor.elements, label, at), dtype)
    array = array.reshape(tensor.shape)
    if described.get("mask"):
        mask = np.frombuffer(_bytes(folder, described, "mask", tensor.elements, label, at), np.uint8).reshape(tensor.shape)
        array = np.ma.masked_array(array, mask=mask != 0)
    _check(array, label, tensor.dtype, at)
    return array


def _bytes(folder: Path, described: Mapping[str, Any], what: str, size: int, label: str, at: Location) -> bytes:
    try:
        data = (folder / Path(str(described.get(what))).name).read_bytes()
    except (OSError, ValueError):
        data = b""
    if len(data) != size:
        raise TestFailure(f"the reference left {len(data)} bytes of '{label}', not {size}", at=at)
    return data


def _check(array: Array, label: str, dtype: str, at: Location) -> None:
    array = array.compressed() if isinstance(array, np.ma.MaskedArray) else array
    if numbers.is_float(dtype) or dtype == "bool" or not array.size:
        return
    low, high = numbers.limits(dtype)
    values = array if array.dtype.kind in "biu" else array.astype(np.float64)
    if values.dtype.kind == "f" and not bool(np.all(np.isfinite(values) & (np.trunc(values) == values))):
        raise TestFailure(f"the reference's '{label}' has fractions, and the output is {dtype}", at=at)
    if int(values.min()) < low or int(values.max()) > high:
        raise TestFailure(f"the reference's '{label}' goes beyond {dtype}: {values.min()} to {values.max()}", at=at)
