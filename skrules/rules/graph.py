"""The Actions of a request: composes the rules of all requested targets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from skrules.engine.action import Action
from skrules.errors import ToolchainError, UsageError
from skrules.label import Label
from skrules.rules.compare import Backend, CompareActions, compare_actions, find_backend, program_actions
from skrules.rules.context import Context
from skrules.rules.declaration import Target
from skrules.rules.operator import OperatorActions, operator_actions, runtime_actions
from skrules.rules.request import Request
from skrules.rules.validate import validation_action
from skrules.rules.wheel_plan import WheelPlan
from skrules.rules.workspace import Workspace

if TYPE_CHECKING:  # few builds make wheels
    from skrules.rules.wheel import WheelActions


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorGraph:
    """The Actions of one operator. `archs` are those that were asked for and that it declares; `validation` is there when the
    request is for it: a build asks the rules in its codegen step."""

    label: Label
    archs: tuple[str, ...]
    build: OperatorActions
    compare: tuple[CompareActions, ...]
    validation: Action | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """`actions` in an order in which inputs come before what uses them; `notes` are lines for the user."""

    actions: tuple[Action, ...]
    operators: tuple[OperatorGraph, ...]
    notes: tuple[str, ...]
    wheels: tuple[WheelActions, ...] = ()


def make_graph(workspace: Workspace, request: Request, context: Context, plans: Sequence[WheelPlan] = ()) -> Graph:
    """Compose the Actions of every requested operator, and of the wheels `plans`.

    Raises UsageError or ToolchainError when nothing can be built.
    """
    named = {target.label: target for target in workspace.of_rule("operator")}
    named |= {target.label: target for plan in plans for target in plan.operators}
    operators = [named[label] for label in sorted(named)]
    if not operators:
        if workspace.requested:
            names = ", ".join(str(target.label) for target in workspace.requested)
            raise UsageError(f"nothing to build: {names} declares no operator", hint="ask for the operators that use it")
        raise UsageError("the workspace has no operator", hint="declare one with operator(name=...) in an SConscript")
    notes: list[str] = []
    chosen = {target.label: _archs_of(target, request.archs, context, notes) for target in operators}
    if not any(chosen.values()):
        declared = sorted({name for target in operators for name in target.strings("archs")})
        where = f" ({request.archs_named_by})" if request.archs_named_by else ""
        raise UsageError(f"no requested operator declares {', '.join(request.archs)}{where}", allowed=declared)
    archs = tuple(dict.fromkeys(name for names in chosen.values() for name in names))
    shared = [*runtime_actions(archs, context), *program_actions(archs, context)]
    backend = find_backend(request.backend, context)
    graphs = [_graph_of(target, chosen[target.label], context, backend) for target in operators if chosen[target.label]]
    actions = [*shared]
    if "validate" in request.verbs:
        graphs = [
            replace(graph, validation=validation_action(named[graph.label], graph.build.generated, context)) for graph in graphs
        ]
    for graph in graphs:
        actions += [*graph.build.actions, *([graph.validation] if graph.validation else [])]
        for compare in graph.compare:
            actions += compare.actions
    wheels = _wheels_of(plans, graphs, request, context) if plans else ()
    actions += [wheel.action for wheel in wheels]
    return Graph(actions=tuple(actions), operators=tuple(graphs), notes=tuple(notes), wheels=wheels)


def _graph_of(target: Target, archs: Sequence[str], context: Context, backend: Backend) -> OperatorGraph:
    build = operator_actions(target, archs, context)
    compare = tuple(compare_actions(target, arch, build, context, backend) for arch in archs) if target.file("cases") else ()
    return OperatorGraph(label=target.label, archs=tuple(archs), build=build, compare=compare)


def _wheels_of(
    plans: Sequence[WheelPlan], graphs: Sequence[OperatorGraph], request: Request, context: Context
) -> tuple[WheelActions, ...]:
    from skrules.rules.wheel import Member, wheel_actions

    members = {graph.label: Member(label=graph.label, archs=graph.archs, build=graph.build) for graph in graphs}
    return wheel_actions(plans, members, request, context)


def _declared_archs(target: Target, context: Context) -> tuple[str, ...]:
    names = []
    for written in target.strings("archs"):
        try:
            name = context.archs.arch(written).name
        except ToolchainError as error:
            raise ToolchainError(error.message, at=target.at, allowed=error.allowed, hint=error.hint) from error
        if name in names:
            raise UsageError(f"archs lists {name} twice", at=target.at)
        names.append(name)
    if not names:
        raise UsageError("archs is empty", at=target.at, hint="an operator without archs is never built")
    return tuple(names)


def _archs_of(target: Target, wanted: Sequence[str], context: Context, notes: list[str]) -> tuple[str, ...]:
    declared = _declared_archs(target, context)
    if not wanted:
        return declared
    missing = [name for name in wanted if name not in declared]
    if missing:
        notes.append(f"{target.label} is not built for {', '.join(missing)}: it declares {', '.join(declared)}")
    return tuple(name for name in declared if name in wanted)
