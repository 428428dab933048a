"""The Action record: one step of a build, as plain data.

Everything that schedules, explains or tests the build reads these records; nothing here knows what an operator is.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

# Where things are kept, never what comes out: another shell or login must not build everything again.
_PLACES = frozenset({"HOME", "TMPDIR", "SKRULES_CACHE", "XDG_CACHE_HOME"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One step: `inputs` -> `outputs`.

    Paths are relative to the workspace, with `/`. `key` names every other thing the result depends on (flags, compiler
    identity, digest of the generator's code, ...), so that two equal keys with equal inputs give equal outputs.
    Exactly one of `command` and `run` is set: `command` is a sequence of argument vectors run one after the other from
    the workspace root; `run` is called with the workspace root.
    `depfile` is a Makefile-style dependency file that the command writes beside its first output.
    `label` and `arch` say for whom the step is done; `what` is the short text of the progress line.
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
    environment: Mapping[str, str] = field(default_factory=dict)

    def digest(self) -> str:
        """Return the digest of everything but the contents of `inputs`: command, environment and key."""
        environment = sorted((name, value) for name, value in self.environment.items() if name not in _PLACES)
        data = [self.mnemonic, self.command, environment, sorted(self.key.items()), self.outputs]
        return hashlib.sha256(json.dumps(data).encode()).hexdigest()
