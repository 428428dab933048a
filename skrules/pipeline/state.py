"""`pipeline-state.json`: how far a run is. It is written after each stage, and tells of the present run alone."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from skrules.commands.files import json_bytes
from skrules.engine.files import write_atomically
from skrules.pipeline import stages
from skrules.pipeline.run_record import RunRecord
from skrules.pipeline.statuses import Ending

STATE = "pipeline-state.json"
RUNNING = "running"


def write_state(record: RunRecord, ending: Ending | None = None) -> None:
    """Write the state of a run; without `ending` it is running. Raises OSError."""
    request = record.request
    document: dict[str, Any] = {
        "schema_version": 1,
        "status": ending.status if ending else RUNNING,
        "reason": ending.reason if ending else "",
        "asset_slug": record.slug,
        "assets": [asset.slug for asset in record.assets],
        "operator_units": [progress.job.slug for progress in record.progress],
        **request.to_json(),
        "jobs": request.jobs,
        "stages": [_stage(record, identifier, each) for identifier, each in record.stage_endings().items()],
        "ops": {progress.job.slug: progress.to_json() for progress in record.progress},
        "wheel": _wheel(record),
        "updated_at": _time(datetime.datetime.now(datetime.UTC).timestamp()),
    }
    write_atomically(record.folder / STATE, json_bytes(document))


def _stage(record: RunRecord, identifier: str, ending: Ending) -> dict[str, Any]:
    began, ended = record.times.get(identifier, (0.0, 0.0))
    seen = [progress for progress in record.progress if identifier in progress.stages]
    failed = [progress.job.slug for progress in seen if progress.stages[identifier].is_stopping]
    return {
        "stage": identifier,
        "name": stages.stage_of(identifier).folder,
        "status": ending.status,
        "path": stages.stage_of(identifier).folder,
        "started_at": _time(began),
        "finished_at": _time(ended),
        "failed_ops": failed,
        "passed_ops": [progress.job.slug for progress in seen if progress.job.slug not in failed],
        "duration_seconds": round(ended - began, 3),
    }


def _wheel(record: RunRecord) -> Mapping[str, Any]:
    if record.result is None or not record.request.wheel:
        return {"status": "skipped", "wheels": []}
    made = [Path(name).name for name in record.result.wheels]
    status = "failed" if not made else "built" if record.result.executed else "reused"
    return {"status": status, "wheels": made, "problems": list(record.result.problems)}


def _time(seconds: float) -> str:
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).isoformat(timespec="milliseconds")
