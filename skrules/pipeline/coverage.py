"""`asset-root-coverage.json` and `.md`: what was found in the roots, what was passed over, and how each ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from skrules.commands.files import json_bytes
from skrules.engine.files import write_if_changed
from skrules.pipeline.artifacts import external
from skrules.pipeline.discovery import Skipped
from skrules.pipeline.run_record import AssetRecord
from skrules.pipeline.statuses import Ending

COVERAGE = "asset-root-coverage.json"


def write_coverage(
    output: Path,
    roots: Sequence[Path],
    *,
    mode: str,
    status: str,
    assets: Sequence[tuple[AssetRecord, Ending, Sequence[str]]],
    skipped: Sequence[Skipped],
    duplicates: Sequence[Mapping[str, Any]],
) -> None:
    """Write both documents; `assets` come with how they ended and the names of their entries. Raises OSError."""
    found: list[dict[str, Any]] = [
        {
            "path": external(asset.path),
            "status": ending.status,
            "entries": list(entries),
            "output_dir": f"assets/{asset.slug}",
            "reason": ending.reason,
        }
        for asset, ending, entries in assets
    ]
    passed: list[dict[str, Any]] = [
        {"path": external(each.path), "status": "skipped", "entries": [], "output_dir": "", "reason": each.reason}
        for each in skipped
    ]
    failed = sum(not ending.is_good for _, ending, _ in assets)
    document = {
        "schema_version": 1,
        "mode": mode,
        "status": status,
        "roots": [external(root) for root in roots],
        "duplicate_entries": [dict(each) for each in duplicates],
        "counts": {"assets": len(found), "skipped": len(passed), "failed": failed},
        "assets": [*found, *passed],
    }
    lines = ["# Assets", "", f"Status: **{status}**, {len(found)} assets, {len(passed)} skipped", ""]
    lines += ["| asset | status | entries | why |", "| --- | --- | --- | --- |"]
    lines += [
        f"| {each['path']} | {each['status']} | {', '.join(each['entries'])} | {each['reason']} |" for each in [*found, *passed]
    ]
    write_if_changed(output / COVERAGE, json_bytes(document))
    write_if_changed(output / "asset-root-coverage.md", "\n".join([*lines, ""]).encode())
