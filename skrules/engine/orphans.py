"""Processes by a name that no other process ever has, and the end of one with all that it started.

Reads Linux' `/proc` (proc(5)); where there is none, nothing is found and nothing is ended.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path

_PROC = Path("/proc")
_BOOT = _PROC / "sys/kernel/random/boot_id"
# Fields of /proc/PID/stat, counted after the name of the program, which may hold anything.
_STATE, _PARENT, _STARTED = 0, 1, 19
_DEAD = ("Z", "X")


def identity(pid: int) -> str:
    """Return a name of a running process: its number alone may soon be that of another one."""
    fields = _fields(pid)
    return f"{pid}:{fields[_STARTED] if fields else ''}:{_boot()}"


def alive(name: str) -> int:
    """Return the number of the process that `identity` gave this name, or 0 when it has ended."""
    pid, _, _ = name.partition(":")
    if not (pid.isascii() and pid.isdecimal()) or name.count(":") != 2:
        return 0
    fields = _fields(int(pid))
    return int(pid) if fields and fields[_STATE] not in _DEAD and identity(int(pid)) == name else 0


def end(name: str) -> None:
    """Kill the process of this name and everything below it, and wait until it is gone."""
    while pid := alive(name):
        # The parent stands still first, so that it starts nothing new behind our back.
        for each in (pid, *_below(pid)):
            _send(each, signal.SIGSTOP)
        for each in (*_below(pid), pid):
            _send(each, signal.SIGKILL)
        time.sleep(0.005)


def _below(pid: int) -> list[int]:
    """Return all descendants of a process."""
    children: dict[int, list[int]] = {}
    for entry in os.listdir(_PROC):  # noqa: PTH208
        if entry.isdecimal() and (fields := _fields(int(entry))):
            children.setdefault(int(fields[_PARENT]), []).append(int(entry))
    found, waiting = [], [pid]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found


def _fields(pid: int) -> list[str]:
    try:
        return (_PROC / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return []


def _boot() -> str:
    with contextlib.suppress(OSError):
        return _BOOT.read_text().strip()
    return ""


def _send(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)
