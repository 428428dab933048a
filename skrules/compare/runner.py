"""Compares one operator on one arch: plan, program, verdict."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from skrules.compare.case import Case
from skrules.compare.child import never, worker
from skrules.compare.plan import write_plan
from skrules.compare.program import ProgramRun, run_program
from skrules.compare.reference import Reference, run_reference
from skrules.compare.subject import Subject
from skrules.compare.torch_plan import callable_through_torch, write_torch_plan
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
    program_name: str = "",
    through_torch: bool = False,
    interrupted: Callable[[], bool] = never,
) -> Verdict:
    """Run all cases of an operator, plain and as super kernel, and judge them.

    `work` is a folder of this comparison alone; what an earlier run left there is removed. `env` is the program's whole
    environment, `timeout_s` the wall time for all cases together, of the program and of the reference each;
    `reference_name` and `program_name` are their paths in messages. `through_torch`: the program is not run, but the operators
    are called by `torch_worker`, for which `env` tells where their package is; cases that no such call can run are left out,
    and the verdict says so. Whatever the program or the reference does becomes part of the verdict. Raises BuildError when
    `interrupted()` turns true; OSError of `work` itself passes through.
    """
    if work.exists():
        shutil.rmtree(work)
    work.mkdir(parents=True)
    by_name = {entry.name: entry for entry in entries}
    left_out: list[str] = []
    if through_torch:
        reasons = [callable_through_torch(case, by_name[case.entry]) for case in cases]
        left_out = [f"case '{case.name}' is not run: it has {why}" for case, why in zip(cases, reasons, strict=True) if why]
        cases = [case for case, why in zip(cases, reasons, strict=True) if not why]
    covered = {case.entry for case in cases}
    rest = tuple(uncovered(entry) for entry in entries if entry.name not in covered)
    if not cases:
        return Verdict(label=label, arch=arch, seconds=0.0, cases=rest, left_out=tuple(left_out))
    name = "that calls it through torch" if through_torch else program_name or str(program)
    command = worker("skrules.compare.torch_worker") if through_torch else (str(program.resolve()),)
    plan = (write_torch_plan if through_torch else write_plan)(work, cases, by_name)
    what = f"{label} {arch}: the {'' if through_torch else 'compare '}program {name}"
    run = run_program(command, plan.resolve(), work.resolve(), env, timeout_s, interrupted=interrupted, what=what)
    reference, problem = None, ""
    if reference_path is not None:
        try:
            reference = run_reference(
                reference_path,
                reference_name or reference_path.name,
                work,
                [case for case in cases if case.name in run.runs],
                by_name,
                timeout_s,
                interrupted=interrupted,
            )
        except TestFailure as error:
            problem = str(error).removeprefix("error: ")
    culprit = next((case.name for case in cases if case.name not in run.runs), "")
    verdicts = [_judge(case, by_name[case.entry], run, work / "out", reference, label, culprit, name) for case in cases]
    messages = [problem] if problem else []
    if run.ending and not culprit:
        messages.append(f"{label}: all cases ran, but the program {name} {_with_tail(run)}")
    return Verdict(
        label=label,
        arch=arch,
        seconds=run.seconds,
        cases=(*verdicts, *rest),
        messages=tuple(messages),
        left_out=tuple(left_out),
    )


def _judge(
    case: Case, entry: Subject, run: ProgramRun, outputs: Path, reference: Reference | None, label: str, culprit: str, name: str
) -> CaseVerdict:
    record = run.runs.get(case.name)
    if record is not None:
        return judge(case, entry, record, outputs, reference, label)
    if case.name == culprit:
        what = _with_tail(run) if run.ending else "ended well but said nothing of this case"
        return failed(case, f"{label} case '{case.name}': the program {name} {what}")
    return failed(case, f"{label} case '{case.name}': did not run, since the program ended in case '{culprit}'")


def _with_tail(run: ProgramRun) -> str:
    return f"{run.ending}\n{run.tail}" if run.tail else run.ending
