"""`operator-sk-conversion-analysis.json`: whether an asset can become a SuperKernel source version, and what is missing."""

from __future__ import annotations

import hashlib
import json
import platform
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skrules.commands.adapt_sk_from_global import support_dirs
from skrules.commands.files import json_bytes
from skrules.engine.files import bytes_of
from skrules.errors import Location, UsageError
from skrules.pipeline.delivery import archetype_of, evidence_of, level_of
from skrules.pipeline.inventory import SOURCES, Inventory, take_inventory

DOCUMENT = "operator-sk-conversion-analysis.json"
BLOCKED, NEEDS_CONTRACTS, READY = "blocked", "needs-contracts", "ready-for-sk-generation"
BOUNDARY = ("no source was generated", "nothing was built", "nothing was run", "no result was compared")
_ARCH = re.compile(r"[A-Za-z0-9_.-]+\Z")
_UNITS = {
    "source-only": "kernel_source_set",
    "source-bundle": "source_bundle_kernel_set",
    "buildable-op": "buildable_operator_project",
    "testable-op": "testable_operator_project",
    "deliverable-op": "deliverable_operator_project",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What an analysis is asked for: the asset, and what else its sources need to be compiled."""

    asset: Path
    support: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    cann: str = ""
    arch: str = ""
    options: tuple[str, ...] = ()
    force: tuple[str, ...] = ()


def analyse(asked: Asked, leave_out: Path | None) -> dict[str, Any]:
    """Return the document. Raises UsageError for a folder, file or option that cannot be."""
    inventory = take_inventory(asked.asset, leave_out)
    blocked = _blocked(inventory)
    is_ready = bool(inventory.is_bound and inventory.builds and inventory.tests)
    status = BLOCKED if blocked else READY if is_ready else NEEDS_CONTRACTS
    inputs = _inputs(inventory, blocked)
    plan = _plan(inventory, status, blocked)
    needed = [step["action"] for step in plan if step["status"] == "needed"]
    firsts = {BLOCKED: blocked, READY: ["generate_sk_source_scaffold"], NEEDS_CONTRACTS: needed[:3]}
    return {
        "status": status,
        "asset_path": str(asked.asset.resolve()),
        "base_dir": str(inventory.base.resolve()),
        "asset_level": level_of(inventory),
        "archetype": archetype_of(inventory),
        "supported_minimal_unit": "unsupported" if blocked else _UNITS[level_of(inventory)],
        "source_files": list(inventory.sources),
        "source_file_fingerprints": fingerprints(inventory.base, inventory.sources),
        "include_files": list(inventory.headers),
        "support_directories": _support(asked, inventory.base),
        "include_directories": [str(_folder(word, "include directory")) for word in dict.fromkeys(asked.include)],
        "ascend_compile_contract": _contract(asked),
        "kernel_entries": [kernel.to_json() for kernel in inventory.kernels],
        "sk_markers": inventory.marks,
        "build_system": list(inventory.builds),
        "test_system": list(inventory.tests),
        "package_system": list(inventory.packages),
        "doc_files": list(inventory.docs),
        "conversion_inputs": inputs,
        "generation_plan": plan,
        "blocked_reasons": blocked,
        "execution_boundary": list(BOUNDARY),
        "supported_next_actions": firsts[status],
    }


def documents_of(analysis: dict[str, Any]) -> dict[str, bytes]:
    """Return the published files by name."""
    lines = ["# Operator SK conversion analysis", "", f"Status: {analysis['status']}", ""]
    for title, key, name in (("Inputs", "conversion_inputs", "name"), ("Plan", "generation_plan", "action")):
        lines += [f"## {title}", "", *(f"- {each[name]}: {each['status']} ({each['reason']})" for each in analysis[key]), ""]
    lines += ["## Next", "", *(f"- {action}" for action in analysis["supported_next_actions"]), ""]
    lines += ["; ".join(analysis["execution_boundary"]), ""]
    return {DOCUMENT: json_bytes(analysis), DOCUMENT.replace(".json", ".md"): "\n".join(lines).encode()}


def load_current(folder: Path) -> dict[str, Any]:
    """Return the analysis in `folder` when it says what an analysis would say now. Raises UsageError otherwise."""
    path = folder / DOCUMENT
    at = Location(file=str(path))
    hint = "skrules analyze-sk-conversion makes it anew"
    try:
        document = json.loads(bytes_of(path))
        contract = document["ascend_compile_contract"] or {}
        asked = Asked(
            asset=Path(document["asset_path"]),
            support=tuple(f"{each['source_name']}={each['source_path']}" for each in document["support_directories"]),
            include=tuple(document["include_directories"]),
            cann=contract.get("cann_path", ""),
            arch=contract.get("arch", ""),
            options=tuple(contract.get("compile_options", ())),
            force=tuple(contract.get("force_includes", ())),
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UsageError(f"not an analysis: {error!r}", at=at, hint=hint) from error
    if document != analyse(asked, folder):
        raise UsageError("the analysis is not current: the asset has changed since", at=at, hint=hint)
    return dict(document)


def fingerprints(base: Path, names: Sequence[str]) -> list[dict[str, str]]:
    return [{"path": name, "sha256": hashlib.sha256(bytes_of(base / name)).hexdigest()} for name in names]


def _blocked(inventory: Inventory) -> list[str]:
    if not inventory.sources:
        return ["no_supported_operator_source_files"]
    return [] if inventory.kernels else ["kernel_entries_missing"]


def _parts(inventory: Inventory) -> tuple[tuple[str, str, str, list[dict[str, str]]], ...]:
    """Return, for each thing that a conversion takes: its name, the step that makes it, the word for it, and evidence."""
    kernels = [{"kind": "symbol", "path": each.file, "value": each.name} for each in inventory.kernels]
    marks = [{"kind": "marker", "path": "", "value": name} for name, found in inventory.marks.items() if found]
    return (
        ("entry_signature", "identify_kernel_entry_signature", "kernel_entries", kernels),
        ("sk_binding", "adapt_sk_binding", "sk_binding_contract", marks if inventory.is_bound else []),
        ("build_contract", "generate_minimal_build_contract", "build_contract", evidence_of(inventory.builds)),
        ("test_contract", "generate_minimal_test_contract", "test_contract", evidence_of(inventory.tests)),
        ("package_contract", "generate_package_contract", "package_contract", evidence_of(inventory.packages)),
        ("delivery_docs", "", "delivery_docs", evidence_of(inventory.docs)),
    )


def _inputs(inventory: Inventory, blocked: Sequence[str]) -> list[dict[str, Any]]:
    sources = evidence_of(inventory.sources)
    found = [_step("name", "source", sources, "source_files", blocked if not sources else (), "missing")]
    found += [
        _step("name", name, evidence, word, blocked if not sources or name == "entry_signature" else (), "missing")
        for name, _, word, evidence in _parts(inventory)
    ]
    for name in ("runtime_inputs", "correctness_oracle"):
        reason = f"{name.removesuffix('s')}_spec_not_collected" if sources else blocked[0]
        found.append({"name": name, "status": "not-collected" if sources else "blocked", "reason": reason, "evidence": []})
    return found


def _plan(inventory: Inventory, status: str, blocked: Sequence[str]) -> list[dict[str, Any]]:
    without = blocked if not inventory.sources else ()
    plan = [_step("action", action, found, word, without, "needed") for _, action, word, found in _parts(inventory) if action]
    for action in ("collect_runtime_input_spec", "collect_correctness_oracle_spec"):
        reason = blocked[0] if blocked else f"{action.removeprefix('collect_')}_not_collected"
        plan.append({"action": action, "status": "blocked" if blocked else "needed", "reason": reason, "evidence": []})
    reasons = {
        BLOCKED: blocked[0] if blocked else "",
        READY: "sk_generation_prerequisites_present",
        NEEDS_CONTRACTS: "conversion_contracts_missing",
    }
    plan.append(
        {
            "action": "generate_sk_source_scaffold",
            "status": "ready" if status == READY else "blocked",
            "reason": reasons[status],
            "evidence": evidence_of(inventory.sources) if status == READY else [],
        }
    )
    is_blocked = status == BLOCKED
    plan.append(
        {
            "action": "run_sk_build_validation",
            "status": "blocked" if is_blocked else "deferred",
            "reason": reasons[status] if is_blocked else "sk_source_not_generated",
            "evidence": [],
        }
    )
    return plan


def _step(
    key: str, name: str, evidence: Sequence[dict[str, str]], word: str, blocked: Sequence[str], lacking: str
) -> dict[str, Any]:
    there = {"name": "present", "action": "ready"}[key]
    if evidence:
        return {key: name, "status": there, "reason": f"{word}_detected", "evidence": list(evidence)}
    if blocked:
        return {key: name, "status": "blocked", "reason": blocked[0], "evidence": []}
    return {key: name, "status": lacking, "reason": f"{word}_missing", "evidence": []}


def _support(asked: Asked, base: Path) -> list[dict[str, Any]]:
    found = []
    for each in support_dirs(asked.support, base):
        names = sorted(
            path.relative_to(each.path).as_posix() for path in each.path.rglob("*") if path.is_file() and path.suffix in SOURCES
        )
        found.append(
            {
                "source_name": each.name,
                "source_path": str(each.path.resolve()),
                "source_files": names,
                "source_file_fingerprints": fingerprints(each.path, names),
            }
        )
    return found


def _folder(word: str, what: str) -> Path:
    path = Path(word).resolve()
    if not path.is_dir():
        raise UsageError(f"{what}: there is no folder '{word}'")
    return path


def _contract(asked: Asked) -> dict[str, Any] | None:
    """Return what the sources are compiled with, None when nothing is said of it. Raises UsageError for half of it."""
    if not (asked.cann or asked.arch or asked.options or asked.force):
        return None
    if not (asked.cann and asked.arch):
        raise UsageError("an Ascend compile contract needs --ascend-cann-path and --ascend-arch")
    if not _ARCH.match(asked.arch):
        raise UsageError(f"--ascend-arch: '{asked.arch}' is no arch", hint="such as dav-2201")
    root = _folder(asked.cann, "--ascend-cann-path")
    bisheng = root / "tools" / "bisheng_compiler" / "bin" / "bisheng"
    if not bisheng.is_file():
        raise UsageError(f"--ascend-cann-path: there is no {bisheng}")
    for option in asked.options:
        if not option or re.search(r"[\r\n\0;]", option):
            raise UsageError(f"--ascend-compile-option: {option!r} cannot be one")
    missing = [word for word in asked.force if not Path(word).is_file()]
    if missing:
        raise UsageError(f"--ascend-force-include: there is no file '{missing[0]}'")
    standard = () if any(option.startswith("-std=") for option in asked.options) else ("-std=c++17",)
    return {
        "cann_path": str(root),
        "bisheng_path": str(bisheng),
        "arch": asked.arch,
        "compile_options": [*standard, *asked.options],
        "force_includes": [str(Path(word).resolve()) for word in dict.fromkeys(asked.force)],
        "derived_include_dirs": [str(path) for path in _derived(root)],
    }


def _derived(root: Path) -> list[Path]:
    """Return the folders of headers of a toolkit, of the CPU that it was installed for."""
    cpus = dict.fromkeys((platform.machine(), "x86_64", "aarch64"))
    base = next((root / f"{cpu}-linux" for cpu in cpus if (root / f"{cpu}-linux").is_dir()), None)
    if base is None:
        return []
    below = ("asc/include", "asc/include/basic_api", "ascendc/include/highlevel_api", "asc/impl", "asc/impl/basic_api", "asc")
    return [base / name for name in below if (base / name).is_dir()]
