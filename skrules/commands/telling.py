"""How commands that adapt tell what they have found."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from skrules.commands.files import write_result
from skrules.errors import NeedsHuman
from skrules.findings import Finding, Severity, blockers
from skrules.report.formats import FORMATS, Report, render, write
from skrules.rules.generation import needs_human


def declare_findings(parser: argparse.ArgumentParser, where: str) -> None:
    """Declare `--format` and `--findings-output`; `where` says where findings go without the latter."""
    parser.add_argument("--format", choices=FORMATS, help="how findings are told (text)")
    parser.add_argument("--findings-output", type=Path, metavar="FILE", help=f"write findings to this file instead of {where}")


def tell(name: str, findings: Sequence[Finding], options: argparse.Namespace, stream: TextIO) -> int:
    """Tell all findings in the format that is asked for; return the exit status, which is that of NeedsHuman for a blocker.

    Without a format people are told on standard error: all findings when there is a blocker, else warnings. Raises NeedsHuman
    then, and UsageError for a file that cannot be written.
    """
    report = Report(source="operator-codegen", stage="adapt")
    if options.findings_output:
        text = render(findings, options.format or "text", report)
        write_result(text.encode("utf-8", "backslashreplace"), options.findings_output, ())
    elif options.format:
        write(findings, options.format, report, stream)
        return NeedsHuman.exit_code if blockers(findings) else 0
    if blockers(findings):
        raise needs_human(name, findings)
    write([finding for finding in findings if finding.severity is Severity.WARNING], "text", report, sys.stderr)
    return 0
