"""Runs the compare program and reads what it says. The program may hang, crash or be silent; the result tells."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skrules.compare.child import never, run_child, tail
from skrules.compare.verdict import CaseRun, Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramRun:
    """`ending` says in words how the program ended, "" when it ended well; `tail` is the end of its standard error."""

    runs: Mapping[str, CaseRun]
    seconds: float
    ending: str
    tail: str


def run_program(
    command: Sequence[str],
    plan: Path,
    work: Path,
    env: Mapping[str, str],
    timeout_s: float,
    *,
    interrupted: Callable[[], bool] = never,
    what: str = "the compare program",
) -> ProgramRun:
    """Run `command plan work/out`; its standard output and error go to files in `work`.

    Raises BuildError, which says `what` was interrupted, when `interrupted()` turns true.
    """
    out = work / "out"
    out.mkdir(parents=True, exist_ok=True)
    stdout, stderr = work / "program.out", work / "program.err"
    begin = time.monotonic()
    with stdout.open("wb") as to_stdout, stderr.open("wb") as to_stderr:
        ending = run_child(
            [*command, str(plan), str(out)],
            env=env,
            stdout=to_stdout,
            stderr=to_stderr,
            timeout_s=timeout_s,
            interrupted=interrupted,
            what=what,
        )
    seconds = time.monotonic() - begin
    return ProgramRun(runs=_read_runs(stdout), seconds=seconds, ending="" if ending.good else ending.text, tail=tail(stderr))


def _read_runs(path: Path) -> dict[str, CaseRun]:
    """Read the records among the program's output; kernels may print too. The first record of a case counts."""
    runs: dict[str, CaseRun] = {}
    with path.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            run = _read_run(line) if line.startswith('{"case"') else None
            if run is not None:
                runs.setdefault(run.case, run)
    return runs


def _read_run(line: str) -> CaseRun | None:
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, dict):
        return None
    evidence = data.get("evidence")
    evidence = evidence if isinstance(evidence, dict) else {}
    return CaseRun(
        case=_text(data, "case"),
        entry=_text(data, "entry"),
        status=_text(data, "status"),
        blocks=_whole(data, "blocks"),
        companion_blocks=_whole(data, "companion_blocks"),
        accepts=data.get("accepts") is True,
        stage=_text(data, "stage"),
        error=_text(data, "error"),
        evidence=Evidence(
            source=_text(evidence, "source"),
            twin_ran=evidence.get("twin_ran") is True,
            super_kernel=_text(evidence, "super_kernel"),
            detail=_text(evidence, "detail"),
        ),
    )


def _text(data: Mapping[str, Any], key: str) -> str:
    value = data.get(key, "")
    return value if isinstance(value, str) else ""


def _whole(data: Mapping[str, Any], key: str) -> int:
    value = data.get(key, 0)
    return value if type(value) is int else 0
