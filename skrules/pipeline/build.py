"""Stage 06: SCons builds and compares in the workspace of a run, and the engine says what its results are worth.

Whether an operator passed is not taken from what SCons printed or from a file that happens to lie there: its verdict counts
when every step that leads to it is current, by the same journal and digests by which a build decides what to do.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType
from typing import Any

from skrules.engine.action import Action, needed
from skrules.engine.digests import FileDigests
from skrules.engine.journal import Journal
from skrules.engine.runner import StepRunner
from skrules.engine.slots import MemorySlots
from skrules.errors import ToolchainError
from skrules.pipeline.mirror import BUILD
from skrules.rules.compare import CompareActions
from skrules.rules.opening import Opened, open_workspace
from skrules.rules.request import journal_folder, read_request
from skrules.wheel.verify import verify

EVENTS = "build-events.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildRequest:
    """`labels` are those to build, `compared` those of them to run; `variables` are `NAME=value` for SCons, and
    `wheel_variables` where a wheel is made."""

    workspace: Path
    packages: tuple[str, ...]
    labels: tuple[str, ...]
    compared: tuple[str, ...]
    wheel: bool
    variables: Mapping[str, str]
    wheel_variables: Mapping[str, str]
    jobs: int | None
    environment: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchVerdict:
    """How an operator ended on one arch. `status` is that of its comparison, "" when there is none that counts.

    `document` is the verdict as the comparison wrote it; `is_cached`: this run found it and had nothing to do.
    """

    label: str
    arch: str
    status: str
    document: Mapping[str, Any]
    is_cached: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildResult:
    """`exits` are the exit statuses of SCons; `errors` by label what failed; `built` the labels all of whose results are
    current; `modules` their files by label, `wheels` those that are current and as they should be, `problems` what is wrong
    with the others, `wheel_error` why there can be none. `executed` counts steps that were neither current nor cached."""

    toolchain: str
    summary: tuple[str, ...]
    archs: Mapping[str, tuple[str, ...]]
    exits: tuple[int, ...]
    errors: Mapping[str, tuple[str, ...]]
    built: frozenset[str]
    verdicts: tuple[ArchVerdict, ...]
    modules: Mapping[str, tuple[str, ...]]
    wheels: tuple[str, ...]
    problems: tuple[str, ...]
    wheel_error: str
    executed: int


def build(request: BuildRequest, folder: Path) -> BuildResult:
    """Build, compare and package; what SCons did is noted in `folder`.

    Raises UsageError or ToolchainError when nothing can be built at all.
    """
    wheel_error = ""
    try:
        opened = _open(request)
    except ToolchainError as error:
        if not request.wheel:
            raise
        # Operators are compared all the same: what they compute does not depend on whether there is a PyTorch to wrap it.
        request = replace(request, wheel=False)
        opened = _open(request)
        wheel_error = str(error)
    events: list[dict[str, Any]] = []
    exits = []
    for number, words in enumerate(_runs(request)):
        log = folder / (f"{number}-{EVENTS}" if number else EVENTS)
        exits.append(_scons(request, words, log))
        events += _events(log)
    return _collect(request, opened, events, tuple(exits), wheel_error)


def _runs(request: BuildRequest) -> list[list[str]]:
    """Return the targets of the runs of SCons: one, unless some operators have nothing to be run on."""
    wheel = ["wheel"] if request.wheel else []
    if request.compared == request.labels:
        return [["compare", *wheel, *request.labels]]
    plain = [*wheel, *request.labels]
    return [["compare", *request.compared], plain] if request.compared else [plain]


def _open(request: BuildRequest) -> Opened:
    words = (*(["wheel"] if request.wheel else []), *request.labels)
    wheel = request.wheel_variables if request.wheel else {}
    asked = read_request(words, {**request.variables, **wheel, "BUILD": BUILD})
    return open_workspace(request.workspace, request.packages, asked, request.environment)


def _scons(request: BuildRequest, words: Sequence[str], log: Path) -> int:
    """Run SCons; return its exit status. It goes on after failures, which are those of single operators."""
    log.unlink(missing_ok=True)
    log.parent.mkdir(parents=True, exist_ok=True)
    jobs = [f"--jobs={request.jobs}"] if request.jobs else []
    wheel = request.wheel_variables if "wheel" in words else {}
    variables = [f"{name}={value}" for name, value in {**request.variables, **wheel}.items()]
    command = [
        sys.executable,
        "-m",
        "SCons",
        "-Q",
        "-k",
        *jobs,
        f"--event-log={log.resolve()}",
        *words,
        *variables,
        f"BUILD={BUILD}",
    ]
    sys.stdout.flush()
    # A group of its own: a signal from the terminal reaches it once, through this process.
    process = subprocess.Popen(
        command, cwd=request.workspace, env=dict(request.environment), stdin=subprocess.DEVNULL, process_group=0
    )
    asked: list[int] = []

    def end(number: int, _frame: FrameType | None) -> None:
        # SCons ends what it has begun and keeps its results; it is asked to, and waited for.
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


def _events(log: Path) -> list[dict[str, Any]]:
    """Return the steps that a run of SCons really did; none when it found that nothing was to do."""
    try:
        lines = log.read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
    events = [json.loads(line) for line in lines]
    return [event for event in events if event.get("event") == "step"]


def _collect(
    request: BuildRequest, opened: Opened, events: Sequence[Mapping[str, Any]], exits: tuple[int, ...], wheel_error: str
) -> BuildResult:
    worth = _Worth(request.workspace, opened)
    made = {output for event in events if event.get("result") in ("run", "cache") for output in event["outputs"]}
    failed = {
        (event["label"], event["arch"]) for event in events if event.get("result") == "failed" and event["mnemonic"] == "COMPARE"
    }
    verdicts = []
    built = set()
    archs: dict[str, tuple[str, ...]] = {}
    modules: dict[str, tuple[str, ...]] = {}
    for operator in opened.graph.operators:
        label = str(operator.label)
        archs[label] = operator.archs
        modules[label] = tuple(operator.build.modules_of.values())
        if worth.is_current(operator.build.results):
            built.add(label)
        if label in request.compared:
            for compare in operator.compare:
                is_current = worth.is_current([compare.verdict])
                verdicts.append(
                    _verdict(
                        request.workspace,
                        label,
                        compare,
                        is_current=is_current,
                        is_cached=compare.verdict not in made,
                        has_failed=(label, compare.arch) in failed,
                    )
                )
    wheels, problems = _wheels(request.workspace, opened, worth)
    errors: dict[str, tuple[str, ...]] = {}
    for event in events:
        if event.get("result") == "failed":
            where = " ".join(word for word in (event["mnemonic"], event["arch"]) if word)
            errors[event["label"]] = (*errors.get(event["label"], ()), f"{where}: {event['error']}")
    return BuildResult(
        toolchain=opened.context.toolchain.name,
        summary=opened.notes,
        archs=archs,
        exits=exits,
        errors=errors,
        built=frozenset(built),
        verdicts=tuple(verdicts),
        modules=modules,
        wheels=wheels,
        problems=problems,
        wheel_error=wheel_error,
        executed=sum(event.get("result") == "run" for event in events),
    )


class _Worth:
    """Asks the engine whether results are current: whether a build would have nothing to do for them."""

    def __init__(self, root: Path, opened: Opened) -> None:
        self._actions = opened.graph.actions
        self._known: dict[str, bool] = {}
        self._runner = StepRunner(
            root,
            journal=Journal(journal_folder(root, opened.context.build)),
            digests=FileDigests(root),
            slots=MemorySlots(0),
            say=lambda _text: None,
        )

    def is_current(self, outputs: Sequence[str]) -> bool:
        return bool(outputs) and all(self._is_done(action) for action in needed(self._actions, outputs))

    def _is_done(self, action: Action) -> bool:
        name = action.outputs[0]
        if name not in self._known:
            self._known[name] = not self._runner.causes(action)
        return self._known[name]


def _verdict(
    root: Path, label: str, compare: CompareActions, *, is_current: bool, is_cached: bool, has_failed: bool
) -> ArchVerdict:
    """Read how an operator ended on one arch. A file that this run neither made nor found to be current says nothing."""
    document: Mapping[str, Any] = {}
    if is_current or has_failed:
        document = _document(root / (compare.verdict if is_current else compare.failed_verdict), label, compare.arch)
    status = str(document.get("status", ""))
    if is_current != (status == "passed"):
        status = "" if is_current or status == "passed" else status
    return ArchVerdict(label=label, arch=compare.arch, status=status, document=document, is_cached=is_current and is_cached)


def _document(path: Path, label: str, arch: str) -> Mapping[str, Any]:
    """Return a verdict; nothing when there is none, or it speaks of something else."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    is_own = isinstance(document, dict) and (document.get("label"), document.get("arch")) == (label, arch)
    return document if is_own else {}


def _wheels(root: Path, opened: Opened, worth: _Worth) -> tuple[tuple[str, ...], tuple[str, ...]]:
    found, problems = [], []
    for wheel in opened.graph.wheels:
        path = root / wheel.output
        if not worth.is_current([wheel.output]):
            problems.append(f"{path.name}: it was not made")
            continue
        wrong = verify(path.read_bytes(), path.name, private=(f"{root}/",))
        problems += wrong
        if not wrong:
            found.append(wheel.output)
    return tuple(found), tuple(problems)
