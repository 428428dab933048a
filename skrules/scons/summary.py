"""What is printed when a build has ended."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from skrules.engine.manifest import Manifest
from skrules.rules.status import FINDINGS, Outcome, Status, from_notes, totals
from skrules.scons.output import put

if TYPE_CHECKING:  # a run in which nothing is to do has no steps
    from pathlib import Path

    from skrules.engine.action import Action
    from skrules.rules.wheel import WheelActions
    from skrules.scons.steps import Steps


def report_current(root: Path, manifest: Manifest, verbs: Sequence[str], *, silent: bool) -> None:
    """Say that nothing is to do, with findings and with the results of a comparison that are as they were."""
    compared = "compare" in verbs
    statuses = known_statuses(manifest)
    if "validate" in verbs:
        write(findings_lines(root, known_findings(manifest), silent=silent))
    if silent and not compared:
        return
    lines = [] if silent else [str(note) for note in manifest.shared.notes]
    if compared:
        lines += [str(status) for status in statuses]
        lines.append(totals(statuses))
    else:
        lines.append("nothing to do")
    if not silent:
        lines += [f"wheel: {path}" for path in known_wheels(manifest)]
    write(lines)


def known_statuses(manifest: Manifest, without: frozenset[str] = frozenset()) -> list[Status]:
    """Return the results that a manifest vouches for, of all labels but those `without`."""
    return [
        status
        for label, group in sorted(manifest.groups.items())
        if label not in without
        for status in from_notes(label, group.notes)
    ]


def known_findings(manifest: Manifest, without: frozenset[str] = frozenset()) -> list[str]:
    """Return the files of findings that a manifest vouches for, of all labels but those `without`."""
    groups = [group for label, group in sorted(manifest.groups.items()) if label not in without]
    return [name for group in groups for name in group.files if name.endswith(f"/{FINDINGS}")]


def findings_lines(root: Path, paths: Sequence[str], *, silent: bool = False) -> list[str]:
    """Return what is said of the findings in files, in the order of the findings' own files. Where there is none, that is
    said too unless `silent`, and how many a comment or the baseline keeps from being told."""
    import json

    from skrules.report.formats import Report, render
    from skrules.report.published import read_envelope
    from skrules.report.text import has_colour

    files = {path: (root / path).read_bytes() for path in paths}
    findings = dict.fromkeys(finding for path, data in files.items() for finding in read_envelope(data, path))
    in_order = sorted(findings, key=lambda finding: finding.at)
    lines = render(in_order, "text", Report(root=root), colour=has_colour(sys.stdout)).splitlines()
    if silent or not files:
        return lines
    notes = [json.loads(data).get("metadata", {}) for data in files.values()]
    allowed, known = (sum(note.get(key, 0) for note in notes) for key in ("allowed", "known"))
    kept = [f"{allowed} allowed by comments"] * (allowed > 0) + [f"{known} in the baseline"] * (known > 0)
    return [*(lines or ["no findings"]), *([f"not told: {', '.join(kept)}"] if kept else [])]


def known_wheels(manifest: Manifest) -> list[str]:
    """Return the wheels that a manifest vouches for."""
    return sorted({name for group in manifest.groups.values() for name in group.files if name.endswith(".whl")})


def wheel_lines(root: Path, wheel: WheelActions, steps: Steps) -> list[str]:
    """Return what is said of a wheel: all that it holds when it was made, and which one it is when it was as it should be."""
    from skrules.wheel.report import describe

    outcome = steps.outcome(wheel.output)
    if outcome not in (Outcome.MADE, Outcome.CURRENT):
        return []
    return describe(root / wheel.output, wheel.output)[: None if outcome is Outcome.MADE else 2]


def summarise(steps: Steps, statuses: Sequence[Status], *, compared: bool, seconds: float) -> list[str]:
    """Return a line for every compared label, the failed and skipped steps, and totals."""
    lines = [str(status) for status in statuses]
    if compared:
        lines.append(totals(statuses))
    done = f"{_count(steps.executed, 'step')} done" if steps.executed or not steps.cached else ""
    cached = f"{steps.cached} from the cache" if steps.cached else ""
    if steps.done or steps.failed:
        lines.append(f"{', '.join(filter(None, [done, cached]))} in {seconds:.1f} s")
    elif not compared:
        lines.append("nothing to do")
    if steps.failed:
        lines.append(f"failed: {_count(len(steps.failed), 'step')}")
        lines += [f"  {_name(failed.action)}  {failed.message}" for failed in steps.failed]
    skipped = steps.skipped_labels()
    if skipped:
        lines.append(f"not built: {', '.join(skipped)}")
    return lines


def write(lines: Iterable[str]) -> None:
    """Print lines. SCons may have ended: nobody is left to hear that the reader of this output has gone away."""
    with contextlib.suppress(OSError, ValueError):
        put(sys.stdout, "".join(f"{line}\n" for line in lines))


def _name(action: Action) -> str:
    return " ".join(filter(None, [action.label, action.arch, f"({action.mnemonic})"]))


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
