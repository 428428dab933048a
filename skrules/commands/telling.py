"""How commands that adapt tell what they have found."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from skrules.engine.files import write_atomically
from skrules.errors import NeedsHuman, UsageError
from skrules.findings import Finding, Severity, blockers
from skrules.report import FORMATS, Report, render, write
from skrules.rules.generation import needs_human

_SOURCE = "operator-codegen"
_STAGE = "adapt"


def declare_findings(parser: argparse.ArgumentParser, where: str) -> None:
    """Declare `--format` and `--findings-output`; `where` says where findings go without the latter."""
    parser.add_argument("--format", choices=FORMATS, help="how findings are told (text)")
    parser.add_argument("--findings-output", type=Path, metavar="FILE", help=f"write findings to this file instead of {where}")


def tell(name: str, findings: Sequence[Finding], options: argparse.Namespace, stream: TextIO) -> int:
    """Tell all findings in the format that is asked for; return the exit status, which is that of NeedsHuman for a blocker.

    Without a format people are told on standard error: all findings when there is a blocker, else warnings. Raises NeedsHuman
    then, and UsageError for a file that cannot be written.
    """
    report = Report(source=_SOURCE, stage=_STAGE)
    if options.findings_output:
        text = render(findings, options.format or "text", report)
        try:
            write_atomically(options.findings_output, text.encode("utf-8", "backslashreplace"))
        except OSError as error:
            raise UsageError(f"cannot write {options.findings_output}: {error.strerror}") from error
    elif options.format:
        write(findings, options.format, stream, source=_SOURCE, stage=_STAGE)
        return NeedsHuman.exit_code if blockers(findings) else 0
    if blockers(findings):
        raise needs_human(name, findings)
    write([finding for finding in findings if finding.severity is Severity.WARNING], "text", sys.stderr)
    return 0
