"""`operator-sk-adapted.json`: what was adapted and what keeps the rest from being adapted.

The field names are those of the public tool; places of findings and what an aggregate needs to know are added to them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skrules.aclgraph.bound import bound_json
from skrules.aclgraph.entry import PackageEntry, PackageParameter
from skrules.adapt.draft import AdaptedEntry
from skrules.contract.model import EntryContract, RuntimeWrapper
from skrules.errors import UsageError
from skrules.findings import Finding

DOCUMENT = "operator-sk-adapted.json"
COMPLETED = "completed"
NEEDS_HUMAN = "needs-human"
_INLINE_RULE = "codegen.inline-sys-args-api-current"


def escalation(finding: Finding) -> dict[str, Any]:
    """Return a finding with the fields of the public tool, and its place."""
    return {
        "finding_id": finding.rule,
        "category": "codegen",
        "actionable_by": ["human"],
        "remediation_hint": {"kind": "contract-or-source-edit", "text": finding.hint},
        "evidence": [f"file={finding.at.file}", f"line={finding.at.line}", f"column={finding.at.column}"],
        **finding.to_json(),
    }


def inline_remediations(file: str, findings: tuple[Finding, ...]) -> list[dict[str, Any]]:
    """Return the one round of renames that brought hand-written code to current names, if there were any."""
    renames = [finding for finding in findings if finding.rule == _INLINE_RULE]
    if not renames:
        return []
    items = []
    for finding in renames:
        item = escalation(finding)
        item["finding_id"] = f"{_INLINE_RULE}:{file}:{finding.at.line}:{finding.at.column}"
        item |= {
            "category": "spec",
            "actionable_by": ["codegen.apply-remediation"],
            "remediation_hint": {"kind": "rename-symbol"},
        }
        items.append(item)
    results = [{"finding_id": item["finding_id"], "status": "applied", "reason": "rename-symbol"} for item in items]
    return [{"round": 1, "findings": items, "results": results}]


def entry_json(adapted: AdaptedEntry, packaged: PackageEntry, renamed: Mapping[str, Any]) -> dict[str, Any]:
    """Return one entry: the published fields, and those that `package_entry` reads again."""
    entry = adapted.entry
    contract = entry.contract
    return {
        "entry_name": packaged.name,
        "sk_kernel_type": adapted.sk_type,
        "args_struct_name": adapted.args_struct,
        "sk_function_name": adapted.sk_function,
        "uses_sys_args": adapted.uses_sys_args,
        "mask": adapted.mask,
        "num_splits": adapted.splits,
        "param_count": len(packaged.parameters),
        "parameters": [parameter.to_json() for parameter in packaged.parameters],
        "original_qualifiers": list(entry.kernel.qualifiers),
        "bind_target": entry.bind_target,
        "global_launch_target": entry.bind_target,
        "source_entry_name": entry.kernel.name,
        "public_entry_name": packaged.name,
        "internal_symbol_name": entry.kernel.name,
        "name_resolution": dict(renamed),
        "pybind_return_source": _return_source(contract, packaged),
        "pybind_return_tensor": packaged.returned,
        "io_contract": _contract_json(contract),
        "compile": {"defines": list(packaged.defines), "options": list(packaged.options)},
        "csrc_file": packaged.csrc_file,
        "wrapped": packaged.wrapped,
        "prepares": packaged.prepares,
        "quote_dirs": list(packaged.quote_dirs),
        "binding": bound_json(entry),
        **packaged.target,
        "file": contract.at.file,
        "line": entry.kernel.line,
        "column": entry.kernel.column,
    }


def _return_source(contract: EntryContract, packaged: PackageEntry) -> str:
    if contract.positions:
        return "explicit-io-contract"
    return "single-tensor-default" if packaged.returned else "no-tensor-default"


def _contract_json(contract: EntryContract) -> dict[str, Any] | None:
    if not contract.positions:
        return None
    return {
        "inputs": list(contract.inputs),
        "outputs": list(contract.outputs),
        "workspaces": list(contract.workspaces),
        "pybind_return_tensor": contract.pybind_return_tensor,
        "parameters": {
            name: {"kind": str(each.kind) if each.kind else None, "nullable": each.nullable}
            for name, each in contract.parameters.items()
        },
        "launch": {"block_dim": contract.block_dim} if contract.block_dim is not None else {},
        "compile": {"defines": list(contract.defines), "options": list(contract.options)},
        "runtime_wrapper": _wrapper_json(contract.runtime_wrapper),
        "bind_target": contract.bind_target,
        "contract_path": contract.at.file,
    }


def _wrapper_json(wrapper: RuntimeWrapper | None) -> dict[str, Any] | None:
    if wrapper is None:
        return None
    document: dict[str, Any] = {"source": wrapper.source, "entry": wrapper.entry}
    if wrapper.tensor_list_descriptor_strategy:
        document |= {
            "tensor_list_descriptor_strategy": wrapper.tensor_list_descriptor_strategy,
            "prepare_entry": wrapper.prepare_entry,
            "descriptor_bytes": wrapper.descriptor_bytes,
            "descriptor_order": list(wrapper.descriptor_order),
        }
    return document


_TARGET_KEYS = ("supported_soc_versions", "supported_arches", "target_resolution", "support_source", "source_asset")


def package_entry(data: Mapping[str, Any], manifest: str) -> PackageEntry:
    """Read an entry of a manifest back. Raises UsageError for one that this version did not write."""
    try:
        return PackageEntry(
            name=str(data["public_entry_name"]),
            csrc_file=str(data["csrc_file"]),
            parameters=tuple(PackageParameter.from_json(each) for each in data["parameters"]),
            returned=str(data["pybind_return_tensor"]),
            wrapped=bool(data["wrapped"]),
            prepares=bool(data["prepares"]),
            quote_dirs=tuple(map(str, data["quote_dirs"])),
            defines=tuple(map(str, data["compile"]["defines"])),
            options=tuple(map(str, data["compile"]["options"])),
            target={key: data[key] for key in _TARGET_KEYS if key in data},
        )
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(
            f"{manifest} does not have what an aggregate needs: {error!r}", hint="adapt the operator again"
        ) from error
