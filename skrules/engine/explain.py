"""Why steps would run now, and why they last did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skrules.engine.action import Action
from skrules.engine.journal import Step
from skrules.engine.runner import StepRunner
from skrules.engine.why import Cause, roots, traced

CURRENT, WOULD_RUN, MAY_RUN = "current", "would run", "would run if its inputs change"


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """`causes` are why the step would run; `last` is the last time it ended well, or None."""

    action: Action
    state: str
    causes: tuple[Cause, ...]
    last: Step | None


def explain(actions: Sequence[Action], runner: StepRunner) -> list[Explained]:
    """Tell of each Action, in an order in which inputs come before what uses them, what a build would do about it.

    Whether a step changes what it makes is known only when it has run: what uses that may have to run.
    """
    made: dict[str, tuple[Cause, ...]] = {}
    found = []
    for action in actions:
        own = traced(runner.causes(action), made)
        told = {cause.what for cause in own}
        awaited = [
            Cause(kind=action.roles.get(path, "input"), what=path, how="may change", roots=roots(made[path]))
            for path in action.inputs
            if path in made and path not in told
        ]
        causes = (*own, *awaited)
        state = (WOULD_RUN if own else MAY_RUN) if causes else CURRENT
        if causes:
            made.update(dict.fromkeys(action.outputs, causes))
        last = runner.journal.last(action.label, action.outputs[0])
        found.append(Explained(action=action, state=state, causes=causes, last=last))
    return found
