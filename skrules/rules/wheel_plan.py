"""Which wheels a request makes, and of which operators."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from skrules.errors import Location, UsageError
from skrules.label import parse_pattern
from skrules.rules.declaration import Target
from skrules.rules.request import Request
from skrules.rules.workspace import Workspace, operators_of

# The label of the wheel that nobody declared. It belongs to no package, as other things that operators share.
DEFAULT_LABEL = "//skrules:wheel"


@dataclass(frozen=True, slots=True, kw_only=True)
class WheelPlan:
    """A wheel that is asked for. `target` is its declaration, or None for the one that nobody declared; `epoch` is the time
    that its files have, in seconds since 1970."""

    label: str
    target: Target | None
    operators: tuple[Target, ...]
    epoch: int

    @property
    def at(self) -> Location | None:
        return self.target.at if self.target else None


def plan_wheels(workspace: Workspace, request: Request, environ: Mapping[str, str]) -> tuple[WheelPlan, ...]:
    """Return the wheels that a request asks for: with the verb those of its labels, without it those that it names.

    A label that stands for operators too, such as `//ops/...`, asks for these. Raises UsageError for a name or version on
    the command line that no wheel, or more than one, can have.
    """
    declared = workspace.of_rule("wheel")
    if "wheel" not in request.verbs:
        declared = tuple(target for target in declared if _is_named(target, workspace, request))
    wanted: list[tuple[str, Target | None, tuple[Target, ...]]] = [
        (str(target.label), target, operators_of(target, workspace.targets)) for target in declared
    ]
    if not wanted and "wheel" in request.verbs:
        wanted = [(DEFAULT_LABEL, None, workspace.of_rule("operator"))]
    epoch = 0
    if wanted:
        from skrules.wheel.archive import read_epoch  # a build without a wheel needs nothing of them

        epoch = read_epoch(environ)
    plans = tuple(WheelPlan(label=label, target=target, operators=operators, epoch=epoch) for label, target, operators in wanted)
    given = {"WHEEL_NAME": request.wheel_name, "WHEEL_VERSION": request.wheel_version}
    for variable, value in given.items():
        if value and not plans:
            raise UsageError(f"{variable} is given, and no wheel is made", hint=f"scons wheel {variable}={value}")
    if request.wheel_name and len(plans) > 1:
        names = ", ".join(plan.label for plan in plans)
        raise UsageError(f"WHEEL_NAME is given for {len(plans)} wheels: {names}", hint="ask for one of them")
    return plans


def _is_named(target: Target, workspace: Workspace, request: Request) -> bool:
    for text in request.patterns:
        pattern = parse_pattern(text)
        if pattern.matches(target.label) and not pattern.recursive:
            others = [label for label, each in workspace.targets.items() if each.rule == "operator" and pattern.matches(label)]
            if not others:
                return True
    return False
