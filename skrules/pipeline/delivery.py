"""What an asset is good for and what it lacks: the manifest of `skrules intake`, with its levels, qualities and plans."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skrules.pipeline.inventory import Inventory
from skrules.rules.declaration import FILE_NAME

_NO_SOURCES = "no_supported_operator_source_files"


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """One thing that an operator needs: the published id of what is missing, and what to do about it."""

    id: str
    kind: str
    priority: str
    path: str
    next: str


# In the order in which they are told.
MISSING = (
    Missing(id="operator_entry_contract", kind="entry", priority="high", path="", next="give a source with a __global__ kernel"),
    Missing(
        id="build_contract", kind="build", priority="high", path=FILE_NAME, next="declare it: operator(name=..., srcs=[...])"
    ),
    Missing(id="test_contract", kind="test", priority="high", path="cases.yaml", next="write cases that it is run on"),
    Missing(
        id="package_contract", kind="package", priority="medium", path=FILE_NAME, next="declare it, and scons wheel makes one"
    ),
    Missing(
        id="delivery_docs_contract", kind="docs", priority="medium", path="contract.yaml", next="write down what parameters mean"
    ),
    Missing(id="sk_binding_contract", kind="sk_binding", priority="high", path="", next="skrules adapt-sk-from-global binds it"),
    Missing(
        id="operator_semantics_contract",
        kind="semantics",
        priority="high",
        path="reference.py",
        next="write a reference that says what it computes",
    ),
)
_BY_ID = {each.id: each for each in MISSING}
_COMMAND_WITHOUT_WORD = "build_entry_without_command_contract"
_SMOKE = "smoke_test_without_correctness_or_graph_sk"

# What a build file must say to count as more than a file of that name, strongest first.
_BUILD_WORDS = (
    (
        "toolchain-contract",
        re.compile(r"\b(operator\s*\(|Workspace\s*\(|bisheng|find_package\s*\(\s*ASC|npu_op_package|msopgen)"),
    ),
    (
        "command-contract",
        re.compile(r"\b(add_library|add_executable|project|setup)\s*\(|^[ \t]*\[build-system\]|\b(cmake|make|pip)\b", re.M),
    ),
)
_TEST_WORDS = (
    ("graph-sk-integration", re.compile(r"\b(torch\.ops|ascendc_sk|aclgraph)\b|^[ \t]*cases\s*:", re.M)),
    (
        "correctness-assertion",
        re.compile(r"\bassert_(close|allclose)\b|\b(EXPECT|ASSERT)_|\bself\.assert|^[ \t]*assert\s+(?!True\b|1\b)", re.M),
    ),
)


def manifest_of(inventory: Inventory) -> dict[str, Any]:
    """Return the published manifest of an asset. Nothing is built or run for it."""
    blockers = [] if inventory.sources else [_NO_SOURCES]
    missing = missing_of(inventory)
    build, test = (
        _quality(inventory, inventory.builds, _BUILD_WORDS, "build-entry"),
        _quality(inventory, inventory.tests, _TEST_WORDS, "smoke-launch"),
    )
    weak = _weaknesses(build, test)
    return {
        "asset_path": str(inventory.path.resolve()),
        "asset_level": level_of(inventory),
        "base_dir": str(inventory.base.resolve()),
        "source_files": list(inventory.sources),
        "include_files": list(inventory.headers),
        "kernel_entries": [kernel.to_json() for kernel in inventory.kernels],
        "build_system": list(inventory.builds),
        "test_system": list(inventory.tests),
        "package_system": list(inventory.packages),
        "doc_files": list(inventory.docs),
        "sk_markers": inventory.marks,
        "capabilities": _capabilities(inventory, blockers),
        "archetype": archetype_of(inventory),
        "test_quality": test,
        "build_quality": build,
        "delivery_plan": _delivery_plan(blockers, missing, weak),
        "scaffold_plan": _scaffold_plan(blockers, missing, weak),
        "missing_contracts": missing,
        "supported_next_actions": [_BY_ID[name].next for name in missing] or ["scons compare wheel"],
        "hard_blockers": blockers,
    }


def level_of(inventory: Inventory) -> str:
    """Return the published level: what kinds of files there are."""
    if not inventory.sources:
        return "unsupported-asset"
    if inventory.builds and inventory.tests and inventory.packages and inventory.docs:
        return "deliverable-op"
    if inventory.tests:
        return "testable-op"
    if inventory.builds:
        return "buildable-op"
    return "source-bundle" if len(inventory.sources) > 1 else "source-only"


def missing_of(inventory: Inventory) -> list[str]:
    """Return the published ids of what is missing, in their order."""
    is_there = {
        "operator_entry_contract": inventory.kernels,
        "build_contract": inventory.builds,
        "test_contract": inventory.tests,
        "package_contract": inventory.packages,
        "delivery_docs_contract": inventory.docs,
        "sk_binding_contract": inventory.is_bound,
        "operator_semantics_contract": inventory.tests or inventory.docs,
    }
    return [each.id for each in MISSING if not is_there[each.id]]


def archetype_of(inventory: Inventory) -> dict[str, Any]:
    """Return which kind of project the asset is, by the names of its folders and the words of its code."""
    files = evidence_of(inventory.sources)
    words = {text for unit in inventory.units.values() for text in unit.code.texts}
    folders = {part for name in inventory.files for part in name.split("/")[:-1]}
    if not inventory.sources:
        return _guess("unknown", "low", [])
    if folders & {"op_host", "op_kernel"}:
        return _guess("ge-opp-python-converter", "high", files)
    if "PYBIND11_MODULE" in words:
        return _guess("aclgraph-pybind-torch-library", "high", files)
    if "TORCH_LIBRARY" in words:
        return _guess("torch-bisheng-extension", "medium", files)
    if inventory.builds:
        return _guess("cann-static-asc-op", "medium", [*evidence_of(inventory.builds), *files])
    return _guess("source-only-ascendc", "medium", files)


def evidence_of(names: Sequence[str]) -> list[dict[str, str]]:
    return [{"kind": "file", "path": name, "value": name.rpartition("/")[2]} for name in names]


def _guess(name: str, confidence: str, evidence: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    return {"name": name, "confidence": confidence, "evidence": list(evidence)}


def _capabilities(inventory: Inventory, blockers: Sequence[str]) -> dict[str, Any]:
    kernels = [{"kind": "symbol", "path": each.file, "value": each.name} for each in inventory.kernels]
    marks = [{"kind": "marker", "path": "", "value": name} for name, found in inventory.marks.items() if found]
    parts = {
        "source": evidence_of(inventory.sources),
        "entry_binding": [*kernels, *marks],
        "build": evidence_of(inventory.builds),
        "test": evidence_of(inventory.tests),
        "package": evidence_of(inventory.packages),
        "delivery_docs": evidence_of(inventory.docs),
    }
    needs_sources = ("source", "entry_binding")
    return {
        name: {
            "status": "present" if evidence else "blocked" if blockers and name in needs_sources else "missing",
            "confidence": "high" if evidence else "low",
            "evidence": evidence,
        }
        for name, evidence in parts.items()
    }


def _quality(
    inventory: Inventory, names: Sequence[str], words: Sequence[tuple[str, re.Pattern[str]]], least: str
) -> dict[str, Any]:
    """Return the strongest level whose words one of the files has; comments of line form do not count."""
    if not names:
        return {"level": "none", "confidence": "low", "evidence": []}
    texts = {name: re.sub(r"(?m)(#|//)(?!include).*$", "", inventory.text_of(name)) for name in names}
    for level, pattern in words:
        found = [
            {"kind": "symbol", "path": name, "value": match[0].strip()}
            for name, text in texts.items()
            if (match := pattern.search(text))
        ]
        if found:
            return {"level": level, "confidence": "high", "evidence": found}
    return {"level": least, "confidence": "medium", "evidence": evidence_of(names)}


def _weaknesses(build: Mapping[str, Any], test: Mapping[str, Any]) -> list[Missing]:
    found = []
    if build["level"] == "build-entry":
        hint = "say in the build file what is built"
        found.append(Missing(id=_COMMAND_WITHOUT_WORD, kind="build", priority="medium", path=FILE_NAME, next=hint))
    if test["level"] == "smoke-launch":
        hint = "compare results with a reference"
        found.append(Missing(id=_SMOKE, kind="validation", priority="medium", path="cases.yaml", next=hint))
    return found


def _delivery_plan(blockers: Sequence[str], missing: Sequence[str], weak: Sequence[Missing]) -> dict[str, Any]:
    actions = [
        {"kind": "blocker", "target": "source", "priority": "high", "reason": name, "next": "give a kernel source"}
        for name in blockers
    ]
    actions += [
        {
            "kind": "contract",
            "target": _BY_ID[name].kind,
            "priority": _BY_ID[name].priority,
            "reason": f"missing_{name}",
            "next": _BY_ID[name].next,
        }
        for name in missing
    ]
    if not actions:
        actions = [
            {"kind": "validation", "target": each.kind, "priority": each.priority, "reason": each.id, "next": each.next}
            for each in weak
        ]
    if blockers:
        return {"phase": "blocked", "confidence": "low", "actions": actions}
    if missing:
        return {"phase": "contract-completion", "confidence": "medium", "actions": actions}
    if weak:
        return {"phase": "validation-hardening", "confidence": "medium", "actions": actions}
    last = {"kind": "validation", "target": "consistency", "priority": "medium", "reason": "ready_for_consistency_validation"}
    return {"phase": "handoff-planning", "confidence": "high", "actions": [{**last, "next": "scons compare wheel"}]}


def _scaffold_plan(blockers: Sequence[str], missing: Sequence[str], weak: Sequence[Missing]) -> dict[str, Any]:
    if blockers:
        return {"status": "blocked", "confidence": "low", "items": []}
    items = [
        {
            "kind": each.kind,
            "priority": each.priority,
            "reason": f"missing_{each.id}" if each.id in _BY_ID else each.id,
            "suggested_path": each.path,
            "description": each.next,
        }
        for each in [*(_BY_ID[name] for name in missing), *weak]
    ]
    if not items:
        return {"status": "not-needed", "confidence": "high", "items": []}
    is_needed = bool(missing) or any(each.id == _COMMAND_WITHOUT_WORD for each in weak)
    return {"status": "needed" if is_needed else "optional", "confidence": "medium", "items": items}
