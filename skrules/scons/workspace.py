"""The workspace of an SConstruct: reads the request, declares its Actions as SCons nodes, reports at the end."""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from SCons.Script import (
    ARGLIST,
    BUILD_TARGETS,
    COMMAND_LINE_TARGETS,
    DefaultEnvironment,
    Dir,
    Environment,
    Exit,
    File,
    GetLaunchDir,
    GetOption,
    Help,
    SConsignFile,
    SetOption,
)

from skrules import resources
from skrules.arch import load_archs
from skrules.errors import BuildError, SkrulesError, UsageError
from skrules.rules.context import make_context
from skrules.rules.graph import Graph, make_graph
from skrules.rules.request import VARIABLES, VERBS, Request, assignments, from_folder, read_request
from skrules.rules.torch import usable_torch
from skrules.rules.workspace import load_workspace, refuse_build_folder
from skrules.scons.builders import Runner
from skrules.scons.interruption import Interruption
from skrules.scons.summary import summarise
from skrules.toolchain.detect import select

# SCons' value of -D, whose default targets are those of the whole workspace.
_CLIMB_TO_ALL = 2


class Workspace:
    """All operators below `packages`, folders relative to the SConstruct.

    Making one reads the command line, declares what it asks for and tells SCons to build that. Errors of the user end
    the run with their message and exit status.
    """

    def __init__(self, packages: Sequence[str] = ("ops",)) -> None:
        Help(_help())
        if GetOption("help"):
            return
        try:
            self._declare(packages)
        except SkrulesError as error:
            sys.stderr.write(f"{error}\n")
            Exit(error.exit_code)
        except OSError as error:  # a folder that may not be read or written, a full disk
            sys.stderr.write(f"error: {error.filename or 'the workspace'}: {error.strerror or error}\n")
            Exit(BuildError.exit_code)

    def _declare(self, packages: Sequence[str]) -> None:
        root = Path(Dir("#").abspath)
        request = read_request(_words(root), assignments(ARGLIST))
        refuse_build_folder(root, packages, request.build)
        workspace = load_workspace(root, packages, request.patterns)
        archs = load_archs(resources.toolchains() / "ascend.yaml")
        toolchain = select(request.toolchain, os.environ)
        torch, left_out = usable_torch(toolchain)
        context = make_context(
            root=root, build=request.build, archs=archs, toolchain=toolchain, torch=torch, interrupted=Interruption().happened
        )
        graph = make_graph(workspace, request, context)

        SetOption("num_jobs", os.cpu_count() or 1)
        DefaultEnvironment(tools=[])
        runner = Runner(root, verbose=request.verbose)
        environment = Environment(tools=[], ENV={}, BUILDERS={"SkrulesAction": runner.builder()})
        environment.Decider("content")
        if not GetOption("no_exec"):
            (root / request.build).mkdir(parents=True, exist_ok=True)
        if (root / request.build).is_dir():
            if not GetOption("no_exec") and not os.access(root / request.build, os.W_OK | os.X_OK):
                # SCons would find out when it has built everything, and lose all signatures.
                raise BuildError(f"the folder '{request.build}' cannot be written", hint="BUILD= names another one")
            SConsignFile(str(root / request.build / ".sconsign"))
        else:
            SConsignFile(None)
        for action in graph.actions:
            runner.declare(environment, action)

        if GetOption("clean") and not (request.patterns or request.files or request.archs):
            # With the results of operators that are no longer declared.
            environment.Clean(File(f"#{_wanted(request, graph)[0]}"), Dir(f"#{context.build}"))
        # Nodes, since SCons takes names as relative to where it was started.
        BUILD_TARGETS[:] = [File(f"#{name}") for name in _wanted(request, graph)]
        if not GetOption("clean"):
            notes = [toolchain.summary, *graph.notes]
            if left_out:
                notes.append(left_out)
            sys.stdout.write("".join(f"{note}\n" for note in notes))
            sys.stdout.flush()
            if GetOption("no_exec"):
                return
            atexit.register(summarise, root=root, graph=graph, runner=runner, compare="compare" in request.verbs)


def _words(root: Path) -> tuple[str, ...]:
    """Return the words of the command line; with -u, -U and -D they are relative to the folder where scons was started."""
    climbed = GetOption("climb_up")
    started = Path(GetLaunchDir()).resolve()
    if not climbed or not started.is_relative_to(root.resolve()):
        return tuple(COMMAND_LINE_TARGETS)
    below = started.relative_to(root.resolve()).as_posix()
    return from_folder(COMMAND_LINE_TARGETS, below, everything=climbed == _CLIMB_TO_ALL)


def _wanted(request: Request, graph: Graph) -> list[str]:
    if GetOption("clean"):
        return [output for action in graph.actions for output in action.outputs]
    if request.files:
        known = {output for action in graph.actions for output in action.outputs}
        for name in request.files:
            if name not in known:
                raise UsageError(f"nothing builds '{name}'")
        return list(request.files)
    if "compare" in request.verbs:
        without = [str(operator.label) for operator in graph.operators if not operator.compare]
        if without:
            raise UsageError(f"{', '.join(without)} has no cases to compare", hint="add cases='cases.yaml' to operator()")
        return [compare.verdict for operator in graph.operators for compare in operator.compare]
    return [output for operator in graph.operators for output in operator.build.results]


def _help() -> str:
    lines = [
        "",
        "  scons [VERB] [LABEL ...] [NAME=VALUE ...]",
        "",
        "Labels: ops/add_custom, //ops/..., none for all operators.",
        "",
        "Verbs:",
    ]
    lines += [f"  {name:<12}{doc}" for name, doc in {"": "build the operators", **VERBS}.items()]
    lines += ["", "Variables:"]
    lines += [f"  {variable.name + '=' + variable.default:<16}{variable.doc}" for variable in VARIABLES]
    return "\n".join([*lines, ""])


def generate(environment: Any) -> None:
    """Add `environment.SkWorkspace(...)`: what the SCons tool `skrules` calls."""
    environment.AddMethod(lambda _environment, **attributes: Workspace(**attributes), "SkWorkspace")
