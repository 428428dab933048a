"""Running scons in a workspace, in peace or not."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from skrules import resources

HERE = Path(__file__).parent
_STEP = re.compile(r"^\[\w+ +\S* *\] .*$", re.M)
_LONGEST_S = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """`steps` are the lines of the steps that really ran."""

    status: int
    output: str

    @property
    def steps(self) -> list[str]:
        return _STEP.findall(self.output)


class Tools:
    """The stand-in compiler and a copy of skrules that may be edited, in `folder`. Raises RuntimeError without a C compiler."""

    def __init__(self, folder: Path) -> None:
        program = shutil.which("cc") or shutil.which("gcc")
        if not program:
            raise RuntimeError("a C compiler is needed: cc or gcc on PATH")
        self.bin, self.skrules = folder / "bin", folder / "skrules-source"
        self.bin.mkdir(parents=True)
        subprocess.run([program, "-O1", "-o", str(self.bin / "bisheng"), str(HERE / "compiler.c")], check=True)
        ignored = shutil.ignore_patterns("__pycache__", "_data", "host")
        shutil.copytree(resources.package(), self.skrules / "skrules", ignore=ignored)
        shutil.copytree(resources.templates(), self.skrules / "templates")
        shutil.copytree(resources.toolchains(), self.skrules / "toolchains", ignore=ignored)

    def delay(self, milliseconds: int) -> None:
        """Say how long a compile may sleep, twice."""
        (self.bin / "delay").write_text(f"{milliseconds}\n")

    def environment(self, cache: Path, *, limit: str = "1G") -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("HOME", "LANG", "TMPDIR") if name in os.environ}
        path = f"{self.bin}{os.pathsep}{os.environ['PATH']}"
        own = {"PATH": path, "PYTHONPATH": str(self.skrules), "PYTHONDONTWRITEBYTECODE": "1"}
        return {**kept, **own, "SKRULES_CACHE": str(cache), "SKRULES_CACHE_LIMIT": limit}


class Builds:
    """Builds of the workspace at `root`."""

    def __init__(self, root: Path, environment: Mapping[str, str]) -> None:
        self.root = root
        self.environment = dict(environment)

    def start(self, words: Sequence[str] = (), **environment: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "SCons", "-Q", "TOOLCHAIN=bisheng", *words],
            cwd=self.root,
            env={**self.environment, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, *words: str, **environment: str) -> Ended:
        return self.wait(self.start(words, **environment))

    def wait(self, process: subprocess.Popen[str]) -> Ended:
        try:
            output, _ = process.communicate(timeout=_LONGEST_S)
        except subprocess.TimeoutExpired:
            _kill_group(process.pid)
            output, _ = process.communicate()
            output += f"\nhung for {_LONGEST_S} s\n"
        return Ended(status=process.returncode, output=output)

    def killed(self, words: Sequence[str], after: float, *, alone: bool) -> None:
        """Start a build and kill it: with everything that it started, or `alone`, so that compilers live on."""
        process = self.start(words)
        time.sleep(after)
        if alone:
            process.kill()
            process.wait()
        else:
            _kill_group(process.pid)
            process.wait()
        if process.stdout:
            process.stdout.close()

    def disturbed(self, words: Sequence[str], after: float, change: Callable[[], str]) -> tuple[Ended, str]:
        """Start a build and change something while it runs."""
        process = self.start(words)
        time.sleep(after)
        said = change()
        return self.wait(process), said


def _kill_group(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
