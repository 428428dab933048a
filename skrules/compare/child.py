"""Runs a program that may hang, crash or leave children behind: none of it outlives the call, or this process."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from skrules import resources
from skrules.errors import BuildError

_GUARD = Path(__file__).with_name("guard.py")
_TAIL_LINES = 20
_TAIL_BYTES = 16384


# Only to find skrules: nothing that lies beside it may stand before the standard library.
_START = """import importlib, sys
sys.path.insert(0, sys.argv[1])
import skrules
del sys.path[0]
importlib.import_module(sys.argv[2]).main(*sys.argv[3:])
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a program ended; `text` says it in words, such as "ended with status 0"."""

    good: bool = False
    started: bool = True
    text: str


def never() -> bool:
    """Tell that nobody interrupts: what a caller without signals of its own gives as `interrupted`."""
    return False


def worker(module: str) -> tuple[str, ...]:
    """Return the command that calls `main` of a module of skrules with the words that follow."""
    return (sys.executable, "-P", "-c", _START, str(resources.package().parent), module)


def run_child(
    command: Sequence[str],
    *,
    env: Mapping[str, str],
    stdout: IO[bytes],
    stderr: IO[bytes],
    timeout_s: float,
    interrupted: Callable[[], bool],
    what: str,
) -> Ending:
    """Run `command` (its program as an absolute path) in a session of its own, under a guard that ends it when we are gone.

    Its whole session is killed at its end, at the timeout and at any interruption. Output goes to files: no pipe can fill up,
    and no grandchild can keep one open. Works in any thread. Raises BuildError, which says `what` was interrupted, when
    `interrupted()` turns true.
    """
    ours, theirs = socket.socketpair()
    with ours:
        with theirs:
            # The guard has our environment, which is the one that this interpreter can start in.
            guard = subprocess.Popen(
                [sys.executable, "-I", "-S", str(_GUARD)],
                stdin=theirs.fileno(),
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
            )
        try:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                ours.sendall(json.dumps({"command": list(command), "env": dict(env)}).encode() + b"\n")
            in_time = _wait(guard, timeout_s, interrupted, what)
        finally:
            _kill_session(guard)
        answer = _received(ours)
    if not in_time:
        return Ending(text=f"did not end within {timeout_s:g} s and was killed")
    if "error" in answer:
        return Ending(text=f"cannot be started: {answer['error']}", started=False)
    # Without an answer the guard itself was ended, by what hit its whole session.
    code: int = answer.get("code", 0) if answer else guard.returncode or 1
    return Ending(good=code == 0, text=_ending(code))


def tail(path: Path) -> str:
    """Return the last lines of what a program wrote, "" when it wrote nothing."""
    with path.open("rb") as file:
        return tail_of(file)


def tail_of(file: IO[bytes]) -> str:
    """Return the last lines of an open file."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _TAIL_BYTES))
    return "\n".join(file.read().decode("utf-8", "replace").splitlines()[-_TAIL_LINES:])


def _ending(code: int) -> str:
    if code >= 0:
        return f"ended with status {code}"
    try:
        return f"was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"was ended by signal {-code}"


def _wait(process: subprocess.Popen[bytes], timeout_s: float, interrupted: Callable[[], bool], what: str) -> bool:
    """Wait for the end of a process without collecting it; False at the timeout."""
    end = time.monotonic() + timeout_s
    pause = 0.001
    while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
        if interrupted():
            raise BuildError(f"{what} was interrupted")
        if time.monotonic() >= end:
            return False
        time.sleep(min(pause, max(0.0, end - time.monotonic())))
        pause = min(2 * pause, 0.02)
    return True


def _kill_session(process: subprocess.Popen[bytes]) -> None:
    # Before the leader is collected: until then nobody else can have its number. Its children may outlive it.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _received(ours: socket.socket) -> dict[str, Any]:
    ours.setblocking(False)
    with contextlib.suppress(BlockingIOError, ConnectionResetError):
        data = ours.recv(1 << 16)
        if data:
            answer: dict[str, Any] = json.loads(data)
            return answer
    return {}
