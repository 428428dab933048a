"""The Actions of a request: composes the rules of all requested targets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skrules.engine.action import Action
from skrules.errors import ToolchainError, UsageError
from skrules.label import Label
from skrules.rules.compare import CompareActions, compare_actions, program_actions
from skrules.rules.context import Context
from skrules.rules.declaration import Target
from skrules.rules.operator import OperatorActions, operator_actions, runtime_actions
from skrules.rules.request import Request
from skrules.rules.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorGraph:
    """The Actions of one operator. `archs` are those that were asked for and that it declares."""

    label: Label
    archs: tuple[str, ...]
    build: OperatorActions
    compare: tuple[CompareActions, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """`actions` in an order in which inputs come before what uses them; `notes` are lines for the user."""

    actions: tuple[Action, ...]
    operators: tuple[OperatorGraph, ...]
    notes: tuple[str, ...]


def make_graph(workspace: Workspace, request: Request, context: Context) -> Graph:
    """Compose the Actions of every requested operator. Raises UsageError or ToolchainError when nothing can be built."""
    operators = workspace.of_rule("operator")
    if not operators:
        if workspace.requested:
            names = ", ".join(str(target.label) for target in workspace.requested)
            raise UsageError(f"nothing to build: {names} declares no operator", hint="ask for the operators that use it")
        raise UsageError("the workspace has no operator", hint="declare one with operator(name=...) in an SConscript")
    wanted = tuple(context.archs.arch(name).name for name in request.archs)
    notes: list[str] = []
    chosen = {target.label: _archs_of(target, wanted, context, notes) for target in operators}
    if not any(chosen.values()):
        declared = sorted({name for target in operators for name in target.strings("archs")})
        raise UsageError(f"no requested operator declares {', '.join(wanted)}", allowed=declared)
    archs = tuple(dict.fromkeys(name for names in chosen.values() for name in names))
    shared = [*runtime_actions(archs, context), *program_actions(archs, context)]
    graphs = [_graph_of(target, chosen[target.label], context) for target in operators if chosen[target.label]]
    actions = [*shared]
    for graph in graphs:
        actions += graph.build.actions
        for compare in graph.compare:
            actions += compare.actions
    return Graph(actions=tuple(actions), operators=tuple(graphs), notes=tuple(notes))


def _graph_of(target: Target, archs: Sequence[str], context: Context) -> OperatorGraph:
    build = operator_actions(target, archs, context)
    compare = tuple(compare_actions(target, arch, build, context) for arch in archs) if target.file("cases") else ()
    return OperatorGraph(label=target.label, archs=tuple(archs), build=build, compare=compare)


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
