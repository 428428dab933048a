"""The C++ compiler of this machine: which one, and which code it may make."""

from __future__ import annotations

import contextlib
import os
import platform
import re
import shlex
import shutil
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from skrules.errors import ToolchainError

_NAMES = ("g++", "c++", "clang++")
_PATIENCE_S = 20.0  # a compiler that lies on a slow disk has answered by then
_LONGEST = 1 << 20  # bytes of an answer, of which a compiler needs a few hundred


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiler:
    """`command` is what to run, as words; `kind` is gcc or clang; `identity` its version and target, without paths."""

    command: tuple[str, ...]
    kind: str
    identity: str


def find_compiler(environ: Mapping[str, str]) -> Compiler:
    """Return `$CXX` (it may be several words, such as `ccache g++`), else the first of g++, c++, clang++ on PATH.

    Raises ToolchainError when there is none. A `$CXX` that does not run is an error too, not a reason to look elsewhere.
    """
    path = environ.get("PATH") or os.defpath
    try:
        chosen = tuple(shlex.split(environ.get("CXX", "")))
    except ValueError as error:
        raise ToolchainError(f"CXX is set to {environ['CXX']!r}, which is no command: {error}") from error
    for words in [chosen] if chosen else [(name,) for name in _NAMES]:
        resolved = tuple(word if word.startswith("-") else shutil.which(word, path=path) or word for word in words)
        compiler = _ask(resolved, path)
        if compiler:
            return compiler
    if chosen:
        raise ToolchainError(
            f"CXX is set to '{environ['CXX']}', which is no C++ compiler that runs", hint="set CXX to g++ or clang++, or unset it"
        )
    raise ToolchainError(
        "no C++ compiler", notes=[f"looked for {', '.join(_NAMES)} on PATH"], hint="apt-get install g++, or set CXX"
    )


def _ask(command: tuple[str, ...], path: str) -> Compiler | None:
    said = _said([*command, "-v"], {"PATH": path, "LC_ALL": "C"})
    version = re.search(r"^.*\b(gcc|clang) version .*$", said, re.M)
    target = re.search(r"^Target: (\S+)", said, re.M)
    if not version or not target:
        return None
    return Compiler(command=command, kind=version[1], identity=f"{version[0].strip()} {target[1]}")


def _said(command: Sequence[str], environment: Mapping[str, str]) -> str:
    """Return what a program says on stderr; "" for one that does not run, fails, or does not come to an end."""
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=environment,
            start_new_session=True,
        )
    except (OSError, ValueError):
        return ""
    with process:
        # The whole group: a script may wait for a program of its own, which has the pipe too.
        timer = threading.Timer(_PATIENCE_S, _end, (process.pid,))
        timer.start()
        try:
            assert process.stderr is not None
            said = process.stderr.read(_LONGEST)
            process.stderr.close()  # what would say more than that is stopped by it
            status = process.wait()
        finally:
            timer.cancel()
    return "" if status else said.decode("utf-8", "replace")


def _end(group: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


def machine_flags(machine: str, cpu: str) -> tuple[str, ...]:
    """Return the code generation flags for a CPU with the feature words `cpu` (`/proc/cpuinfo`).

    Objects run on the machine that builds them, and the flags are part of their key. `half` is `_Float16`, which baseline
    x86-64 converts by library calls; with F16C it is one instruction that rounds alike. Nothing wider is asked for.
    """
    if machine not in ("x86_64", "AMD64"):
        return ()
    features = set(cpu.split())
    if not {"sse4_2", "ssse3", "popcnt", "cx16"} <= features:
        return ()
    return ("-march=x86-64-v2", "-mf16c") if {"f16c", "avx"} <= features else ("-march=x86-64-v2",)


def this_machine_flags() -> tuple[str, ...]:
    """Return `machine_flags` of the CPU that this process runs on."""
    try:
        found = re.search(r"^flags\s*:(.*)$", Path("/proc/cpuinfo").read_text(), re.M)
    except OSError:
        found = None
    return machine_flags(platform.machine(), found[1] if found else "")
