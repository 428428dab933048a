"""What torch knows of an operator's entries: their schemas, and what is checked where there is no memory yet.

The package reads it from a table beside the modules (`package.table_name`), so that it defines operators and loads none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from skrules.binding.wrapper import descriptor_bytes_of, parameters_of
from skrules.contract.ctype import scalar_dtype
from skrules.contract.entry import Entry, EntryParameter
from skrules.contract.model import ParameterKind, Role

_FORMAT = 1
_FLOATS = ("float", "bfloat")
_TENSORS = (ParameterKind.TENSOR, ParameterKind.TENSOR_LIST)
_WRITTEN = frozenset({Role.OUTPUT, Role.WORKSPACE})
# Words that cannot name an argument in a schema: tried with the parser of torch 2.13.
_SCHEMA_WORDS = re.compile(
    r"(False|None|NoneType|True|and|as|assert|break|class|continue|def|del|elif|else|for|global|if|import|in|is|not|or|pass|"
    r"raise|return|while|with)\Z"
)


def render_entries(operator: str, entries: Sequence[Entry]) -> str:
    """Return the table of an operator as JSON text: per entry the schema that callers see, and that of its launch."""
    table = {"format": _FORMAT, "operator": operator, "entries": {entry.name: _entry(entry) for entry in entries}}
    return json.dumps(table, indent=2) + "\n"


def schema_of(entry: Entry) -> str:
    """Return what follows an entry's name in its schema: "(Tensor x, Tensor(a1!) z, int n) -> Tensor(a1!)".

    A tensor that is written, or given back, names its alias set: `a` and the place of the parameter.
    """
    arguments, result = [], "()"
    for place, (name, parameter) in enumerate(zip(_names(entry), parameters_of(entry), strict=True)):
        is_returned = parameter.name == entry.return_parameter
        kind = _type(parameter, place, is_returned=is_returned)
        arguments.append(f"{kind} {name}")
        result = kind if is_returned else result
    return f"({', '.join(arguments)}) -> {result}"


def launch_schema_of(entry: Entry) -> str:
    """Return the same for the launch, which returns nothing: "(Tensor x, Tensor(a1!) z, int n) -> ()"."""
    kinds = [_type(parameter, place, is_returned=False) for place, parameter in enumerate(parameters_of(entry))]
    return f"({', '.join(f'{kind} {name}' for kind, name in zip(kinds, _names(entry), strict=True))}) -> ()"


def _entry(entry: Entry) -> Mapping[str, Any]:
    parameters = parameters_of(entry)
    names = [parameter.name for parameter in parameters]
    return {
        "schema": schema_of(entry),
        "launch_schema": launch_schema_of(entry),
        "returned": names.index(entry.return_parameter) if entry.return_parameter else None,
        "prepares": bool(descriptor_bytes_of(entry)),
        "parameters": [_parameter(parameter) for parameter in parameters],
    }


def _parameter(parameter: EntryParameter) -> Mapping[str, Any]:
    return {
        "name": parameter.name,
        "c_type": " ".join(parameter.c_type.split()),
        "kind": str(parameter.kind),
        "nullable": parameter.nullable,
        "dtype": parameter.dtype,
        "rank": parameter.rank,
    }


def argument_names(own: Sequence[str]) -> list[str]:
    """Return the names of arguments: those of the kernel, with a `_` more where a schema has another use for the word."""
    names = []
    for name in own:
        if _SCHEMA_WORDS.match(name):
            name += "_"
            while name in own:
                name += "_"
        names.append(name)
    return names


def scalar_type(dtype: str) -> str:
    """Return how a schema calls a scalar of an encoding: "float", "bool" or "int"."""
    if dtype.startswith(_FLOATS):
        return "float"
    return "bool" if dtype == "bool" else "int"


def _names(entry: Entry) -> list[str]:
    return argument_names([parameter.name for parameter in parameters_of(entry)])


def _type(parameter: EntryParameter, place: int, *, is_returned: bool) -> str:
    if parameter.kind in _TENSORS:
        is_written = not _WRITTEN.isdisjoint(parameter.roles)
        alias = f"(a{place}!)" if is_written else f"(a{place})" if is_returned else ""
        if parameter.kind is ParameterKind.TENSOR_LIST:
            return f"Tensor{alias}[]"
        return f"Tensor{alias}?" if parameter.nullable else f"Tensor{alias}"
    if parameter.kind is ParameterKind.HOST_STRUCT:
        return "int[]"  # its bytes
    dtype = scalar_dtype(parameter.c_type) or parameter.dtype
    # Of a type that only the compiler knows, it is judged when it is launched.
    return scalar_type(dtype) if dtype else "Scalar"
