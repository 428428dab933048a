"""What became of each operator: stage by stage, arch by arch, and in the end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from skrules.pipeline import statuses
from skrules.pipeline.build import ArchVerdict, BuildResult
from skrules.pipeline.mirror import Placed
from skrules.pipeline.statuses import Ending
from skrules.pipeline.units import Unit


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One operator in a run: `slug` is its folder there, `asset` that of its asset."""

    slug: str
    asset: str
    placed: Placed
    unit: Unit

    @property
    def label(self) -> str:
        return str(self.placed.label)


@dataclass(slots=True, kw_only=True)
class Progress:
    """What is known of a job so far. `stages` has how each stage that looked at it ended; `stopped` is the worst of them."""

    job: Job
    stages: dict[str, Ending] = field(default_factory=dict)
    entries: tuple[str, ...] = ()
    verdicts: tuple[ArchVerdict, ...] = ()

    @property
    def stopped(self) -> Ending | None:
        bad = [ending for ending in self.stages.values() if ending.is_stopping]
        return bad[0] if bad else None

    def ending(self) -> Ending:
        """Return how the operator ended: how its last stage did, unless an earlier one stopped it."""
        if not self.stages:
            return Ending(status=statuses.NEEDS_HUMAN, reason="not-reached")
        last = self.stages[max(self.stages)]
        return statuses.worst([*([self.stopped] if self.stopped else []), last])

    def to_json(self) -> dict[str, Any]:
        """Return the operator's own record. The words of the comparison stand beside those of the pipeline."""
        ending = self.ending()
        operator = self.job.placed.operator
        return {
            "schema_version": 1,
            "op": self.job.slug,
            "asset": self.job.asset,
            "operator": operator.name,
            "label": self.job.label,
            "entries": list(self.entries or self.job.unit.entries),
            "status": ending.status,
            "reason": ending.reason,
            "notes": list(ending.notes),
            "stages": {identifier: each.status for identifier, each in sorted(self.stages.items())},
            "verification": [verdict_json(verdict) for verdict in self.verdicts],
        }


def verdict_json(verdict: ArchVerdict) -> dict[str, Any]:
    """Return what the comparison said on one arch. "not-run": nothing that counts as a result is there."""
    document = verdict.document if verdict.status else {}
    return {
        "arch": verdict.arch,
        "backend": verdict.backend,
        "status": verdict.status or "not-run",
        "cached": verdict.is_cached,
        "reference": document.get("reference", "none"),
        "summary": document.get("summary", ""),
        "cases": [
            {
                "case": case.get("case", ""),
                "entry": case.get("entry", ""),
                "status": case.get("status", ""),
                "twin_ran": bool((case.get("evidence") or {}).get("twin_ran")),
            }
            for case in document.get("cases", [])
        ],
    }


def judge_build(progress: Progress, result: BuildResult, *, compares: bool, wanted_archs: Iterable[str], wheel: bool) -> Ending:
    """Return how stage 06 ended for one operator. `wanted_archs` are those that were asked for by name, none: all declared."""
    label = progress.job.label
    archs = result.archs.get(label, ())
    missing = [arch for arch in wanted_archs if arch not in archs]
    errors = result.errors.get(label, ())
    if missing or not archs:
        note = f"it is not declared for {', '.join(missing)}" if missing else "it is built for no arch"
        return Ending(status=statuses.NEEDS_TARGET_ARCH, reason="not-declared-by-operator", notes=(note,))
    failed_build = [line for line in errors if not line.startswith("COMPARE")]
    if failed_build or (not compares and label not in result.built):
        notes = tuple(failed_build) or ("its results are not current",)
        return Ending(status=statuses.NEEDS_HUMAN, reason="build-failed", notes=notes)
    if not compares:
        status = statuses.PACKAGED if wheel else statuses.SKIPPED_BY_USER
        return Ending(status=status, reason="verification-disabled")
    if not progress.job.placed.operator.cases:
        note = "there is no cases.yaml that says what it is run on"
        return Ending(status=statuses.NEEDS_FIXTURE, reason="skipped-insufficient-runtime-spec", notes=(note,))
    return statuses.worst(_of_verdict(progress, arch, backend, errors) for backend in result.backends for arch in archs)


def _of_verdict(progress: Progress, arch: str, backend: str, errors: Iterable[str]) -> Ending:
    verdict = next((each for each in progress.verdicts if (each.arch, each.backend) == (arch, backend)), None)
    if verdict is None or not verdict.status:
        said = tuple(line for line in errors if arch in line) or (f"{arch}: nothing was compared",)
        return Ending(status=statuses.NEEDS_HUMAN, reason="not-run", notes=said)
    status = statuses.OF_VERDICT.get(verdict.status, statuses.NEEDS_HUMAN)
    if status == statuses.VERIFIED:
        return Ending(status=status)
    reason = "differential_outputs_mismatched" if verdict.status == "failed" else verdict.status
    return Ending(status=status, reason=reason, notes=_messages(arch, verdict.document))


def _messages(arch: str, document: Mapping[str, Any]) -> tuple[str, ...]:
    cases = document.get("cases", [])
    found = [*document.get("messages", []), *(line for case in cases for line in case.get("messages", []))]
    if not found:
        found = [line for case in cases if case.get("status") != "passed" for line in case.get("notes", [])]
    return tuple(f"{arch}: {line}" for line in dict.fromkeys(found))
