"""One bench: a workspace of a size, the tools that build it, and every scenario with each of them."""

from __future__ import annotations

import os
import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.bench.actions import codegen_seconds, compiles, difference, executed
from tests.bench.measure import Programs, Run, best
from tests.bench.peers import SCONS, Peer, compile_command, naive_scons, ninja
from tests.bench.report import Row, row
from tests.bench.scenarios import BUILDS, QUERY, QUERY_BUDGET, Scenario
from tests.bench.workspace import ARCHS, SHARED, make_workspace

_KEPT = ("PATH", "HOME", "LANG", "TMPDIR", "PYTHONPATH")
_MANY = 1000  # operators from which on a cold build is measured once
_CALLS = 20  # compile commands whose mean is taken
_COMPARED = "scons, ninja: the same compile commands; for codegen they copy, where skrules reads, checks and adapts"
_JUDGED = "budgets: cold beyond the compile commands; edits beyond these and codegen, which is reading, checking and adapting"
_QUERY = ("-P", "-c", "import sys; from skrules.cli import main; sys.exit(main())", "query")


class Bench:
    """A workspace of `count` operators below `folder`. `notes` say what is left out, and why."""

    def __init__(self, folder: Path, count: int, programs: Programs, *, rounds: int, peers: bool = True) -> None:
        self.workspace = make_workspace(folder / "workspace", count)
        self.programs = programs
        self.rounds = rounds
        self.notes = [*([_COMPARED] if peers else []), _JUDGED]
        self._cache = folder / "cache"
        self._edition = 0
        self._environment = {
            **{name: os.environ[name] for name in _KEPT if name in os.environ},
            "BISHENG": str(programs.compiler),
            "SKRULES_CACHE": str(self._cache),
            # Compiled once, wherever skrules lies and whoever may write there.
            "PYTHONPYCACHEPREFIX": str(folder / "pycache"),
        }
        self._skrules = Peer(name="skrules", command=(*SCONS, "TOOLCHAIN=bisheng"), folder="ops")
        self._peers = self._find_peers() if peers else []
        self._one_compile = self._measure_compile()

    def run(self, names: Sequence[str]) -> Iterator[Row]:
        """Run the scenarios that are named, in their order, and yield what was measured."""
        self._prepare()
        for scenario in BUILDS:
            if scenario.name in names:
                yield self._build(scenario)
        if QUERY in names:
            yield self._query()

    def _find_peers(self) -> list[Peer]:
        found = [naive_scons(self.workspace, self.programs.compiler)]
        # The one of the Python package, where the scripts of this interpreter are, or any other.
        program = shutil.which("ninja", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))
        if program:
            found.append(ninja(self.workspace, self.programs.compiler, program))
        else:
            self.notes.append("ninja is left out: it is not on PATH; pip install ninja")
        return found

    def _prepare(self) -> None:
        """Build everything once with all tools, so that Python's compiled files and the machine's caches are warm."""
        for tool in (self._skrules, *self._peers):
            run = self._call(tool.build())
            if run.status:
                raise RuntimeError(f"{tool.name} does not build the workspace:\n{run.output[-2000:]}")

    def _measure_compile(self) -> float:
        """Return the CPU seconds of one compile command."""
        name = self.workspace.sample
        output = str(self.programs.compiler.with_name("sample.o"))
        command = compile_command(
            self.programs.compiler, arch=ARCHS[0], quote=f"ops/{name}", source=f"ops/{name}/{name}.asc", output=output
        )
        return sum(self._call(command).cpu for _ in range(_CALLS)) / _CALLS

    def _call(self, command: Sequence[str]) -> Run:
        return self.programs.run(command, self.workspace.root, self._environment)

    def _build(self, scenario: Scenario) -> Row:
        workspace, label = self.workspace, self.workspace.sample if scenario.label else ""
        wanted = scenario.wanted(workspace)
        problems: dict[str, None] = {}
        runs: dict[str, list[Run]] = {}
        codegens: list[float] = []
        events = self._cache.with_name("events.jsonl")
        rounds = 1 if scenario.cold and len(workspace.operators) >= _MANY else self.rounds
        for _ in range(rounds):
            self._edition += 1
            scenario.edit(workspace, self._edition)
            for tool in (self._skrules, *(self._peers if scenario.peers else ())):
                if scenario.cold:
                    self._forget(tool)
                options = (*scenario.options, *([f"--event-log={events}"] if scenario.beyond_compile else ()))
                run = self._call((*tool.build(label), *(options if tool is self._skrules else ())))
                if tool is self._skrules:
                    codegens.append(codegen_seconds(events.read_text()) if scenario.beyond_compile else 0.0)
                if scenario.options and "no such option" in run.output:
                    return Row(operators=len(workspace.operators), scenario=scenario.name, skipped=f"no {scenario.options[0]}")
                runs.setdefault(tool.name, []).append(run)
                problem = self._difference(tool, run, wanted)
                if run.status:
                    problem = f"{tool.name} ended with status {run.status}: {run.output[-200:]}"
                if problem:
                    problems[problem] = None
        mine = best(runs["skrules"])
        codegen = codegens[runs["skrules"].index(mine)]
        return row(
            operators=len(workspace.operators),
            scenario=scenario.name,
            run=mine,
            done=executed(mine.output).total(),
            wanted=wanted.total(),
            compile_cpu=_compiled(wanted) * self._one_compile,
            codegen_cpu=codegen,
            beyond_compile=scenario.beyond_compile,
            beyond_codegen=scenario.beyond_codegen,
            budget=scenario.budget.get(len(workspace.operators)),
            peers={name: best(found).cpu for name, found in runs.items() if name != "skrules"},
            problems=list(problems),
        )

    def _difference(self, tool: Peer, run: Run, wanted: Counter[str]) -> str:
        if tool is self._skrules:
            return difference(executed(run.output), wanted)
        # A peer that does other work is no measure.
        found = compiles(run.output)
        return "" if found == _compiled(wanted) else f"{tool.name} ran {found} compile commands, not {_compiled(wanted)}"

    def _forget(self, tool: Peer) -> None:
        root = self.workspace.root
        own = {"skrules": [root / "build", self._cache], "scons": [root / "naive"], "ninja": [root / "out"]}
        for folder in own[tool.name]:
            shutil.rmtree(folder, ignore_errors=True)
        for name in {"scons": (".sconsign.dblite",), "ninja": (".ninja_log", ".ninja_deps")}.get(tool.name, ()):
            (root / name).unlink(missing_ok=True)

    def _query(self) -> Row:
        workspace, operators = self.workspace, len(self.workspace.operators)
        runs = [self._call((sys.executable, *_QUERY, f"rdeps(//ops/..., {SHARED})")) for _ in range(self.rounds)]
        if "invalid choice: 'query'" in runs[0].output:
            return Row(operators=operators, scenario=QUERY, skipped="no skrules query yet")
        run = best(runs)
        named = {line.strip() for line in run.output.splitlines() if line.startswith("//ops/op_")}
        wanted = {f"//ops/{name}" for name in workspace.sharing}
        problems = [f"query ended with status {run.status}: {run.output[-200:]}"] if run.status else []
        if named != wanted:
            problems.append(f"{len(wanted - named)} labels missing, {len(named - wanted)} too many")
        return row(
            operators=operators,
            scenario=QUERY,
            run=run,
            done=len(named),
            wanted=len(wanted),
            budget=QUERY_BUDGET.get(operators),
            peers={},
            problems=problems,
        )


def _compiled(actions: Counter[str]) -> int:
    return sum(count for action, count in actions.items() if action.startswith("ASC "))
