"""The published layout of results: deliverables, artefacts, and a folder of documents for each asset."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from skrules.aclgraph.package import TREE
from skrules.commands.files import json_bytes
from skrules.pipeline import stages, sync
from skrules.pipeline.early import AGGREGATE
from skrules.pipeline.run_record import AssetRecord, RunRecord

_SHARED = ("ascendc_ops.h", "ascendc_wrapper.h", "skrules_descriptor.h", "skrules_wrapper.h")


def write_artifacts(output: Path, record: RunRecord) -> None:
    """Bring `deliverables`, `artifacts` and `assets` of a run to what it ended with.

    A wheel is delivered only by a run that ended well: one of operators that failed would look like any other.
    """
    wheels: dict[str, Path | bytes] = {}
    if record.result is not None and record.ending().is_good:
        wheels = {Path(name).name: record.workspace / name for name in record.result.wheels}
    sync.fill(output / "deliverables/wheels" / record.slug, wheels)
    package: dict[str, Path | bytes] = {}
    if stages.BINDING in record.wide and record.wide[stages.BINDING].status == "pybind-generated":
        package = {**sync.tree_of(record.stage_folder(stages.ADAPT) / AGGREGATE / "outputs" / TREE)}
    sync.fill(output / "deliverables/pybind-projects" / record.slug, package)
    for asset in record.assets:
        _write_asset(output, record, asset)


def _write_asset(output: Path, record: RunRecord, asset: AssetRecord) -> None:
    sources: dict[str, Path | bytes] = {}
    adapted: dict[str, Path | bytes] = {}
    modules: dict[str, Path | bytes] = {}
    units: dict[str, Path | bytes] = {}
    documents: dict[str, Path | bytes] = {}
    for progress in record.of_asset(asset.slug):
        job = progress.job
        sources |= {name: record.workspace / name for name in job.placed.files}
        tree = record.stage_folder(stages.ADAPT) / job.slug / "outputs" / TREE / "csrc"
        adapted |= {
            f"{job.slug}/{name}": path
            for name, path in sync.tree_of(tree).items()
            if not name.startswith("pybind11") and name not in _SHARED
        }
        if record.result is not None and job.label in record.result.built:
            modules |= {Path(name).name: record.workspace / name for name in record.result.modules[job.label]}
        units[f"{job.slug}.json"] = json_bytes(job.unit.to_json(job.placed.operator))
        documents[f"ops/{job.slug}.json"] = json_bytes(progress.to_json())
    for identifier, document in _stages(record, asset).items():
        folder = f"stages/{stages.stage_of(identifier).folder}"
        documents[f"{folder}/stage-manifest.json"] = json_bytes(document)
        documents[f"{folder}/report.md"] = _report(document).encode()
    documents["asset-manifest.json"] = json_bytes(_manifest(record, asset))
    sync.fill(output / "artifacts/sources" / asset.slug, sources)
    sync.fill(output / "deliverables/sk-source" / asset.slug, adapted)
    sync.fill(output / "artifacts/sk-extensions" / asset.slug, modules)
    sync.fill(output / "artifacts/operator-units" / asset.slug, units)
    sync.fill(output / "assets" / asset.slug, documents)


def _stages(record: RunRecord, asset: AssetRecord) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for identifier in record.request.selected:
        stage = stages.stage_of(identifier)
        operators = {
            progress.job.slug: {"status": ending.status, "reason": ending.reason, "notes": list(ending.notes)}
            for progress in record.of_asset(asset.slug)
            if (ending := progress.stages.get(identifier))
        }
        wide = record.wide.get(identifier)
        if not operators and wide is None:
            continue
        found[identifier] = {
            "schema_version": 1,
            "stage": identifier,
            "name": stage.folder,
            "title": stage.title,
            "path": f"work/stage-work/{record.slug}/{stage.folder}",
            "ops": operators,
            "package": {"status": wide.status, "notes": list(wide.notes)} if wide else None,
        }
    return found


def _report(document: Mapping[str, Any]) -> str:
    lines = [f"# {document['name']}: {document['title']}", ""]
    for name, each in document["ops"].items():
        lines.append(f"- {name}: {each['status']}{' (' + each['reason'] + ')' if each['reason'] else ''}")
        lines += [f"  - {note}" for note in each["notes"]]
    if document["package"]:
        lines.append(f"- package: {document['package']['status']}")
        lines += [f"  - {note}" for note in document["package"]["notes"]]
    return "\n".join([*lines, ""])


def _manifest(record: RunRecord, asset: AssetRecord) -> dict[str, Any]:
    ending = record.asset_ending(asset.slug)
    return {
        "schema_version": 1,
        "asset": asset.slug,
        "source": external(asset.path),
        "status": ending.status,
        "reason": ending.reason,
        "operators": [progress.job.slug for progress in record.of_asset(asset.slug)],
        "stages": list(record.request.selected),
    }


def external(path: Path) -> str:
    """Return how documents name what lies outside of the output: by its last two parts, as published."""
    return "external:" + "/".join(path.parts[-2:])
