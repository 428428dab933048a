"""The workspace of an SConstruct: reads the request, and builds what a manifest does not vouch for.

Most runs end here, before the rules and all that they import are needed.
"""

from __future__ import annotations

import atexit
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from SCons.Script import ARGLIST, COMMAND_LINE_TARGETS, AddOption, Environment, GetOption

from skrules.engine.lock import BuildLock
from skrules.engine.manifest import Freshness, Manifest, compare, load
from skrules.errors import BuildError, SkrulesError
from skrules.rules.request import (
    VARIABLES,
    VERBS,
    Request,
    assignments,
    from_folder,
    manifest_path,
    read_request,
    refuse_build_folder,
    request_key,
    state_folder,
)
from skrules.scons.output import open_closed_streams
from skrules.scons.summary import report_current

# The name of the files that declare packages, see `skrules.rules.declaration`.
_DECLARES = "SConscript"
# SCons' value of -D, whose default targets are those of the whole workspace.
_CLIMB_TO_ALL = 2


class Workspace:
    """All operators below `packages`, folders relative to the SConstruct. `validate` names the file with what the workspace
    decides about the rules of validation.

    Making one reads the command line, declares what it asks for and tells SCons to build that. Errors of the user end
    the run with their message and exit status.
    """

    def __init__(self, packages: Sequence[str] = ("ops",), validate: str = "") -> None:
        started = time.monotonic()
        open_closed_streams()
        _add_options()
        # Help() and the like, said without an environment, would look for every compiler that SCons knows.
        self._scons = Environment(tools=[])
        self._scons.Help(_help())
        if GetOption("help"):
            return
        try:
            self._build(packages, validate, started)
        except SkrulesError as error:
            sys.stderr.write(f"{error}\n")
            self._scons.Exit(error.exit_code)
        except OSError as error:  # a folder that may not be read or written, a full disk
            sys.stderr.write(f"error: {error.filename or 'the workspace'}: {error.strerror or error}\n")
            self._scons.Exit(BuildError.exit_code)

    def _build(self, packages: Sequence[str], validate: str, started: float) -> None:
        root = Path(self._scons.Dir("#").abspath)
        request = read_request(_words(root, Path(self._scons.GetLaunchDir())), assignments(ARGLIST))
        refuse_build_folder(root, packages, request.build)
        is_dry = bool(GetOption("no_exec") or GetOption("question"))
        lock = None if is_dry else BuildLock(state_folder(root, request.build) / "lock")
        since = _acquire(lock, request) if lock else 0
        if "fix" in request.verbs:
            from skrules.scons.fix import run_fix

            self._scons.Exit(run_fix(root, packages, request, validate))
        path = manifest_path(root, request.build, request_key(request, packages, os.environ))
        old, dirty = _known(root, path)
        if old is not None and not dirty:
            report_current(root, old, request.verbs, silent=GetOption("silent"))
            self._scons.Exit(0)
        from skrules.scons.build import Build

        note = lock.note if lock else None
        build = Build(root, packages, request, path, old, dirty, started, since, settings=validate, note_process=note)
        build.declare()


def _known(root: Path, path: Path) -> tuple[Manifest | None, frozenset[str]]:
    """Return the manifest of the request, when there is one to rely on, and the labels that must be looked at."""
    if GetOption("clean") or GetOption("no_fast_path"):
        return None, frozenset()
    old = load(path)
    fresh = compare(old, root, declares=_DECLARES) if old else Freshness(is_whole=False)
    return (old, fresh.dirty) if fresh.is_whole else (None, frozenset())


def _acquire(lock: BuildLock, request: Request) -> int:
    """Let one build at a time into the build folder, until the process ends; return the time by the file system's clock."""
    try:
        since = lock.acquire(lambda text: print(f"scons: {text}", file=sys.stderr, flush=True))
    except OSError as error:
        raise BuildError(
            f"the folder '{request.build}' cannot be written: {error.strerror}", hint="BUILD= names another one"
        ) from error
    atexit.register(lock.release)
    return since


def _add_options() -> None:
    AddOption(
        "--no-fast-path",
        dest="no_fast_path",
        action="store_true",
        default=False,
        help="Look at every step, whatever the last run left behind.",
    )
    AddOption(
        "--event-log",
        dest="event_log",
        type="string",
        nargs=1,
        action="store",
        metavar="FILE",
        default="",
        help="Write what the build does to FILE, one JSON object a line.",
    )


def _words(root: Path, launched: Path) -> tuple[str, ...]:
    """Return the words of the command line; with -u, -U and -D they are relative to the folder where scons was started."""
    climbed = GetOption("climb_up")
    started = launched.resolve()
    if not climbed or not started.is_relative_to(root.resolve()):
        return tuple(COMMAND_LINE_TARGETS)
    below = started.relative_to(root.resolve()).as_posix()
    return from_folder(COMMAND_LINE_TARGETS, below, everything=climbed == _CLIMB_TO_ALL)


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
    lines += ["", "Options, beside those of scons -H:"]
    lines += ["  --no-fast-path  look at every step, whatever the last run left behind"]
    lines += ["  --event-log=FILE  write what the build does to FILE, one JSON object a line"]
    return "\n".join([*lines, ""])


def generate(environment: Any) -> None:
    """Add `environment.SkWorkspace(...)`: what the SCons tool `skrules` calls."""
    environment.AddMethod(lambda _environment, **attributes: Workspace(**attributes), "SkWorkspace")
