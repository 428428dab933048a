"""`operator-sk-runtime-fixture.json`: how the public tool says what an entry is run on.

    {"block_dim": 8, "parameters": [{"name": "x", "kind": "device_buffer", "bytes": 4096, "fill": 1},
                                    {"name": "z", "bytes": 4096, "compare": true},
                                    {"name": "n", "kind": "scalar", "value": 2048}]}

It becomes one case, called as the entry. The public tool fills every buffer with one byte, results too, and knows no
reference; a result that says no `fill` is filled here as a comparison fills results, so that one that nobody writes shows.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from skrules.compare import numbers
from skrules.compare.case import Case, TensorCase
from skrules.compare.subject import Argument, Subject
from skrules.contract.dtypes import DTYPES
from skrules.contract.model import ParameterKind, Role
from skrules.errors import Location, UsageError, did_you_mean

DOCUMENT = "operator-sk-runtime-fixture.json"
_KEYS = ("block_dim", "parameters", "schema_version")
_PARAMETER_KEYS = ("name", "kind", "bytes", "fill", "input_fill", "compare", "value")
_KINDS = ("device_buffer", "scalar", "literal")
_MAX_BYTES = 1 << 31


def read_published(path: Path, entry: Subject) -> Case:
    """Read a fixture of one entry. Raises UsageError for one that does not fit the entry."""
    try:
        document = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"cannot read {path}: {error}") from error
    return _Reader(path, entry).case(document)


class _Reader:
    def __init__(self, path: Path, entry: Subject) -> None:
        self._at = Location(file=str(path))
        self._entry = entry

    def case(self, document: Any) -> Case:
        self._require_keys(document, _KEYS, "the fixture")
        items = document.get("parameters")
        if not isinstance(items, list):
            raise self._wrong("'parameters' must be a list")
        given: dict[str, Mapping[str, Any]] = {}
        for item in items:
            self._require_keys(item, _PARAMETER_KEYS, "a parameter")
            name = item.get("name")
            if not isinstance(name, str) or name in given:
                raise self._wrong(f"a parameter has the name {name!r}", hint="each has a name of its own")
            given[name] = item
        known = {argument.name: argument for argument in self._entry.arguments}
        for name in given:
            if name not in known:
                message = f"entry '{self._entry.name}' has no parameter '{name}'"
                raise self._wrong(message, allowed=tuple(known), hint=did_you_mean(name, known))
        for name in known:
            if name not in given:
                raise self._wrong(f"the parameter '{name}' of entry '{self._entry.name}' is not given")
        tensors = {name: self._tensor(known[name], item) for name, item in given.items() if self._is_tensor(known[name], item)}
        if not any(item.get("compare") is True for item in given.values()):
            raise self._wrong("no buffer has 'compare': true, so nothing would be compared")
        return Case(
            name=self._entry.name,
            entry=self._entry.name,
            blocks=self._whole(document, "block_dim", 1, default=self._entry.blocks or 1),
            tensors=tensors,
            scalars={name: self._scalar(known[name], item) for name, item in given.items() if name not in tensors},
            structs={},
            at=self._at,
        )

    def _is_tensor(self, argument: Argument, item: Mapping[str, Any]) -> bool:
        kind = item.get("kind", "device_buffer")
        if kind not in _KINDS:
            raise self._wrong(f"'{argument.name}' has the kind {kind!r}", allowed=_KINDS)
        if argument.kind not in (ParameterKind.TENSOR, ParameterKind.SCALAR):
            message = f"'{argument.name}' is a {argument.kind}, which this form of a fixture cannot give"
            raise self._wrong(message, hint="write cases.yaml")
        if (kind == "device_buffer") != (argument.kind is ParameterKind.TENSOR):
            raise self._wrong(f"'{argument.name}' is a {argument.kind} by its contract, and a {kind} here")
        return argument.kind is ParameterKind.TENSOR

    def _tensor(self, argument: Argument, item: Mapping[str, Any]) -> TensorCase:
        size = self._whole(item, "bytes", 1)
        dtype = argument.dtype if argument.dtype in numbers.COMPARABLE else "uint8"
        if size % DTYPES[dtype] or size > _MAX_BYTES:
            raise self._wrong(f"'{argument.name}' has {size} bytes, and its elements are {dtype}")
        compare = item.get("compare", False)
        if not isinstance(compare, bool):
            raise self._wrong(f"'compare' of '{argument.name}' must be true or false")
        if compare != (Role.OUTPUT in argument.roles):
            is_written = "is no result" if compare else "is a result"
            raise self._wrong(f"'{argument.name}' {is_written} by its contract, and 'compare' is {str(compare).lower()} here")
        shape = (*(1,) * max((argument.rank or 1) - 1, 0), size // DTYPES[dtype])
        key = "fill" if "fill" in item else "input_fill"
        if key not in item and Role.INPUT not in argument.roles:
            return TensorCase(shape=shape, dtype=dtype, fill="sentinel")
        value = item.get(key, 0)
        if type(value) is not int:
            raise self._wrong(f"'{key}' of '{argument.name}' must be a whole number")
        return TensorCase(shape=shape, dtype=dtype, fill="data", data=bytes([value & 0xFF]) * size)

    def _scalar(self, argument: Argument, item: Mapping[str, Any]) -> bool | int | float:
        value = item.get("value")
        if not argument.encoding:
            raise self._wrong(f"how a {argument.c_type} is encoded is not known, so '{argument.name}' cannot be given")
        if not isinstance(value, bool | int | float):
            raise self._wrong(f"'value' of '{argument.name}' must be a number, true or false, not {value!r}")
        try:
            numbers.encode(argument.encoding, value)
        except ValueError as error:
            raise self._wrong(f"'value' of '{argument.name}' does not fit: {error}") from error
        return value

    def _whole(self, item: Mapping[str, Any], key: str, least: int, default: int | None = None) -> int:
        value = item.get(key, default)
        if type(value) is not int or value < least:
            raise self._wrong(f"'{key}' must be a whole number from {least}, not {value!r}")
        return value

    def _require_keys(self, item: Any, known: tuple[str, ...], what: str) -> None:
        if not isinstance(item, dict):
            raise self._wrong(f"{what} must be an object")
        for key in item:
            if key not in known:
                raise self._wrong(f"{what} has the unknown key '{key}'", allowed=known, hint=did_you_mean(key, known))

    def _wrong(self, message: str, *, allowed: tuple[str, ...] = (), hint: str = "") -> UsageError:
        return UsageError(message, at=self._at, allowed=allowed, hint=hint)
