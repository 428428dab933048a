"""The descriptor: the tables that tell the binding runtime and the compare program what an operator's entries take."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from skrules.binding.launcher import KIND_NAMES, require_bindable
from skrules.binding.templates import c_string, one_line, render
from skrules.binding.wrapper import descriptor_bytes_of, parameters_of, workspace_of
from skrules.contract.dtypes import DTYPES
from skrules.contract.entry import Entry, EntryParameter
from skrules.contract.model import Role
from skrules.errors import NeedsHuman, SkrulesError, UsageError, did_you_mean
from skrules.source.model import CoreType, KernelType

_ROLES: Mapping[Role, str] = {
    Role.INPUT: "SKRULES_INPUT",
    Role.OUTPUT: "SKRULES_OUTPUT",
    Role.WORKSPACE: "SKRULES_WORKSPACE",
}

# Core type -> its constant and the cores of a block where the type alone says them.
_CORES: Mapping[CoreType, tuple[str, tuple[int, int] | None]] = {
    CoreType.VECTOR: ("SKRULES_VECTOR", (0, 1)),
    CoreType.CUBE: ("SKRULES_CUBE", (1, 0)),
    CoreType.MIX: ("SKRULES_MIX", None),
    CoreType.BARE: ("SKRULES_BARE", (0, 0)),  # the compiler decides
}

# Where the template has the table of entries, and how an entry begins.
_TABLE = "const skrules_entry entries[] = {"
_ENTRY = re.compile(r'^    \{"(\w+)", ', re.M)

_MAX_RANK = 127  # int8_t in the table; torch has no such tensors


def render_descriptor(operator: str, entries: Sequence[Entry], types: Mapping[str, KernelType]) -> str:
    """Return descriptor.cpp of an operator: `skrules_operator_table`, and the module's init under `SKRULES_MODULE`.

    `types` has for each entry name the type the adapted kernel runs as; `operator` is the operator's name. The text is
    the same for all archs and includes `skrules_descriptor.h` only (see `templates.directory`). Compiled with
    `SKRULES_MODULE=add_custom_dav_2201 SKRULES_ARCH=dav-2201 SKRULES_TOOLCHAIN=host` it also defines the init function
    of the Python module of that name.

    Raises UsageError for an operator without entries, a doubled entry, an unknown dtype or a rank that cannot be;
    NeedsHuman for tensor lists without a wrapper and for a core ratio that is not written in digits.
    """
    if not entries:
        raise UsageError(f"operator '{operator}' has no entries to bind")
    require_bindable(entries)
    return render(
        "descriptor.cpp.j2",
        {
            "operator": operator,
            "operator_text": c_string(operator),
            "entries": [_entry(entry, types[entry.name]) for entry in entries],
        },
    )


def entries_of(descriptor: str) -> tuple[str, ...]:
    """Return the names of the entries of a text that `render_descriptor` returned, in its order."""
    return tuple(_ENTRY.findall(descriptor.partition(_TABLE)[2]))


def _entry(entry: Entry, kernel_type: KernelType) -> Mapping[str, Any]:
    core, (aic, aiv) = _cores(entry, kernel_type)
    parameters = parameters_of(entry)
    names = [parameter.name for parameter in parameters]
    workspace = workspace_of(entry)
    return {
        "name": entry.name,
        "kernel": c_string(one_line([entry.bind_target])),
        "core": core,
        "aic": aic,
        "aiv": aiv,
        "blocks": entry.contract.block_dim or 0,
        "parameters": [_parameter(entry, parameter) for parameter in parameters],
        "returned": names.index(entry.return_parameter) if entry.return_parameter else -1,
        "workspace": names.index(workspace) if workspace else -1,
        "descriptor_bytes": descriptor_bytes_of(entry),
        "largest": int(entry.contract.sk.helper_block_num == "accept"),
    }


def _parameter(entry: Entry, parameter: EntryParameter) -> Mapping[str, Any]:
    if parameter.dtype and parameter.dtype not in DTYPES:
        what = f"{entry.name}: parameter '{parameter.name}' has the unknown dtype '{parameter.dtype}'"
        raise _at(UsageError, entry, parameter, what, allowed=DTYPES, hint=did_you_mean(parameter.dtype, DTYPES))
    if parameter.rank is not None and not 0 <= parameter.rank <= _MAX_RANK:
        what = f"{entry.name}: parameter '{parameter.name}' has the rank {parameter.rank}"
        raise _at(UsageError, entry, parameter, what, allowed=(f"0..{_MAX_RANK}",))
    return {
        "name": c_string(parameter.name),
        "c_type": c_string(one_line([parameter.c_type])),
        "kind": KIND_NAMES[parameter.kind],
        "roles": " | ".join(_ROLES[role] for role in sorted(parameter.roles, key=list(Role).index)) or "0",
        "nullable": int(parameter.nullable),
        "rank": -1 if parameter.rank is None else parameter.rank,
        "dtype": c_string(parameter.dtype),
    }


def _cores(entry: Entry, kernel_type: KernelType) -> tuple[str, tuple[int, int]]:
    if kernel_type.core not in _CORES:
        raise NeedsHuman(f"entry '{entry.name}' has no core type", at=entry.contract.at)
    name, known = _CORES[kernel_type.core]
    if known is not None:
        return name, known
    ratio = (kernel_type.aic.strip(), kernel_type.aiv.strip())
    if not all(text.isascii() and text.isdigit() and int(text) < 256 for text in ratio):
        raise NeedsHuman(
            f"entry '{entry.name}' is __mix__({', '.join(ratio)}): the number of cores in a block is not known",
            at=entry.contract.at,
            hint='write the ratio in digits, e.g. __mix__(1, 2), or in the contract: sk: {kernel_type: "mix(1, 2)"}',
        )
    return name, (int(ratio[0]), int(ratio[1]))


def _at(kind: type[SkrulesError], entry: Entry, parameter: EntryParameter, what: str, **more: Any) -> SkrulesError:
    place = entry.contract.positions.get(f"parameters.{parameter.name}", entry.contract.at)
    return kind(what, at=place, **more)
