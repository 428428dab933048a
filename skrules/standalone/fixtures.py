"""Fixtures: what the entries of one source are run on, and what they must give, as files that need nothing of skrules.

plan.txt         the cases, in the form of `skrules.compare.plan`
inputs/          what tensors hold before
expected/        what results must be by the reference: <case>.<tensor>.bin, and .padding with a byte for each element
fixture.json     how `run.py` judges: tolerances, dtypes, what the plan takes C++ types to be
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from skrules.binding.wrapper import parameters_of
from skrules.compare import numbers
from skrules.compare.case import Case
from skrules.compare.cases import load_cases
from skrules.compare.difference import default_tolerance
from skrules.compare.plan import outputs_of, write_plan
from skrules.compare.reference import Reference, run_reference
from skrules.compare.subject import Argument, Subject
from skrules.contract.ctype import scalar_dtype
from skrules.contract.entry import Entry
from skrules.contract.model import ParameterKind
from skrules.engine.files import bytes_of
from skrules.errors import UsageError
from skrules.standalone.published import DOCUMENT, read_published

_CASES = "cases.yaml"
_REFERENCE = "reference.py"
_REFERENCE_S = 600.0
SUPPORT = "asset-support"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The fixture of one entry: the file it is read from, and its cases; `reference` "" when results are not known."""

    path: Path
    reference: str
    cases: tuple[Case, ...]


def subject_of(entry: Entry) -> Subject:
    """Return an entry as cases are read against it. What only a compiler knows, the size of structs, is left open."""
    return Subject(
        name=entry.name,
        kernel=entry.bind_target,
        blocks=entry.contract.block_dim or 0,
        arguments=tuple(
            Argument(
                name=each.name,
                c_type=each.c_type,
                kind=each.kind,
                roles=each.roles,
                nullable=each.nullable,
                dtype="" if each.kind is ParameterKind.SCALAR else each.dtype,
                rank=each.rank,
                bytes=None,
                encoding=(scalar_dtype(each.c_type) or each.dtype) if each.kind is ParameterKind.SCALAR else "",
            )
            for each in parameters_of(entry)
        ),
    )


def find_fixtures(folder: Path | None, names: Mapping[str, Sequence[str]], subjects: Mapping[str, Subject]) -> dict[str, Found]:
    """Find the fixtures of entries below `folder`, where `names` says what an entry's own folder may be called.

    A folder has the public tool's document, or `cases.yaml` with the `reference.py` beside it. Entries without one are left
    out. Raises UsageError for a fixture that does not fit.
    """
    if folder is None:
        return {}
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}")
    places = {entry: next((folder / name for name in names[entry] if _has_fixture(folder / name)), None) for entry in subjects}
    found: dict[str, Found] = {}
    for place in dict.fromkeys(place for place in places.values() if place):
        own = [subjects[entry] for entry, where in places.items() if where == place]
        path = place / DOCUMENT
        if path.is_file() and (place / _CASES).is_file():
            raise UsageError(f"{place} has {DOCUMENT} and also {_CASES}", hint="keep one of them")
        if path.is_file():
            if len(own) > 1:
                raise UsageError(f"{path} is of one entry, and {', '.join(each.name for each in own)} would share it")
            found[own[0].name] = Found(path=path, reference="", cases=(read_published(path, own[0]),))
            continue
        path = place / _CASES
        cases = load_cases(bytes_of(path), str(path), own)
        reference = str(place / _REFERENCE) if (place / _REFERENCE).is_file() else ""
        for entry in own:
            mine = tuple(case for case in cases if case.entry == entry.name)
            if mine:
                found[entry.name] = Found(path=path, reference=reference, cases=mine)
    return found


def _has_fixture(place: Path) -> bool:
    return (place / DOCUMENT).is_file() or (place / _CASES).is_file()


def write_fixtures(label: str, subjects: Sequence[Subject], found: Mapping[str, Found]) -> dict[str, bytes]:
    """Return the files of the fixtures of one source, by their path in its folder.

    Raises TestFailure when a reference fails: what it expects would not be known.
    """
    by_name = {subject.name: subject for subject in subjects}
    mine = {name: found[name] for name in by_name if name in found}
    cases = [case for each in mine.values() for case in each.cases]
    _require_own_names(cases)
    document: dict[str, Any] = {
        "schema_version": 1,
        "label": label,
        "entries": {subject.name: _encodings(subject) for subject in subjects},
        "cases": [],
    }
    files: dict[str, bytes] = {}
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch)
        if cases:
            write_plan(work, cases, by_name)
            files = {path.relative_to(work).as_posix(): path.read_bytes() for path in sorted(work.rglob("*")) if path.is_file()}
        references: dict[str, Reference] = {}
        for reference in dict.fromkeys(each.reference for each in mine.values() if each.reference):
            own = [case for each in mine.values() if each.reference == reference for case in each.cases]
            references |= dict.fromkeys(
                (case.name for case in own), run_reference(Path(reference), reference, work, own, by_name, _REFERENCE_S)
            )
            for case in own:
                files |= _expected(case, references[case.name].expected(case, by_name[case.entry]))
    document["cases"] = [_case(case, by_name[case.entry], files) for case in cases]
    return {**files, "fixture.json": (json.dumps(document, indent=2) + "\n").encode()}


def _require_own_names(cases: Sequence[Case]) -> None:
    first: dict[str, Case] = {}
    for case in cases:
        other = first.setdefault(case.name, case)
        if other is not case:
            raise UsageError(f"a second case '{case.name}' for the same source", at=case.at, hint=f"the first is in {other.at}")


def _encodings(subject: Subject) -> dict[str, str]:
    """Return what the plan takes C++ types to be, for the built program to be asked: a dtype each, "struct" for structs."""
    return {
        each.name: each.encoding or "struct"
        for each in subject.arguments
        if each.kind in (ParameterKind.SCALAR, ParameterKind.HOST_STRUCT)
    }


def _expected(case: Case, arrays: Mapping[str, numbers.Array]) -> dict[str, bytes]:
    """Return the files of expected results, rounded to the dtypes of the tensors as a comparison would round them."""
    files = {}
    tensors = case.all_tensors()
    for label, array in arrays.items():
        mask = np.ma.getmaskarray(array)
        with np.errstate(all="ignore"):
            rounded = np.ma.getdata(array).astype(numbers.numpy_dtype(tensors[label].dtype))
        files[f"expected/{case.name}.{label}.bin"] = numbers.little_endian(rounded)
        if mask.any():
            files[f"expected/{case.name}.{label}.padding"] = mask.astype(np.uint8).tobytes()
    return files


def _case(case: Case, entry: Subject, files: Mapping[str, bytes]) -> dict[str, Any]:
    outputs = []
    for label, tensor in outputs_of(case, entry):
        tolerance = case.tolerance or default_tolerance(tensor.dtype)
        expected, padding = (f"expected/{case.name}.{label}.{ending}" for ending in ("bin", "padding"))
        outputs.append(
            {
                "tensor": label,
                "dtype": tensor.dtype,
                "shape": list(tensor.shape),
                "sentinel": tensor.fill == "sentinel",
                "rtol": tolerance.rtol,
                "atol": tolerance.atol,
                "expected": expected if expected in files else "",
                "padding": padding if padding in files else "",
            }
        )
    return {"name": case.name, "entry": case.entry, "partial": case.partial, "outputs": outputs}
