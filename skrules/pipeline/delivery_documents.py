"""The documents of `skrules intake` and `plan`: the manifest, a summary, and three pages for people."""

from __future__ import annotations

from collections import Counter
from pathlib import PurePosixPath
from typing import Any

from skrules.commands.files import json_bytes
from skrules.pipeline.delivery import manifest_of
from skrules.pipeline.inventory import Inventory

MANIFEST = "operator-asset-manifest.json"
_STEPS = ("operator-intake", "sk-readiness-check", "build-contract-check", "test-contract-check", "package-and-handoff-plan")
_BOUNDARY = "Nothing was built or run for this page: it says what is there, not that it works."


def delivery_documents(inventory: Inventory) -> dict[str, bytes]:
    """Return the published files by name."""
    manifest = manifest_of(inventory)
    suffixes = Counter(PurePosixPath(name).suffix or "<no-suffix>" for name in inventory.files)
    summary = {
        "skill": "sk-operator-codegen",
        "execution": {"entry": "skrules", "base_mode": True, "ai_requested": False, "ai_status": "not-requested"},
        "asset": {
            "asset_path": manifest["asset_path"],
            "file_count": len(inventory.files),
            "suffix_count": dict(sorted(suffixes.items())),
            "sample_files": list(inventory.files[:20]),
        },
        "manifest": manifest,
        "workflow_steps": list(_STEPS),
        "dependency_hints": [],
    }
    return {
        MANIFEST: json_bytes(manifest),
        "operator-delivery-summary.json": json_bytes(summary),
        "operator-delivery-report.md": _report(manifest, len(inventory.files)).encode(),
        "operator-delivery-execution-plan.md": _plan(manifest).encode(),
        "operator-delivery-checklist.md": _checklist(manifest).encode(),
    }


def _report(manifest: dict[str, Any], count: int) -> str:
    lines = ["# Operator delivery report", "", f"- asset: `{manifest['asset_path']}`, {count} files"]
    lines += [f"- level: {manifest['asset_level']}", f"- archetype: {manifest['archetype']['name']}"]
    lines += [f"- build: {manifest['build_quality']['level']}", f"- test: {manifest['test_quality']['level']}"]
    lines += [f"- phase: {manifest['delivery_plan']['phase']}", "", "## Kernels", ""]
    lines += [f"- {each['name']} ({each['file']}:{each['line']})" for each in manifest["kernel_entries"]] or ["- none"]
    lines += ["", "## Missing", "", *([f"- {name}" for name in manifest["missing_contracts"]] or ["- nothing"])]
    return "\n".join([*lines, "", _BOUNDARY, ""])


def _plan(manifest: dict[str, Any]) -> str:
    plan = manifest["delivery_plan"]
    lines = ["# Operator delivery execution plan", "", f"Phase: {plan['phase']}", ""]
    lines += [
        f"{number}. [{each['priority']}] {each['target']}: {each['next']}" for number, each in enumerate(plan["actions"], 1)
    ]
    return "\n".join([*lines, "", _BOUNDARY, ""])


def _checklist(manifest: dict[str, Any]) -> str:
    missing = manifest["missing_contracts"]
    checks = {
        "kernel entry": "operator_entry_contract",
        "build": "build_contract",
        "test": "test_contract",
        "package": "package_contract",
        "documents": "delivery_docs_contract",
        "SK binding": "sk_binding_contract",
    }
    lines = ["# Operator delivery checklist", ""]
    lines += [f"- [{' ' if name in missing else 'x'}] {what}" for what, name in checks.items()]
    return "\n".join([*lines, ""])
