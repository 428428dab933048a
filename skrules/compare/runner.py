"""Compares one operator on one arch: plan, program, verdict."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from skrules.compare.case import Case
from skrules.compare.plan import write_plan
from skrules.compare.program import ProgramRun, run_program
from skrules.compare.reference import Reference
from skrules.compare.subject import Subject
from skrules.compare.verdict import CaseVerdict, Verdict, failed, judge, uncovered
from skrules.errors import TestFailure


def run_compare(
    program: Path,
    work: Path,
    label: str,
    arch: str,
    entries: Sequence[Subject],
    cases: Sequence[Case],
    reference_path: Path | None,
    env: Mapping[str, str],
    timeout_s: float,
    *,
    reference_name: str = "",
) -> Verdict:
    """Run all cases of an operator, plain and as super kernel, and judge them.

    `work` is a folder of this comparison alone; what an earlier run left there is removed. `env` is the program's whole
    environment, `timeout_s` the wall time for all cases together, `reference_name` the reference's path in messages.
    Whatever the program or the reference does becomes part of the verdict; OSError of `work` itself passes through.
    """
    if work.exists():
        shutil.rmtree(work)
    work.mkdir(parents=True)
    by_name = {entry.name: entry for entry in entries}
    covered = {case.entry for case in cases}
    rest = tuple(uncovered(entry) for entry in entries if entry.name not in covered)
    if not cases:
        return Verdict(label=label, arch=arch, seconds=0.0, cases=rest)
    reference, problem = _load_reference(reference_path, reference_name)
    plan = write_plan(work, cases, by_name)
    run = run_program(program.resolve(), plan.resolve(), work.resolve(), env, timeout_s)
    culprit = next((case.name for case in cases if case.name not in run.runs), "")
    verdicts = [_judge(case, by_name[case.entry], run, work / "out", reference, label, culprit) for case in cases]
    messages = [problem] if problem else []
    if run.ending and not culprit:
        messages.append(f"{label}: all cases ran, but the program {_with_tail(run)}")
    return Verdict(label=label, arch=arch, seconds=run.seconds, cases=(*verdicts, *rest), messages=tuple(messages))


def _load_reference(path: Path | None, name: str) -> tuple[Reference | None, str]:
    if path is None:
        return None, ""
    try:
        return Reference(path, name), ""
    except TestFailure as error:
        return None, str(error).removeprefix("error: ")


def _judge(
    case: Case, entry: Subject, run: ProgramRun, outputs: Path, reference: Reference | None, label: str, culprit: str
) -> CaseVerdict:
    record = run.runs.get(case.name)
    if record is not None:
        return judge(case, entry, record, outputs, reference, label)
    if case.name == culprit:
        what = _with_tail(run) if run.ending else "ended well but said nothing of this case"
        return failed(case, f"{label} case '{case.name}': the program {what}")
    return failed(case, f"{label} case '{case.name}': did not run, since the program ended in case '{culprit}'")


def _with_tail(run: ProgramRun) -> str:
    return f"{run.ending}\n{run.tail}" if run.tail else run.ending
