"""Running a program and measuring what it used, all of its processes together."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
_LONGEST = 1800  # seconds that one run may take


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """`cpu` is user and system time of the whole process tree, `wall` the clock's, both in seconds; `peak` is the memory of
    its largest process in bytes; `output` is what was printed."""

    status: int
    cpu: float
    wall: float
    peak: int
    output: str


class Programs:
    """The small C programs of the bench: `compiler` stands in for bisheng, `timed` measures."""

    def __init__(self, folder: Path) -> None:
        """Compile them into `folder`. Raises RuntimeError where there is no C compiler."""
        program = shutil.which("cc") or shutil.which("gcc")
        if not program:
            raise RuntimeError("the bench needs a C compiler: cc or gcc on PATH")
        folder.mkdir(parents=True, exist_ok=True)
        self.compiler, self.timed = folder / "bisheng", folder / "timed"
        for output, source in ((self.compiler, "compiler.c"), (self.timed, "timed.c")):
            subprocess.run([program, "-O2", "-o", str(output), str(HERE / source)], check=True)
        self._report = folder / "report"

    def run(self, command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> Run:
        done = subprocess.run(
            [str(self.timed), str(self._report), *command],
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=True,
            timeout=_LONGEST,
        )
        status, cpu, wall, peak = self._report.read_text().split()
        output = done.stdout.decode("utf-8", "replace")
        return Run(status=int(status), cpu=float(cpu), wall=float(wall), peak=int(peak), output=output)


def best(runs: Sequence[Run]) -> Run:
    """Return the run that used the least CPU: the others were disturbed."""
    return min(runs, key=lambda run: run.cpu)


def repeat(times: int, run: Callable[[int], Run]) -> tuple[Run, ...]:
    return tuple(run(number) for number in range(times))
