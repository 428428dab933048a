"""One build: opens the workspace, gives SCons the steps of what is asked for, and reports when SCons has ended."""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import SCons.Node
from SCons.Script import BUILD_TARGETS, GetOption, SetOption

from skrules.engine.action import Action, needed
from skrules.engine.cache import StepCache, limit_from
from skrules.engine.digests import FileDigests
from skrules.engine.events import EventLog
from skrules.engine.journal import Journal
from skrules.engine.manifest import Manifest, save
from skrules.engine.runner import StepRunner
from skrules.engine.slots import MemorySlots, available_memory
from skrules.errors import UsageError
from skrules.rules.graph import Graph
from skrules.rules.includes import undeclared_includes
from skrules.rules.manifests import is_shared, make_manifest
from skrules.rules.opening import open_workspace
from skrules.rules.request import Request, journal_folder, read_jobs
from skrules.rules.status import Outcome, Status, collect, to_notes
from skrules.scons.interruption import Interruption
from skrules.scons.nodes import GoalNode, StepNode
from skrules.scons.output import Output
from skrules.scons.steps import Steps
from skrules.scons.summary import (
    findings_lines,
    known_findings,
    known_statuses,
    known_wheels,
    summarise,
    wheel_lines,
    write,
)
from skrules.toolchain.cache import root as user_cache


def _cache(environ: Mapping[str, str]) -> StepCache:
    remote = None
    if environ.get("SKRULES_REMOTE_CACHE"):
        from skrules.engine.remote_settings import remote_from

        remote = remote_from(environ)
    return StepCache(user_cache(environ) / "steps", limit=limit_from(environ), remote=remote)


class Build:
    """A build of `request`. `old` is the manifest that vouches for all labels but the `dirty` ones, or None; a new one is
    written to `path` when everything succeeded. `started` is what `time.monotonic` said when the run began, `since` what the
    clock of the file system did. `settings` is the file of what the workspace decides about rules, or "".
    `note_process` is told the number of every process that steps start."""

    def __init__(
        self,
        root: Path,
        packages: Sequence[str],
        request: Request,
        path: Path,
        old: Manifest | None,
        dirty: frozenset[str],
        started: float,
        since: int,
        settings: str = "",
        note_process: Callable[[int], None] | None = None,
    ) -> None:
        self.root = root
        self.packages = tuple(packages)
        self.request = request
        self.path = path
        self.started = started
        self.since = since
        self.note_process = note_process
        self.compared = "compare" in request.verbs
        self.is_dry = bool(GetOption("no_exec") or GetOption("question"))
        self.interruption = Interruption()
        if any(is_shared(label) for label in dirty) or (old is not None and known_wheels(old)):
            old = None  # what operators share, and a wheel of them, must be seen for all of them
        narrow = request if old is None else replace(request, patterns=tuple(sorted(dirty)), files=())
        SetOption("num_jobs", read_jobs(os.environ))
        jobs = GetOption("num_jobs")
        self.opened = open_workspace(root, packages, narrow, os.environ, self.interruption.happened, jobs=jobs, settings=settings)
        self.old = old
        self.actions: tuple[Action, ...] = ()
        self.output = Output(silent=GetOption("silent"), progress=self._progress)
        self.steps = self._make_steps()

    @property
    def graph(self) -> Graph:
        return self.opened.graph

    def declare(self) -> None:
        """Give SCons its nodes and targets, and ask to be called at the end."""
        outputs = self._wanted()
        self.actions = needed(self.graph.actions, outputs)
        self.steps.declare(self.actions)
        wanted = self.steps.nodes(outputs)
        BUILD_TARGETS[:] = [GoalNode(" ".join(self.request.patterns) or "all", wanted)]
        if GetOption("clean"):
            if not self.is_dry and not (self.request.patterns or self.request.files or self.opened.request.archs):
                # With what is remembered, and the results of operators that are no longer declared.
                atexit.register(shutil.rmtree, self.root / self.opened.context.build, ignore_errors=True)
                atexit.register(shutil.rmtree, self.path.parent, ignore_errors=True)
            return
        if not GetOption("silent"):
            write(self.opened.notes)
        if not self.is_dry:
            self.steps.events.write("start", toolchain=self.opened.context.toolchain.name, steps=len(self.steps))
            atexit.register(self._finish, wanted)

    def _make_steps(self) -> Steps:
        digests = FileDigests(self.root, self.old.files if self.old else None)
        runner = StepRunner(
            self.root,
            journal=Journal(journal_folder(self.root, self.opened.context.build)),
            digests=digests,
            slots=MemorySlots(available_memory()),
            say=self.output.complain,
            cache=None if self.is_dry else _cache(os.environ),
            show_commands=self.request.verbose,
            note_process=self.note_process,
        )
        log = GetOption("event_log")
        events = EventLog(Path(log) if log and not self.is_dry else None)
        is_dry = bool(GetOption("no_exec"))
        return Steps(
            runner,
            tell=self.output.tell,
            complain=self.output.complain,
            events=events,
            is_dry=is_dry,
            review=lambda label, read: undeclared_includes(self.opened.workspace, label, read),
        )

    def _progress(self) -> str:
        total = len(self.steps)
        return f"[{100 * self.steps.settled // total:3d} %] {self.steps.settled} of {total} steps" if total else ""

    def _wanted(self) -> list[str]:
        graph, request = self.graph, self.request
        if request.files:
            known = {output for action in graph.actions for output in action.outputs}
            for name in request.files:
                if name not in known and self.old is None:
                    raise UsageError(f"nothing builds '{name}'")
            return [name for name in request.files if name in known]
        if GetOption("clean"):
            return [output for action in graph.actions for output in action.outputs]
        wheels = [wheel.output for wheel in graph.wheels]
        findings = [operator.validation.outputs[0] for operator in graph.operators if operator.validation is not None]
        if self.compared:
            without = [str(operator.label) for operator in graph.operators if not operator.compare]
            if without:
                raise UsageError(f"{', '.join(without)} has no cases to compare", hint="add cases='cases.yaml' to operator()")
            verdicts = [compare.verdict for operator in graph.operators for compare in operator.compare]
            return [*findings, *verdicts, *(wheels if "wheel" in request.verbs else [])]
        if "wheel" in request.verbs or findings:
            return [*findings, *(wheels if "wheel" in request.verbs else [])]
        return [*(output for operator in graph.operators for output in operator.build.results), *wheels]

    def _finish(self, wanted: Sequence[StepNode]) -> None:
        """Report, and write the manifest of a build that was whole."""
        self.output.finish()
        cache = self.steps.runner.cache
        if cache is not None:
            cache.close()
        statuses: list[Status] = []
        if self.compared:
            statuses = list(collect(self.root, self.graph, self.steps.outcome))
            if self.old is not None:
                fresh = frozenset(str(operator.label) for operator in self.graph.operators)
                statuses = sorted([*statuses, *known_statuses(self.old, fresh)], key=lambda status: (status.label, status.arch))
        is_whole = all(node.get_state() in (SCons.Node.executed, SCons.Node.up_to_date) for node in wanted)
        if is_whole and not self.steps.failed:
            self._remember(statuses)
        if "validate" in self.request.verbs:
            write(findings_lines(self.root, self._findings(), silent=bool(self.steps.failed)))
        seconds = time.monotonic() - self.started
        write(summarise(self.steps, statuses, compared=self.compared, seconds=seconds))
        write(line for wheel in self.graph.wheels for line in wheel_lines(self.root, wheel, self.steps))
        self.steps.events.write("end", executed=self.steps.executed, cached=self.steps.cached, failed=len(self.steps.failed))
        self.steps.events.close()

    def _findings(self) -> list[str]:
        """Return the files of findings that are of this run, or vouched for by the manifest it goes on from."""
        fresh = {str(operator.label): operator.validation for operator in self.graph.operators}
        known = known_findings(self.old, frozenset(fresh)) if self.old is not None else []
        made = [validation.outputs[0] for validation in fresh.values() if validation is not None]
        return [*known, *(path for path in made if self.steps.outcome(path) in (Outcome.MADE, Outcome.CURRENT))]

    def _remember(self, statuses: Sequence[Status]) -> None:
        try:
            manifest = make_manifest(
                self.opened,
                self.actions,
                self.steps.runner,
                packages=self.packages,
                environ=os.environ,
                notes=to_notes(statuses),
                old=self.old,
                since=self.since,
            )
            if manifest is not None:
                save(manifest, self.path)
        except OSError:  # a full disk, or a file that went away just now: the next run looks at everything
            with contextlib.suppress(OSError):
                self.path.unlink(missing_ok=True)
