"""What people and other programs are told at the end of a run."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from skrules.pipeline import stages, statuses
from skrules.pipeline.discovery import LAYOUT_REQUIRED, Skipped
from skrules.pipeline.request import SEPARATE
from skrules.pipeline.run_record import RunRecord
from skrules.pipeline.statuses import Ending


def tell(records: Sequence[RunRecord], ending: Ending, output: Path, *, mode: str, skipped: Sequence[Skipped]) -> int:
    """Print how each operator ended and, as the last line, the published summary; return the exit status."""
    lines = [line for record in records for line in _lines(record, output)]
    if any(record.is_emulated for record in records):
        lines.append("emulated: built for the CPU by the host toolchain, so nothing here is a device result")
    summary: dict[str, Any] = {
        "status": ending.status,
        "stages": sum(len(record.stage_endings()) for record in records),
        "asset_count": sum(len(record.assets) for record in records),
    }
    is_whole = True
    if mode == SEPARATE:
        failed = sum(not record.ending().is_good for record in records)
        is_whole = not failed and not any(each.reason == LAYOUT_REQUIRED for each in skipped)
        summary |= {
            "mode": mode,
            "release_success": is_whole,
            "skipped_asset_count": len(skipped),
            "failed_asset_count": failed,
        }
    sys.stdout.write("".join(f"{line}\n" for line in [*lines, json.dumps(summary)]))
    sys.stdout.flush()
    return statuses.exit_status(ending.status) if is_whole else 1


def _lines(record: RunRecord, output: Path) -> list[str]:
    """Return a line for each operator, and below it why it did not end well."""
    lines = []
    for progress in record.progress:
        ending = progress.ending()
        reason = f" ({ending.reason})" if ending.reason else ""
        lines.append(f"{progress.job.placed.operator.name:<32} {ending.status}{reason}")
        lines += [f"  {note}" for note in ending.notes]
    for identifier, ending in record.wide.items():
        if ending.is_stopping:
            lines.append(f"{'package of ' + record.slug:<32} {ending.status} ({stages.stage_of(identifier).folder})")
            lines += [f"  {note}" for note in ending.notes]
    if record.result is not None and record.ending().is_good:
        shown = os.path.relpath(output / "deliverables/wheels" / record.slug)
        lines += [f"wheel: {shown}/{Path(name).name}" for name in record.result.wheels]
    return lines
