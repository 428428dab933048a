"""From a request to the Actions that answer it, as SCons and the commands that explain a build need them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from skrules.arch_file import load_archs
from skrules.rules.archs import with_archs
from skrules.rules.context import Context, make_context
from skrules.rules.graph import Graph, make_graph
from skrules.rules.request import Request, refuse_build_folder
from skrules.rules.torch import usable_torch
from skrules.rules.wheel_plan import plan_wheels
from skrules.rules.workspace import Workspace, load_workspace
from skrules.toolchain.detect import select
from skrules.toolchain.launcher import find_launcher


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """`request` has the archs that are meant; `notes` are lines for the user: the toolchain, and what cannot be built."""

    request: Request
    workspace: Workspace
    context: Context
    graph: Graph
    notes: tuple[str, ...]


def open_workspace(
    root: Path,
    packages: Sequence[str],
    request: Request,
    environ: Mapping[str, str],
    interrupted: Callable[[], bool] = lambda: False,
    *,
    jobs: int = 0,
    settings: str = "",
) -> Opened:
    """Read the declarations that `request` needs, choose its toolchain, and compose its Actions. Nothing is built.

    `packages` are the folders of operators, relative to `root`; `jobs` is how many compilers a single step may run side by
    side, as many as there are cores when it is 0; `settings` is the file of what the workspace decides about rules, or "".
    Raises UsageError or ToolchainError.
    """
    refuse_build_folder(root, packages, request.build)
    workspace = load_workspace(root, packages, request.patterns)
    archs = load_archs()
    request = with_archs(request, environ, archs)
    toolchain = select(request.toolchain, environ, launcher=find_launcher(request.launcher, environ), jobs=jobs)
    torch, left_out = usable_torch(toolchain)
    context = make_context(
        root=root,
        build=request.build,
        archs=archs,
        toolchain=toolchain,
        torch=torch,
        interrupted=interrupted,
        settings=settings,
    )
    wheels = plan_wheels(workspace, request, environ)
    graph = make_graph(workspace, request, context, wheels)
    named = [f"archs: {', '.join(request.archs)} ({request.archs_named_by})"] if request.archs_named_by else []
    notes = (toolchain.summary, *named, *graph.notes, *([left_out] if left_out else []))
    return Opened(request=request, workspace=workspace, context=context, graph=graph, notes=notes)
