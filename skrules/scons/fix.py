"""The verb `fix`: no steps, but edits in sources, while no build looks at them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from SCons.Script import GetOption

from skrules.errors import BuildError, UsageError
from skrules.remediate.difference import unified
from skrules.remediate.remediation import Status
from skrules.remediate.summary import summary
from skrules.rules.fix import fix_sources
from skrules.rules.request import Request
from skrules.rules.workspace import load_workspace


def run_fix(root: Path, packages: Sequence[str], request: Request, settings: str) -> int:
    """Make the edits, or show them under `-n`, and return the exit status; under `-q` it is 1 where there is something to do.

    `settings` is the file with what the workspace decides about rules, or "". Raises UsageError for a request that asks for
    more than edits.
    """
    if request.verbs != ("fix",) or request.files or GetOption("clean"):
        raise UsageError("fix stands alone: it edits sources, and builds nothing", hint="scons fix [LABEL ...]")
    asks = bool(GetOption("question"))
    dry_run = asks or bool(GetOption("no_exec"))
    outcome = fix_sources(load_workspace(root, packages, request.patterns), settings=settings, dry_run=dry_run)
    if dry_run and not asks:
        sys.stdout.flush()
        sys.stdout.buffer.write(unified(outcome.changes))
        sys.stdout.buffer.flush()
    failed = bool(outcome.count(Status.FAILED))
    if failed or not GetOption("silent"):
        (sys.stderr if failed or dry_run else sys.stdout).write(summary(outcome, dry_run=dry_run))
    return BuildError.exit_code if failed or (asks and outcome.changes) else 0
