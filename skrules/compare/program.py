"""Runs the compare program and reads what it says. The program may hang, crash or be silent; the result tells."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skrules.compare.subject import describe_program
from skrules.compare.verdict import CaseRun, Evidence

__all__ = ["ProgramRun", "describe_program", "run_program"]

_TAIL_LINES = 20
_TAIL_BYTES = 16384


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramRun:
    """`ending` says in words how the program ended, "" when it ended well; `tail` is the end of its standard error."""

    runs: Mapping[str, CaseRun]
    seconds: float
    ending: str
    tail: str


def run_program(program: Path, plan: Path, work: Path, env: Mapping[str, str], timeout_s: float) -> ProgramRun:
    """Run `program plan work/out` in a process group of its own, which is killed at the timeout and at any interruption.

    Standard output and error go to files in `work`: no pipe can fill up, and no grandchild can keep one open.
    """
    out = work / "out"
    out.mkdir(parents=True, exist_ok=True)
    stdout, stderr = work / "program.out", work / "program.err"
    begin = time.monotonic()
    with stdout.open("wb") as to_stdout, stderr.open("wb") as to_stderr:
        try:
            process = subprocess.Popen(
                [str(program), str(plan), str(out)],
                stdin=subprocess.DEVNULL,
                stdout=to_stdout,
                stderr=to_stderr,
                env=dict(env),
                start_new_session=True,
            )
        except OSError as error:
            return ProgramRun(runs={}, seconds=0.0, ending=f"cannot be started: {error.strerror or error}", tail="")
        try:
            in_time = _wait(process, timeout_s)
        finally:
            _kill_group(process)
    ending = _ending(process.returncode) if in_time else f"did not end within {timeout_s:g} s and was killed"
    return ProgramRun(runs=_read_runs(stdout), seconds=time.monotonic() - begin, ending=ending, tail=_tail(stderr))


def _ending(code: int) -> str:
    if code >= 0:
        return f"ended with status {code}" if code else ""
    try:
        return f"was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"was ended by signal {-code}"


def _wait(process: subprocess.Popen[bytes], timeout_s: float) -> bool:
    """Wait for the end of a process without collecting it; False at the timeout."""
    end = time.monotonic() + timeout_s
    pause = 0.001
    while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
        if time.monotonic() >= end:
            return False
        time.sleep(min(pause, max(0.0, end - time.monotonic())))
        pause = min(2 * pause, 0.02)
    return True


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    # Before the leader is collected: until then nobody else can have its number. Its children may outlive it.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _tail(path: Path) -> str:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _TAIL_BYTES))
        text = file.read().decode("utf-8", "replace")
    return "\n".join(text.splitlines()[-_TAIL_LINES:])


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
