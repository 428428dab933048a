"""Reads `cases.yaml` strictly, and checks it against the operator that is compared."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from skrules.compare import numbers
from skrules.compare.case import Case, TensorCase, Tolerance, label_of
from skrules.compare.case_keys import CASES
from skrules.compare.spelled import encode_fields, encode_value, encode_values, spell
from skrules.compare.subject import Argument, Subject
from skrules.contract.document import read_document
from skrules.contract.dtypes import DTYPES
from skrules.contract.model import ParameterKind, Role
from skrules.contract.reading import Problems, Read, read
from skrules.errors import did_you_mean

_MAX_TENSOR_BYTES = 1 << 31
_MAX_RANK = 32
_BYTES = ("uint8", "int8")
_SECTIONS: Mapping[ParameterKind, str] = {
    ParameterKind.TENSOR: "tensors",
    ParameterKind.TENSOR_LIST: "lists",
    ParameterKind.SCALAR: "scalars",
    ParameterKind.HOST_STRUCT: "structs",
}


def load_cases(data: bytes, path: str, entries: Sequence[Subject]) -> tuple[Case, ...]:
    """Read a cases file for an operator with these entries (`subject.describe_program`); `path` names it in messages.

    Raises UsageError (`DocumentErrors` when there are several): every error of the file at once.
    """
    problems = Problems()
    root = read(read_document(path, data), CASES, problems)
    assert root is not None  # the document is a mapping, and so is the schema
    defaults = root.value.get("defaults")
    items = root.value["cases"].value if "cases" in root.value else []
    cases = [_Reader(item, entries, defaults, problems).case() for item in items]
    first: dict[str, Read] = {}
    for item in items:
        name = item.value.get("name")
        if name is not None and first.setdefault(name.value, name) is not name:
            problems.add(f"a second case '{name.value}'", name.at, hint=f"the first is in line {first[name.value].at.line}")
    problems.finish()
    return tuple(case for case in cases if case is not None)


class _Reader:
    """Turns one checked item of the file into a Case."""

    def __init__(self, item: Read, entries: Sequence[Subject], defaults: Read | None, problems: Problems) -> None:
        self._item = item
        self._entries = {entry.name: entry for entry in entries}
        self._defaults = defaults
        self._problems = problems
        self._title = f"case '{item.value['name'].value}'" if "name" in item.value else "the case"

    def case(self) -> Case | None:
        entry = self._entry()
        if entry is None:
            return None
        if entry.absent:
            self._problems.add(f"{self._title}: there is no '{entry.name}' to run: {entry.absent}", self._item.at)
            return None
        self._check_names(entry)
        kinds = {kind: [each for each in entry.arguments if each.kind is kind] for kind in ParameterKind}
        given = self._given
        structs = {each.name: self._struct(given("structs", each), each) for each in kinds[ParameterKind.HOST_STRUCT]}
        scalars = {each.name: self._scalar(given("scalars", each), each) for each in kinds[ParameterKind.SCALAR]}
        tensors = {each.name: self._tensor(given("tensors", each), each) for each in kinds[ParameterKind.TENSOR]}
        lists = {each.name: self._list(given("lists", each), each) for each in kinds[ParameterKind.TENSOR_LIST]}
        tolerance = self._setting("tolerance")
        own = self._setting("block_dim")
        blocks, around = own if own is not None else entry.blocks, self._item.get("super_kernel_blocks", 0)
        if 0 < around < blocks:
            at = self._item.value["super_kernel_blocks"].at
            self._problems.add(f"a super kernel of {around} blocks has no place for a kernel of {blocks}", at)
        return Case(
            name=self._item.get("name", ""),
            entry=entry.name,
            blocks=blocks,
            super_kernel_blocks=around,
            seed=self._setting("seed") or 0,
            tolerance=None if tolerance is None else Tolerance(**tolerance),
            partial=self._item.get("partial", False),
            tensors=tensors,
            scalars=scalars,
            structs=structs,
            lists=lists,
            at=self._item.at,
        )

    def _setting(self, key: str) -> Any:
        own = self._item.get(key)
        return own if own is not None or self._defaults is None else self._defaults.get(key)

    def _entry(self) -> Subject | None:
        name = self._item.value.get("entry")
        if name is not None and name.value in self._entries:
            return self._entries[name.value]
        if name is not None:
            hint = did_you_mean(name.value, self._entries)
            self._problems.add(f"there is no entry '{name.value}'", name.at, allowed=self._entries, hint=hint)
        elif len(self._entries) != 1:
            self._problems.add(f"{self._title} does not say which entry it runs", self._item.at, allowed=self._entries)
        return next(iter(self._entries.values())) if name is None and len(self._entries) == 1 else None

    def _check_names(self, entry: Subject) -> None:
        """Every name in the case must be a parameter of its section."""
        sections = {each.name: _SECTIONS.get(each.kind, "") for each in entry.arguments}
        for section in _SECTIONS.values():
            for name, item in self._item.value[section].value.items() if section in self._item.value else ():
                known = [each for each, home in sections.items() if home == section]
                if name not in sections:
                    message = f"entry '{entry.name}' has no parameter '{name}'"
                    self._problems.add(message, item.key_at, allowed=known, hint=did_you_mean(name, known))
                elif sections[name] not in (section, ""):
                    self._problems.add(f"'{name}' belongs under '{sections[name]}'", item.key_at)

    def _given(self, section: str, parameter: Argument) -> Read | None:
        items = self._item.value[section].value if section in self._item.value else {}
        if parameter.name not in items and not self._is_noted(section, parameter.name):
            message = f"{self._title} does not give '{parameter.name}' under '{section}'"
            self._problems.add(message, self._item.at, hint=self._example(parameter))
        return items.get(parameter.name)

    def _is_noted(self, section: str, name: str) -> bool:
        """Whether an error already says what is wrong with it: a wrong value, or the wrong section."""
        path = f"{self._item.path}.{section}"
        elsewhere = any(name in self._item.value[other].value for other in _SECTIONS.values() if other in self._item.value)
        return elsewhere or bool({path, f"{path}.{name}"} & self._problems.wrong)

    @staticmethod
    def _example(parameter: Argument) -> str:
        if parameter.kind is ParameterKind.SCALAR:
            return f"scalars: {{{parameter.name}: 1}}"
        if parameter.kind is ParameterKind.HOST_STRUCT:
            return f"structs: {{{parameter.name}: [{{uint32: 1}}]}}"
        tensor = f"{{shape: [64], dtype: {parameter.dtype or 'float16'}}}"
        if parameter.kind is ParameterKind.TENSOR_LIST:
            return f"lists: {{{parameter.name}: [{tensor}, {tensor}]}}"
        return f"tensors: {{{parameter.name}: {tensor}}}"

    def _struct(self, item: Read | None, parameter: Argument) -> bytes:
        if item is None:
            return b""
        before = len(self._problems.errors)
        data = encode_fields(item.value, self._problems)
        is_right = len(self._problems.errors) == before and not any(path.startswith(item.path) for path in self._problems.wrong)
        if is_right and parameter.bytes is not None and len(data) != parameter.bytes:
            message = f"'{parameter.name}' has {len(data)} bytes here, and {parameter.c_type} has {parameter.bytes}"
            self._problems.add(message, item.at)
        return data

    def _scalar(self, item: Read | None, parameter: Argument) -> bool | int | float:
        if item is None:
            return 0
        if not parameter.encoding:
            self._problems.add(
                f"how a {parameter.c_type} is encoded is not known, so '{parameter.name}' cannot be given", item.at
            )
        else:
            encode_value(parameter.encoding, item, self._problems)
        value: bool | int | float = item.value
        return value

    def _list(self, item: Read | None, parameter: Argument) -> tuple[TensorCase, ...]:
        if item is None:
            return ()
        named = [(each, replace(parameter, name=label_of(parameter.name, index))) for index, each in enumerate(item.value)]
        tensors = [_TensorReader(each, part, self._problems).tensor() for each, part in named]
        return tuple(tensor for tensor in tensors if tensor is not None)

    def _tensor(self, item: Read | None, parameter: Argument) -> TensorCase | None:
        if item is None:
            return None
        if item.value is None:
            if not parameter.nullable:
                hint = f"in the contract: parameters: {{{parameter.name}: {{nullable: true}}}}"
                self._problems.add(f"'{parameter.name}' is not nullable", item.at, hint=hint)
            return None
        return _TensorReader(item, parameter, self._problems).tensor()


class _TensorReader:
    """Turns one tensor of a case into a TensorCase."""

    def __init__(self, item: Read, parameter: Argument, problems: Problems) -> None:
        self._item = item
        self._parameter = parameter
        self._problems = problems
        self._struct: bytes | None = None  # of `fields`
        self._is_input = Role.INPUT in parameter.roles
        self._is_workspace = Role.WORKSPACE in parameter.roles

    def _complain(self, key: str, message: str, hint: str = "") -> None:
        at = self._item.value[key].key_at if key in self._item.value else self._item.at
        self._problems.add(f"'{self._parameter.name}': {message}", at, hint=hint)

    def tensor(self) -> TensorCase | None:
        before = len(self._problems.errors)
        if "fields" in self._item.value:
            self._struct = encode_fields(self._item.value["fields"].value, self._problems)
        shape, dtype = self._form()
        self._check_keys()
        if dtype is None or shape is None or len(self._problems.errors) > before:
            return None
        if math.prod(shape) * DTYPES[dtype] > _MAX_TENSOR_BYTES:
            self._complain("shape", f"is larger than {_MAX_TENSOR_BYTES} bytes")
            return None
        if self._struct is not None or isinstance(self._item.get("values"), list):
            return self._spelled(shape, dtype, self._struct)
        fill = self._item.get("values", "random") if self._is_input else self._item.get("initial", "sentinel")
        if not isinstance(fill, str):
            self._check_constant(dtype, fill)
            return TensorCase(shape=shape, dtype=dtype, fill="constant", constant=fill)
        low, high = self._range(dtype) if fill == "random" else (0, 0)
        return TensorCase(shape=shape, dtype=dtype, fill=fill, low=low, high=high)

    def _spelled(self, shape: tuple[int, ...], dtype: str, data: bytes | None) -> TensorCase | None:
        """Return a tensor whose elements the case has all: `data`, or else its values."""
        before = len(self._problems.errors)
        if data is None:
            data = encode_values(self._parameter.name, self._item.value["values"], shape, dtype, self._problems)
        elif len(data) != math.prod(shape):
            self._complain("fields", f"has {len(data)} bytes, and its shape {list(shape)} {math.prod(shape)} elements")
        return None if len(self._problems.errors) > before else TensorCase(shape=shape, dtype=dtype, fill="data", data=data)

    def _form(self) -> tuple[tuple[int, ...] | None, str | None]:
        size = self._item.get("bytes")
        if size is not None:
            if not self._is_workspace:
                self._complain("bytes", "only a workspace may be given in bytes", "give shape and dtype")
            elif "shape" in self._item.value or "dtype" in self._item.value:
                self._complain("bytes", "has bytes and also shape or dtype", "keep one of them")
            return (size,), "uint8"
        declared = self._parameter.dtype
        dtype = self._item.get("dtype", declared)
        shape = self._item.get("shape")
        if self._struct is not None:
            dtype = dtype or "uint8"
            shape = [len(self._struct)] if shape is None else shape
            if dtype not in _BYTES:
                self._complain("fields", f"are bytes, and its elements {dtype}", f"dtype is one of {', '.join(_BYTES)}")
        missing = {"shape": shape is None, "dtype": not dtype}
        for key, is_missing in missing.items():
            if is_missing and f"{self._item.path}.{key}" not in self._problems.wrong:
                self._complain("", f"has no {key}")
        if declared and dtype != declared:
            self._complain("dtype", f"is {declared} in the contract, not {dtype}")
        if dtype and dtype not in numbers.COMPARABLE:
            self._complain("dtype", f"{dtype} cannot be compared")
        if shape is not None and len(shape) > _MAX_RANK:
            self._complain("shape", f"has {len(shape)} dimensions")
            return None, dtype
        rank = self._parameter.rank
        if shape is not None and rank not in (None, len(shape)) and f"{self._item.path}.shape" not in self._problems.wrong:
            self._complain("shape", f"has {len(shape)} dimensions; the contract says {rank}")
        return None if shape is None else tuple(shape), dtype or None

    def _check_keys(self) -> None:
        misplaced = ("initial",) if self._is_input else ("values", "fields", "low", "high")
        what = "an input" if self._is_input else "a workspace" if self._is_workspace else "an output"
        for key in misplaced:
            if key in self._item.value:
                hint = "inputs have 'values'" if self._is_input else "what it holds before is 'initial'"
                self._complain(key, f"{what} has no '{key}'", hint)
        if "values" in self._item.value and self._struct is not None:
            self._complain("fields", "has fields and also values", "keep one of them")
        if self._item.get("values", "random") != "random" or self._struct is not None:
            for key in ("low", "high"):
                if key in self._item.value:
                    self._complain(key, f"'{key}' is for random values only")

    def _check_constant(self, dtype: str, value: float) -> None:
        try:
            numbers.encode(dtype, bool(value) if dtype == "bool" and value in (0, 1) else value)
        except ValueError as error:
            self._complain("values", f"{spell(value)} does not fit: {error}")

    def _range(self, dtype: str) -> tuple[float, float]:
        smallest, largest = numbers.limits(dtype)
        if dtype == "bool":
            usual: tuple[float, float] = (0, 2)
        else:
            usual = (-1, 1) if numbers.is_float(dtype) else (max(-100, smallest), min(100, largest))
        low, high = self._item.get("low", usual[0]), self._item.get("high", usual[1])
        end = largest if numbers.is_float(dtype) else largest + 1
        for key, value in (("low", low), ("high", high)):
            if not smallest <= value <= end:
                self._complain(key, f"{spell(value)} is outside of {dtype}")
            elif not numbers.is_float(dtype) and not isinstance(value, int):
                self._complain(key, f"{spell(value)} must be a whole number, since it is {dtype}")
        if not low < high:
            self._complain("high" if "high" in self._item.value else "low", f"low {spell(low)} is not below high {spell(high)}")
        return low, high
