"""Launchers: the end of an adapted kernel file, where a plain C function starts each entry.

Only the kernel's translation unit knows the types of the parameters, so it is here that sizes, alignments and scalar
classes are measured (`skrules_arguments_<entry>`) and that values become arguments (`skrules_launch_<entry>`). All else
about an entry stands in the descriptor.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from skrules.binding.templates import c_string, one_line, render
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


def require_generated(entries: Sequence[Entry]) -> None:
    """Raise when generated launches cannot serve the entries.

    NeedsHuman: an entry whose launch is hand-written, or that takes tensor lists, whose layout only its author knows.
    UsageError: two entries of one name.
    """
    seen: set[str] = set()
    for entry in entries:
        if entry.name in seen:
            raise UsageError(f"entry '{entry.name}' is declared twice", at=entry.contract.at)
        seen.add(entry.name)
        lists = [p.name for p in entry.parameters if p.kind is ParameterKind.TENSOR_LIST]
        if entry.contract.runtime_wrapper is not None:
            what = f"entry '{entry.name}' has the runtime wrapper '{entry.contract.runtime_wrapper.entry}'"
        elif lists:
            what = f"entry '{entry.name}' takes tensor lists ({', '.join(lists)})"
        else:
            continue
        raise NeedsHuman(f"{what}: generated launches cannot call it", at=entry.contract.at)


def render_launchers(entries: Sequence[Entry]) -> str:
    """Return AscendC text for the end of the kernel file, at global scope: argument tables and launchers of `entries`.

    It includes `skrules_launcher.h` (see `templates.directory`). The result is in the form of source text: one character
    a byte, "\\n" line ends. "" when there are no entries. Raises as `require_generated`.
    """
    require_generated(entries)
    return render("launcher.asc.j2", {"entries": [_values(entry) for entry in entries]}) if entries else ""


def _values(entry: Entry) -> Mapping[str, Any]:
    spaces = entry.kernel.namespaces
    # An alias per parameter, made where the kernel stands: there its type means what the kernel meant by it.
    prefix = "".join(f"::{space}" for space in spaces if space)
    aliases = [f"skrules_{entry.name}_{index}" for index in range(len(entry.parameters))]
    return {
        "name": entry.name,
        "namespaces": spaces,
        "target": entry.bind_target,
        "parameters": [
            {
                "alias": alias,
                "type": host_type(parameter.c_type),
                "qualified": f"{prefix}::{alias}",
                "kind": KIND_NAMES[parameter.kind],
                "misfit": c_string(_misfit(entry, parameter)),
            }
            for alias, parameter in zip(aliases, entry.parameters, strict=True)
        ],
    }


def _misfit(entry: Entry, parameter: EntryParameter) -> str:
    return (
        f"{entry.name}: parameter '{parameter.name}' is a {parameter.kind} in the contract, "
        f"but its type '{parameter.c_type}' is not {_NEEDS[parameter.kind]}"
    )
