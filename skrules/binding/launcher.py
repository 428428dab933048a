"""Launchers: the end of an adapted kernel file, where a plain C function starts each entry.

Only the kernel's translation unit knows the types of the parameters, so it is here that sizes, alignments and scalar
classes are measured and that values become arguments of a launch, or of the entry's runtime wrapper. All that goes into
one table, `skrules_code_<entry>`; all else about an entry stands in the descriptor.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from skrules.binding.presence import absence_of, marker_of
from skrules.binding.templates import c_string, one_line, render
from skrules.binding.wrapper import WrapperFunction, functions_of, parameters_of
from skrules.contract.entry import Entry, EntryParameter
from skrules.contract.model import ParameterKind
from skrules.errors import NeedsHuman, UsageError

#: `skrules_kind` of skrules_descriptor.h.
KIND_NAMES: Mapping[ParameterKind, str] = {
    ParameterKind.TENSOR: "SKRULES_TENSOR",
    ParameterKind.TENSOR_LIST: "SKRULES_TENSOR_LIST",
    ParameterKind.SCALAR: "SKRULES_SCALAR",
    ParameterKind.HOST_STRUCT: "SKRULES_HOST_STRUCT",
}

_NEEDS: Mapping[ParameterKind, str] = {
    ParameterKind.TENSOR: "a pointer",
    ParameterKind.TENSOR_LIST: "a pointer",
    ParameterKind.SCALAR: "a number, bool or enumeration of at most 8 bytes",
    ParameterKind.HOST_STRUCT: "trivially copyable and no pointer",
}

# On the host side of a launch a device address is an ordinary pointer. `GM_ADDR` is a macro for `__gm__ uint8_t *`, so
# `const GM_ADDR` is a pointer to const, which plain text replacement keeps.
_HOST_SPELLING: Mapping[str, str] = {"__gm__": "", "GM_ADDR": "uint8_t *"}
_DEVICE_WORD = re.compile(r"\b(?:__gm__|GM_ADDR)\b")


def host_type(c_type: str) -> str:
    """Return `c_type` as host code must spell it: "__gm__ half *" -> "half *", "GM_ADDR" -> "uint8_t *"."""
    return one_line([_DEVICE_WORD.sub(lambda word: _HOST_SPELLING[word[0]], c_type)])


def require_bindable(entries: Sequence[Entry]) -> None:
    """Raise when the entries cannot be bound.

    NeedsHuman: an entry that takes tensor lists and has no runtime wrapper: how a list is laid out only its author knows.
    UsageError: two entries of one name.
    """
    seen: set[str] = set()
    for entry in entries:
        if entry.name in seen:
            raise UsageError(f"entry '{entry.name}' is declared twice", at=entry.contract.at)
        seen.add(entry.name)
        lists = [p.name for p in entry.parameters if p.kind is ParameterKind.TENSOR_LIST]
        if lists and entry.contract.runtime_wrapper is None:
            what = f"entry '{entry.name}' takes tensor lists ({', '.join(lists)}): generated launches cannot call it"
            raise NeedsHuman(what, at=entry.contract.at)


def render_launchers(entries: Sequence[Entry]) -> str:
    """Return AscendC text for the end of the kernel file, at global scope: tables and launchers of `entries`.

    It includes `skrules_launcher.h` (see `templates.directory`) and stands behind the sources of the entries' runtime
    wrappers and the marks of `presence.presence_marks`. The result is in the form of source text: one character a byte,
    "\\n" line ends. "" when there are no entries. Raises as `require_bindable`.
    """
    require_bindable(entries)
    return render("launcher.asc.j2", {"entries": [_values(entry) for entry in entries]}) if entries else ""


def _values(entry: Entry) -> Mapping[str, Any]:
    spaces = entry.kernel.namespaces
    parameters = parameters_of(entry)
    # An alias per parameter, made where the kernel stands: there its type means what the kernel meant by it.
    prefix = "".join(f"::{space}" for space in spaces if space)
    aliases = [f"skrules_{entry.name}_{index}" for index in range(len(parameters))]
    functions = {function.role: function for function in functions_of(entry)}
    return {
        "name": entry.name,
        "namespaces": spaces,
        "target": entry.bind_target,
        "marker": marker_of(entry),
        "absent": c_string(absence_of(entry)),
        "arguments": f"skrules_arguments_{entry.name}" if parameters else "nullptr",
        "launch": "nullptr" if functions else f"skrules_launch_{entry.name}",
        **{role: f"skrules_{role}_{entry.name}" if role in functions else "nullptr" for role in ("run", "prepare")},
        "functions": [
            {
                "role": function.role,
                "name": function.name,
                "context": function.context,
                "misfit": c_string(f"{entry.name}: the runtime wrapper must be: {_signature(function, parameters)}"),
            }
            for function in functions.values()
        ],
        "parameters": [
            {
                "alias": alias,
                "type": host_type(parameter.c_type),
                "qualified": f"{prefix}::{alias}",
                "kind": KIND_NAMES[parameter.kind],
                "misfit": c_string(_misfit(entry, parameter)),
            }
            for alias, parameter in zip(aliases, parameters, strict=True)
        ],
    }


def _signature(function: WrapperFunction, parameters: Sequence[EntryParameter]) -> str:
    """Return the declaration that a wrapper's function must have, for a message."""
    views = {ParameterKind.TENSOR: "const skrules_tensor &", ParameterKind.TENSOR_LIST: "const skrules_list &"}
    words = [f"const {function.context} &{function.context.removeprefix('skrules_')}"] + [
        views.get(each.kind, host_type(each.c_type).rstrip("& ") + " ") + each.name for each in parameters
    ]
    return f"const char *{function.name}({', '.join(words)}), in namespace ascendc_ops"


def _misfit(entry: Entry, parameter: EntryParameter) -> str:
    return (
        f"{entry.name}: parameter '{parameter.name}' is a {parameter.kind} in the contract, "
        f"but its type '{parameter.c_type}' is not {_NEEDS[parameter.kind]}"
    )
