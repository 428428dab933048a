"""Stage 06: SCons builds and compares in the workspace of a run, and the engine says what its results are worth.

Whether an operator passed is not taken from what SCons printed or from a file that happens to lie there: its verdict counts
when every step that leads to it is current, by the same journal and digests by which a build decides what to do.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from skrules.engine.action import Action, needed
from skrules.engine.digests import FileDigests
from skrules.engine.journal import Journal
from skrules.engine.runner import StepRunner
from skrules.engine.slots import MemorySlots
from skrules.errors import BuildError, ToolchainError
from skrules.pipeline.mirror import BUILD
from skrules.pipeline.scons_run import run_scons
from skrules.rules.compare import CompareActions
from skrules.rules.opening import Opened, open_workspace
from skrules.rules.request import journal_folder, read_request
from skrules.wheel.verify import verify

PROGRAM, TORCH = "program", "torch"


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildRequest:
    """`labels` are those to build, `compared` those of them to run, by each of `backends`. `variables` are `NAME=value` for
    SCons, `wheel_variables` where a wheel is made. `torch_if_possible`: without an emulated npu the other backends do.
    `settings` is the file of what the workspace decides about rules, or "".
    """

    workspace: Path
    packages: tuple[str, ...]
    labels: tuple[str, ...]
    compared: tuple[str, ...]
    backends: tuple[str, ...]
    wheel: bool
    variables: Mapping[str, str]
    wheel_variables: Mapping[str, str]
    jobs: int | None
    environment: Mapping[str, str]
    torch_if_possible: bool = False
    settings: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchVerdict:
    """How an operator ended on one arch. `status` is that of its comparison, "" when there is none that counts.

    `document` is the verdict as the comparison wrote it; `is_cached`: this run found it and had nothing to do.
    """

    label: str
    arch: str
    backend: str
    status: str
    document: Mapping[str, Any]
    is_cached: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildResult:
    """`archs` are those that each label was built for, `errors` what failed of it, `modules` its modules; `built` are the
    labels all of whose results are current. `wheels` are those that are current and as they should be, `problems` what is
    wrong with the others, `wheel_error` why there can be none. `executed` counts steps that were neither current nor cached.
    """

    toolchain: str
    backends: tuple[str, ...]
    archs: Mapping[str, tuple[str, ...]]
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

    Raises UsageError or ToolchainError when nothing can be built at all, and BuildError when SCons ended before its time.
    """
    wheel_error = ""
    try:
        opened = _open(request)
    except ToolchainError as error:
        if not request.wheel:
            raise
        # Operators are compared all the same: what they compute does not depend on whether there is a PyTorch to wrap it.
        request, wheel_error = replace(request, wheel=False), str(error)
        opened = _open(request)
    if request.torch_if_possible and (opened.context.toolchain.name != "host" or opened.context.torch is None):
        request = replace(request, backends=tuple(name for name in request.backends if name != TORCH))
    events: list[dict[str, Any]] = []
    for number, words in enumerate(_runs(request)):
        log = folder / f"build-events-{number}.jsonl"
        status = run_scons(request.workspace, words, log, jobs=request.jobs, environment=request.environment)
        steps = _events(log, TORCH if f"BACKEND={TORCH}" in words else PROGRAM)
        if status and not any(step.get("result") == "failed" for step in steps):
            raise BuildError(f"scons ended with {status}, and no step had failed", hint="what it said stands above")
        events += steps
    return _collect(request, opened, events, wheel_error)


def _runs(request: BuildRequest) -> list[list[str]]:
    """Return the words of each run of SCons: one, unless operators have no cases or are compared in two ways."""
    variables = [f"{name}={value}" for name, value in {**request.variables, "BUILD": BUILD}.items()]
    wheel = [f"{name}={value}" for name, value in request.wheel_variables.items()] if request.wheel else []
    compares = [
        ["compare", *request.compared, *variables, *([f"BACKEND={name}"] if name != PROGRAM else [])]
        for name in (request.backends if request.compared else ())
    ]
    if request.wheel and compares and request.compared == request.labels:
        compares[0] = ["wheel", *compares[0], *wheel]
        return compares
    if compares and request.compared == request.labels:
        return compares
    plain = [*(["wheel"] if request.wheel else []), *request.labels, *variables, *wheel]
    return [*compares, plain]


def _open(request: BuildRequest, backend: str = "") -> Opened:
    """Return the Actions of the request; with `backend` only those of a comparison by it."""
    wheel = request.wheel and not backend
    words = (*(["compare"] if backend else []), *(["wheel"] if wheel else []), *(request.compared if backend else request.labels))
    variables = {
        **request.variables,
        **(request.wheel_variables if wheel else {}),
        **({"BACKEND": backend} if backend else {}),
        "BUILD": BUILD,
    }
    return open_workspace(
        request.workspace, request.packages, read_request(words, variables), request.environment, settings=request.settings
    )


def _events(log: Path, backend: str) -> list[dict[str, Any]]:
    """Return the steps that a run of SCons really did; none when it found that nothing was to do."""
    try:
        lines = log.read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
    events = [json.loads(line) for line in lines]
    return [{**event, "backend": backend} for event in events if event.get("event") == "step"]


def _collect(request: BuildRequest, opened: Opened, events: Sequence[Mapping[str, Any]], wheel_error: str) -> BuildResult:
    worth = _Worth(request.workspace, opened)
    built = {str(operator.label) for operator in opened.graph.operators if worth.is_current(opened, operator.build.results)}
    verdicts: list[ArchVerdict] = []
    for backend in request.backends if request.compared else ():
        verdicts += _verdicts(request, backend, worth, events)
    wheels, problems = _wheels(request.workspace, opened, worth)
    errors: dict[str, tuple[str, ...]] = {}
    for event in events:
        if event.get("result") == "failed":
            where = " ".join(word for word in (event["mnemonic"], event["arch"]) if word)
            errors[event["label"]] = (*errors.get(event["label"], ()), f"{where}: {event['error']}")
    return BuildResult(
        toolchain=opened.context.toolchain.name,
        backends=request.backends if request.compared else (),
        archs={str(operator.label): operator.archs for operator in opened.graph.operators},
        errors={label: tuple(dict.fromkeys(lines)) for label, lines in errors.items()},
        built=frozenset(built),
        verdicts=tuple(verdicts),
        modules={str(each.label): tuple(each.build.modules_of.values()) for each in opened.graph.operators},
        wheels=wheels,
        problems=problems,
        wheel_error=wheel_error,
        executed=sum(event.get("result") == "run" for event in events),
    )


class _Worth:
    """Asks the engine whether results are current: whether a build would have nothing to do for them."""

    def __init__(self, root: Path, opened: Opened) -> None:
        self._known: dict[str, bool] = {}
        self._runner = StepRunner(
            root,
            journal=Journal(journal_folder(root, opened.context.build)),
            digests=FileDigests(root),
            slots=MemorySlots(0),
            say=lambda _text: None,
        )

    def is_current(self, opened: Opened, outputs: Sequence[str]) -> bool:
        return bool(outputs) and all(self._is_done(action) for action in needed(opened.graph.actions, outputs))

    def _is_done(self, action: Action) -> bool:
        name = action.outputs[0]
        if name not in self._known:
            self._known[name] = not self._runner.causes(action)
        return self._known[name]


def _verdicts(request: BuildRequest, backend: str, worth: _Worth, events: Sequence[Mapping[str, Any]]) -> list[ArchVerdict]:
    opened = _open(request, backend)
    own = [event for event in events if event["mnemonic"] == "COMPARE" and event["backend"] == backend]
    made = {output for event in own if event["result"] == "run" for output in event["outputs"]}
    failed = {(event["label"], event["arch"]) for event in own if event["result"] == "failed"}
    return [
        _verdict(
            request.workspace,
            str(operator.label),
            backend,
            compare,
            is_current=worth.is_current(opened, [compare.verdict]),
            is_cached=compare.verdict not in made,
            has_failed=(str(operator.label), compare.arch) in failed,
        )
        for operator in opened.graph.operators
        for compare in operator.compare
    ]


def _verdict(
    root: Path, label: str, backend: str, compare: CompareActions, *, is_current: bool, is_cached: bool, has_failed: bool
) -> ArchVerdict:
    """Read how an operator ended on one arch. A file that this run neither made nor found to be current says nothing."""
    document: Mapping[str, Any] = {}
    if is_current or has_failed:
        document = _document(root / (compare.verdict if is_current else compare.failed_verdict), label, compare.arch)
    status = str(document.get("status", ""))
    if (status == "passed") != is_current:  # a verdict that contradicts the step it is of
        status = ""
    return ArchVerdict(
        label=label, arch=compare.arch, backend=backend, status=status, document=document, is_cached=is_current and is_cached
    )


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
        if not worth.is_current(opened, [wheel.output]):
            problems.append(f"{path.name}: it was not made")
            continue
        wrong = verify(path.read_bytes(), path.name, private=(f"{root}/",))
        problems += wrong
        if not wrong:
            found.append(wheel.output)
    return tuple(found), tuple(problems)
