"""The Action record: one step of a build, as plain data.

Everything that schedules, explains or tests the build reads these records; nothing here knows what an operator is.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

# Where things are kept, never what comes out: another shell or login must not build everything again.
_PLACES = frozenset({"HOME", "TMPDIR", "SKRULES_CACHE", "XDG_CACHE_HOME"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Launcher:
    """What stands in front of the commands of a step, such as ccache: how they are carried out, never what they make.

    `words` come before each command, `environment` is added to that of the step.
    """

    words: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)


NO_LAUNCHER = Launcher()


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One step: `inputs` -> `outputs`.

    Paths are relative to the workspace, with `/`. `key` names every other thing the result depends on (flags, compiler
    identity, digest of the generator's code, ...), so that two equal keys with equal inputs give equal outputs; the first
    word of a component's name says what kind of thing it is: "compiler", "toolkit headers".
    Exactly one of `command` and `run` is set: `command` is a sequence of argument vectors run one after the other from
    the workspace root; `run` is called with the workspace root.
    `depfile` is a Makefile-style dependency file that the step writes beside its first output. `search` are words of a
    compiler's command line that say where `run` looks for headers, as those of `command` do for a command.
    `label` and `arch` say for whom the step is done; `what` is the short text of the progress line.
    `roles` says what an input is for people ("source", "contract"); what is not in it is an "input".
    `memory` is what one run may take, in MiB, as long as no run was measured.
    `launcher` is no part of `digest`: with another one the step need not run again.
    """

    mnemonic: str
    label: str
    arch: str = ""
    what: str = ""
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    key: Mapping[str, str] = field(default_factory=dict)
    command: tuple[tuple[str, ...], ...] = ()
    run: Callable[[Path], None] | None = None
    depfile: str = ""
    search: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    roles: Mapping[str, str] = field(default_factory=dict)
    memory: int = 0
    launcher: Launcher = NO_LAUNCHER

    @property
    def searches(self) -> tuple[tuple[str, ...], ...]:
        """The command lines that say where the step looks for headers."""
        return (*self.command, self.search)

    def components(self) -> dict[str, str]:
        """Return `key` with the command and the environment: all that the outputs depend on but the contents of files."""
        found = {**self.key, "command": _digest(self.command)} if self.command else dict(self.key)
        environment = sorted((name, value) for name, value in self.environment.items() if name not in _PLACES)
        return {**found, "environment": _digest(environment)} if environment else found

    def digest(self) -> str:
        """Return one digest of `components`, the names of the outputs and what kind of step it is."""
        return _digest([self.mnemonic, sorted(self.components().items()), self.outputs])


def needed(actions: Sequence[Action], outputs: Iterable[str]) -> tuple[Action, ...]:
    """Return those of `actions` that make `outputs` or what leads to them, in the order given."""
    makers = {output: action for action in actions for output in action.outputs}
    pending = [makers[output] for output in outputs]
    kept: set[str] = set()
    while pending:
        action = pending.pop()
        if action.outputs[0] not in kept:
            kept.add(action.outputs[0])
            pending += [makers[name] for name in action.inputs if name in makers]
    return tuple(action for action in actions if action.outputs[0] in kept)


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:40]
