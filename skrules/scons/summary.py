"""What is printed when SCons has finished."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from pathlib import Path

from skrules.rules.graph import Graph
from skrules.rules.status import collect, totals
from skrules.scons.builders import Runner


def summarise(*, root: Path, graph: Graph, runner: Runner, compare: bool) -> None:
    """Print a line for every compared label, the failed steps, and totals. Prints nothing for a build in which nothing ran."""
    lines = []
    if compare:
        statuses = collect(root, graph, runner.outcome)
        lines += [str(status) for status in statuses]
        lines.append(totals(statuses))
    elif runner.executed or runner.failed:
        lines.append(f"{len(runner.executed)} step{'s' if len(runner.executed) != 1 else ''} done")
    if runner.failed:
        names = dict.fromkeys(f"{action.label} {action.arch}".rstrip() + f" ({action.mnemonic})" for action in runner.failed)
        lines.append(f"failed: {', '.join(names)}")
    if lines:
        _print(lines)


def _print(lines: Sequence[str]) -> None:
    # SCons has ended: nobody is left to hear that the reader of this output has gone away.
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.write("".join(f"{line}\n" for line in lines))
        sys.stdout.flush()
