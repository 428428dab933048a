"""The documents at the root of an output: the artefact map, its check, and what a person reads first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from skrules.commands.files import json_bytes
from skrules.engine.files import write_atomically, write_if_changed
from skrules.pipeline.artifacts import external
from skrules.pipeline.run_record import RunRecord
from skrules.pipeline.statuses import Ending

MAP = "artifact-map.json"
MANIFEST = "run-manifest.json"
_EMULATED = "Built for the CPU by the host toolchain: nothing here is a device result, and the wheel is for no device."


def begin_documents(output: Path, status: str) -> None:
    """Say that there is no result yet: what an earlier run said of itself must not be read as if this one had said it."""
    for name in (MAP, "artifact-map.md"):
        (output / name).unlink(missing_ok=True)
    write_atomically(output / MANIFEST, json_bytes({"artifact_map": MAP, "status": status}))


def write_documents(output: Path, records: Sequence[RunRecord], ending: Ending, *, mode: str) -> None:
    """Write artifact-map.json and .md, README.md, run-manifest.json and artifact-layout-lint.json. Raises OSError."""
    document = artifact_map(output, records, ending, mode=mode)
    issues = lint(document)
    has_error = any(issue["severity"] == "error" for issue in issues)
    files = {
        MAP: json_bytes(document),
        "artifact-map.md": _text(document).encode(),
        "README.md": _readme(document).encode(),
        MANIFEST: json_bytes({"artifact_map": MAP, "status": ending.status}),
        "artifact-layout-lint.json": json_bytes({"status": "failed" if has_error else "passed", "issues": issues}),
    }
    for name, data in files.items():
        write_if_changed(output / name, data)


def artifact_map(output: Path, records: Sequence[RunRecord], ending: Ending, *, mode: str) -> dict[str, Any]:
    """Return the published map. `status` of the run is verified only when every operator in it is."""
    request = records[0].request
    return {
        "schema_version": 2,
        "run": {
            "status": ending.status,
            "reason": ending.reason,
            "mode": mode,
            "profile": request.profile,
            "selected_stages": list(request.selected),
            "output_dir": ".",
            "toolchain": next((record.result.toolchain for record in records if record.result), ""),
            "emulated": any(record.is_emulated for record in records),
            "archs": list(request.archs),
            "verify_backends": next((list(record.result.backends) for record in records if record.result), []),
        },
        "assets": [_asset(output, record, asset.slug) for record in records for asset in record.assets],
        "deliverables": {
            "wheels": _files(output, "deliverables/wheels", records),
            "sk_source": [
                path
                for record in records
                for asset in record.assets
                if (path := _folder(output, f"deliverables/sk-source/{asset.slug}"))
            ],
            "pybind_projects": [
                path for record in records if (path := _folder(output, f"deliverables/pybind-projects/{record.slug}"))
            ],
            "reports": [
                *("artifact-map.md", "README.md"),
                *(
                    path.relative_to(output).as_posix()
                    for record in records
                    for asset in record.assets
                    for path in sorted((output / "assets" / asset.slug / "stages").rglob("report.md"))
                ),
            ],
        },
    }


def _asset(output: Path, record: RunRecord, slug: str) -> dict[str, Any]:
    ending = record.asset_ending(slug)
    source = next(asset.path for asset in record.assets if asset.slug == slug)
    return {
        "asset": slug,
        "source": external(source),
        "status": ending.status,
        "reason": ending.reason,
        "run": record.slug,
        "work": f"work/stage-work/{record.slug}",
        "manifest": f"assets/{slug}/asset-manifest.json",
        "ops": [
            {
                "op": progress.job.slug,
                "operator": progress.job.placed.operator.name,
                "label": progress.job.label,
                "entries": list(progress.entries or progress.job.unit.entries),
                "status": progress.ending().status,
                "reason": progress.ending().reason,
                "notes": list(progress.ending().notes),
                "manifest": f"assets/{slug}/ops/{progress.job.slug}.json",
            }
            for progress in record.of_asset(slug)
        ],
        "artifacts": [
            path
            for kind in ("sources", "sk-extensions", "operator-units")
            if (path := _folder(output, f"artifacts/{kind}/{slug}"))
        ],
    }


def _folder(output: Path, name: str) -> str:
    return name if (output / name).is_dir() else ""


def _files(output: Path, folder: str, records: Sequence[RunRecord]) -> list[str]:
    return [
        path.relative_to(output).as_posix() for record in records for path in sorted((output / folder / record.slug).glob("*"))
    ]


def lint(document: Any) -> list[dict[str, str]]:
    """Return what makes a map useless elsewhere: absolute paths, wheels of one name; `external:` ones are warnings."""
    issues = []
    for place, text in _texts(document, ""):
        if text.startswith("/") and not text.startswith("//"):  # labels begin with two
            issues.append({"severity": "error", "path": place, "message": f"the path '{text}' is absolute"})
        elif text.startswith("external:"):
            issues.append({"severity": "warning", "path": place, "message": f"'{text}' lies outside of the output"})
    names = [Path(path).name for path in document["deliverables"]["wheels"]]
    for name in sorted({name for name in names if names.count(name) > 1}):
        issues.append({"severity": "error", "path": "deliverables.wheels", "message": f"two wheels are called {name}"})
    return issues


def _texts(value: Any, place: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, dict):
        for key, item in value.items():
            if key != "notes":  # words for people, who may know a file by its whole path
                yield from _texts(item, f"{place}.{key}" if place else key)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _texts(item, f"{place}[{index}]")


def _text(document: dict[str, Any]) -> str:
    run = document["run"]
    lines = ["# Artefact map", "", f"Status: **{run['status']}**{' (' + run['reason'] + ')' if run['reason'] else ''}", ""]
    if run["emulated"]:
        lines += [_EMULATED, ""]
    lines += ["| operator | status | why |", "| --- | --- | --- |"]
    for asset in document["assets"]:
        for op in asset["ops"]:
            why = "; ".join(filter(None, [op["reason"], *op["notes"][:1]])).replace("|", "\\|")
            lines.append(f"| [{op['operator']}]({op['manifest']}) | {op['status']} | {why} |")
    for title, paths in document["deliverables"].items():
        lines += ["", f"## {title.replace('_', ' ')}", "", *(f"- [{path}]({path})" for path in paths if path)]
    return "\n".join([*lines, ""])


def _readme(document: dict[str, Any]) -> str:
    run = document["run"]
    lines = [
        "# Results of skrules run-sk-pipeline",
        "",
        f"Status: **{run['status']}**. {MAP} says what lies where, artifact-map.md the same for people.",
        "",
        *([_EMULATED, ""] if run["emulated"] else []),
        "- `deliverables/`: wheels, adapted sources, and a project for pip where CANN is",
        "- `artifacts/`: the sources that were taken, the modules that were built",
        "- `assets/`: for each asset how its operators and stages ended",
        "- `work/`: the stages themselves, and the workspace in which SCons builds",
        "",
        "Run the same command again to go on: what is current is not done again.",
    ]
    return "\n".join([*lines, ""])
