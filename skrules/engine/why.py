"""Why a step has to run: what is different from what its outputs were last made from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from skrules.engine.action import Action
from skrules.engine.journal import Step

# A digest tells nobody anything; a version or a flag does.
_MAX_SHOWN = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """One difference. `kind` is the role of a file ("source", "header", "output") or of a part of the key ("compiler").

    `what` names the file or the part; `how` is "changed", "new", "gone" or a phrase such as "no record of an earlier run".
    `roots` are those of the step that makes the file, when that is why the file is different.
    """

    kind: str
    what: str
    how: str
    roots: tuple[str, ...] = ()

    def __str__(self) -> str:
        text = " ".join(word for word in (self.kind, self.what, self.how) if word)
        return f"{text} <- {', '.join(self.roots)}" if self.roots else text


NEVER_RUN = Cause(kind="", what="", how="no record of an earlier run")
INTERRUPTED = Cause(kind="", what="", how="the last run failed or was interrupted")


def traced(causes: Iterable[Cause], made: Mapping[str, Iterable[Cause]]) -> tuple[Cause, ...]:
    """Return `causes` with their roots; `made` has, for files that other steps made, the causes of those."""
    return tuple(replace(cause, roots=roots(made[cause.what])) if cause.what in made else cause for cause in causes)


def roots(causes: Iterable[Cause]) -> tuple[str, ...]:
    """Return what `causes` come from in the end, each once."""
    return tuple(dict.fromkeys(root for cause in causes for root in (cause.roots or (str(cause),))))


def differences(action: Action, step: Step, *, inputs: Mapping[str, str], found: Mapping[str, str]) -> Iterator[Cause]:
    """Yield what is different now. `inputs` are the digests of the declared inputs, `found` those of the other files that
    the step reads or would read now; "" stands for a missing file."""
    for path, digest in inputs.items():
        if step.inputs.get(path) != digest:
            yield Cause(kind=action.roles.get(path, "input"), what=path, how=_how(step.inputs.get(path), digest))
    for path in step.inputs:
        if path not in inputs:
            yield Cause(kind=action.roles.get(path, "input"), what=path, how="no longer used")
    for path, digest in found.items():
        if step.found.get(path) != digest:
            yield Cause(kind="header", what=path, how=_how(step.found.get(path), digest))
    now = action.components()
    parts = [name for name in dict.fromkeys([*now, *step.key]) if step.key.get(name) != now.get(name)]
    for name in parts:
        if name != "command" or parts == [name]:  # a flag or another compiler says it better
            kind, _, rest = name.partition(" ")
            yield Cause(kind=kind, what=rest, how=_values(step.key.get(name), now.get(name)))
    if tuple(step.outputs) != action.outputs + ((action.depfile,) if action.depfile else ()):
        yield Cause(kind="output", what="", how="names changed")


def _how(before: str | None, now: str) -> str:
    if not now:
        return "is gone"
    return "is new" if not before else "changed"


def _values(before: str | None, now: str | None) -> str:
    if before is None or now is None or max(len(before), len(now)) > _MAX_SHOWN or _is_digest(before) or _is_digest(now):
        return "changed"
    return f"changed: '{before}' -> '{now}'"


def _is_digest(text: str) -> bool:
    return len(text) >= 32 and all(char in "0123456789abcdef" for char in text)
