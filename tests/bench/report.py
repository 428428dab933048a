"""The table of results, and the same as data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from tests.bench.measure import Run
from tests.bench.scenarios import MEMORY_BUDGET

_HEAD = ("scenario", "CPU s", "codegen", "wall s", "scons", "ninja", "/scons", "/ninja", "actions", "peak MB", "budget")
_WIDTHS = (19, 7, 7, 7, 8, 8, 7, 8, 11, 8)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One scenario at one number of operators. Seconds are CPU unless they are called wall; `peak` is in bytes.

    `compile` is what the compile commands alone take, `codegen` what reading, checking and adapting kernels takes, `judged`
    what the budget is about. `done` and `wanted` count actions, for a query its labels. `problems` make the bench fail; with
    `skipped` there is nothing else.
    """

    operators: int
    scenario: str
    cpu: float = 0.0
    wall: float = 0.0
    peak: int = 0
    done: int = 0
    wanted: int = 0
    compile: float = 0.0
    codegen: float = 0.0
    judged: float = 0.0
    budget: float | None = None
    peers: dict[str, float] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    skipped: str = ""

    def ratio(self, peer: str) -> float | None:
        """Return how many times the CPU of `peer` this took; None where that was not measured."""
        other = self.peers.get(peer)
        return self.cpu / other if other else None

    @property
    def over_budget(self) -> bool:
        return self.budget is not None and self.judged > self.budget


def row(
    *,
    operators: int,
    scenario: str,
    run: Run,
    done: int,
    wanted: int,
    compile_cpu: float = 0.0,
    codegen_cpu: float = 0.0,
    beyond_compile: bool = False,
    beyond_codegen: bool = False,
    budget: float | None = None,
    peers: dict[str, float],
    problems: Sequence[str],
) -> Row:
    beyond = (compile_cpu if beyond_compile else 0.0) + (codegen_cpu if beyond_codegen else 0.0)
    judged = max(0.0, run.cpu - beyond)
    return Row(
        operators=operators,
        scenario=scenario,
        cpu=run.cpu,
        wall=run.wall,
        peak=run.peak,
        done=done,
        wanted=wanted,
        compile=compile_cpu,
        codegen=codegen_cpu,
        judged=judged,
        budget=budget,
        peers=peers,
        problems=tuple(problems),
    )


def table(rows: Sequence[Row], notes: Sequence[str] = ()) -> list[str]:
    """Return the lines of a table of rows with one number of operators, at most 120 columns wide."""
    operators = rows[0].operators
    lines = [f"{operators} operators x 2 archs; CPU seconds of all processes; /scons, /ninja: skrules' CPU per CPU of the peer"]
    lines.append(_line(_HEAD))
    lines += [
        _line((row.scenario, *_cells(row))) if not row.skipped else f"{row.scenario:<19} skipped: {row.skipped}" for row in rows
    ]
    peak, limit = max(row.peak for row in rows), MEMORY_BUDGET.get(operators)
    if limit is not None:
        lines.append(f"{'peak memory':<19} {peak / 1e6:.1f} MB <= {limit / 1e6:.0f} MB {_verdict(peak > limit)}")
    lines += notes
    lines += [f"WRONG: {row.scenario}: {problem}"[:120] for row in rows for problem in row.problems]
    return lines


def data(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return what is written as JSON: the fields of the rows, with the ratios."""
    ratios = ({f"to_{name}": row.ratio(name) for name in row.peers} for row in rows)
    return [{**asdict(row), "ratios": found} for row, found in zip(rows, ratios, strict=True)]


def _cells(row: Row) -> tuple[str, ...]:
    seconds = [f"{row.peers[name]:.2f}" if name in row.peers else "-" for name in ("scons", "ninja")]
    ratios = ["-" if ratio is None else _short(ratio) for ratio in (row.ratio("scons"), row.ratio("ninja"))]
    actions = f"{row.done}" if row.done == row.wanted else f"{row.done} not {row.wanted}"
    budget = "" if row.budget is None else f"{row.judged:.2f} <= {row.budget:g} {_verdict(row.over_budget)}"
    codegen = f"{row.codegen:.2f}" if row.codegen else "-"
    return (f"{row.cpu:.2f}", codegen, f"{row.wall:.2f}", *seconds, *ratios, actions, f"{row.peak / 1e6:.1f}", budget)


def _short(ratio: float) -> str:
    return f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.1f}" if ratio >= 1 else f"{ratio:.2f}"


def _verdict(over: bool) -> str:
    return "OVER" if over else "ok"


def _line(cells: Sequence[str]) -> str:
    first, *middle, last = cells
    right = [f"{cell:>{width}}" for cell, width in zip(middle, _WIDTHS[1:], strict=True)]
    return " ".join([f"{first:<{_WIDTHS[0]}}", *right, f" {last}"]).rstrip()
