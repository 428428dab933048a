"""A run of SCons as a child of this process."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import FrameType


def run_scons(workspace: Path, words: Sequence[str], log: Path, *, jobs: int | None, environment: Mapping[str, str]) -> int:
    """Run SCons in `workspace` and return its exit status; what it does is noted in `log`.

    It goes on after failures, which are those of single operators. A signal that asks this process to end is handed on, and
    when SCons has put its results away raises SystemExit.
    """
    log.unlink(missing_ok=True)
    log.parent.mkdir(parents=True, exist_ok=True)
    number_of_jobs = [f"--jobs={jobs}"] if jobs else []
    command = [sys.executable, "-m", "SCons", "-Q", "-k", *number_of_jobs, f"--event-log={log.resolve()}", *words]
    sys.stdout.flush()
    # A group of its own: a signal from the terminal reaches it once, through this process.
    process = subprocess.Popen(command, cwd=workspace, env=dict(environment), stdin=subprocess.DEVNULL, process_group=0)
    asked: list[int] = []

    def end(number: int, _frame: FrameType | None) -> None:
        asked.append(number)
        process.send_signal(number)

    before = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        status = process.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if asked:
        raise SystemExit(128 + asked[0])
    return status
