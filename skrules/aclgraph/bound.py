"""What the launcher and the descriptor of an adapted entry are made of, carried by `operator-sk-adapted.json`.

The manifest's published fields say what callers pass. How a kernel is launched needs more: where it stands, what it runs as,
what its author decided. That is the entry's `binding`, written when it is adapted and read back here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skrules.aclgraph.entry import PackageParameter
from skrules.contract.entry import Entry, EntryParameter
from skrules.contract.model import EntryContract, RuntimeWrapper, SuperKernelDecision
from skrules.errors import Location, UsageError
from skrules.source.model import CoreType, Kernel, KernelType, Span


def bound_json(entry: Entry) -> dict[str, Any]:
    """Return the `binding` of an entry."""
    return {
        "namespaces": list(entry.kernel.namespaces),
        "conditions": list(entry.kernel.conditions),
        "core": str(entry.type.core),
        "aic": entry.type.aic,
        "aiv": entry.type.aiv,
        "block_dim": entry.contract.block_dim,
        "helper_block_num": entry.contract.sk.helper_block_num,
        "wrapper": _wrapper_json(entry.contract.runtime_wrapper),
    }


def bound_entry(data: Mapping[str, Any], manifest: str) -> Entry:
    """Return an entry of a manifest as the launcher and the descriptor need it; its spans and positions are empty.

    Raises UsageError for one that this version did not write.
    """
    try:
        return _entry(data, data["binding"], manifest)
    except (KeyError, TypeError, ValueError) as error:
        hint = "adapt the operator again"
        raise UsageError(f"{manifest} does not have what a comparison needs: {error!r}", hint=hint) from error


def _entry(data: Mapping[str, Any], binding: Mapping[str, Any], manifest: str) -> Entry:
    at = Location(file=manifest)
    core = KernelType(core=CoreType(binding["core"]), aic=str(binding["aic"]), aiv=str(binding["aiv"]))
    nowhere = Span(start=0, end=0)
    kernel = Kernel(
        name=str(data["internal_symbol_name"]),
        namespaces=tuple(map(str, binding["namespaces"])),
        qualifiers=tuple(map(str, data["original_qualifiers"])),
        type=core,
        parameters=(),
        template_parameters=None,
        conditions=tuple(map(str, binding["conditions"])),
        span=nowhere,
        name_span=nowhere,
        parameter_span=nowhere,
        body=nowhere,
        line=int(data["line"]),
        column=int(data["column"]),
    )
    block_dim = binding["block_dim"]
    contract = EntryContract(
        name=str(data["public_entry_name"]),
        block_dim=None if block_dim is None else int(block_dim),
        runtime_wrapper=_wrapper(binding["wrapper"]),
        sk=SuperKernelDecision(helper_block_num=str(binding["helper_block_num"])),
        at=at,
    )
    return Entry(
        name=str(data["public_entry_name"]),
        kernel=kernel,
        contract=contract,
        parameters=tuple(_parameter(PackageParameter.from_json(each)) for each in data["parameters"]),
        bind_target=str(data["bind_target"]),
        return_parameter=str(data["pybind_return_tensor"]),
    )


def _parameter(known: PackageParameter) -> EntryParameter:
    return EntryParameter(
        name=known.name,
        c_type=known.c_type,
        kind=known.kind,
        roles=known.roles,
        nullable=known.nullable,
        dtype=known.dtype,
        rank=known.rank,
    )


def _wrapper_json(wrapper: RuntimeWrapper | None) -> dict[str, Any] | None:
    if wrapper is None:
        return None
    return {
        "source": wrapper.source,
        "entry": wrapper.entry,
        "prepare_entry": wrapper.prepare_entry,
        "descriptor_bytes": wrapper.descriptor_bytes,
    }


def _wrapper(data: Mapping[str, Any] | None) -> RuntimeWrapper | None:
    if data is None:
        return None
    return RuntimeWrapper(
        source=str(data["source"]),
        entry=str(data["entry"]),
        prepare_entry=str(data["prepare_entry"]),
        descriptor_bytes=int(data["descriptor_bytes"]),
    )
