"""Findings as workflow commands of GitHub Actions, which shows them beside the changed lines.

Source: https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands; the escapes are those of
https://github.com/actions/toolkit/blob/main/packages/core/src/command.ts.
"""

from __future__ import annotations

from collections.abc import Sequence

from skrules.findings import Finding, Severity
from skrules.report.sources import Sources

_COMMANDS = {Severity.BLOCKER: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}
_DATA = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"})


def render_github(findings: Sequence[Finding], sources: Sources) -> str:
    """Return a line for each finding; nothing that a message or a name holds can end it or begin another command."""
    return "".join(f"{_command(finding, sources)}\n" for finding in findings)


def _command(finding: Finding, sources: Sources) -> str:
    values = {"file": finding.at.file} if finding.at.file else {}
    if finding.at.line > 0:
        values["line"] = str(finding.at.line)
        column = sources.column(finding.at)
        if column > 0:
            values["col"] = str(column)
    values["title"] = finding.rule
    properties = ",".join(f"{name}={value.translate(_PROPERTY)}" for name, value in values.items())
    text = f"{finding.message}\n{finding.hint}" if finding.hint else finding.message
    return f"::{_COMMANDS[finding.severity]} {properties}::{text.translate(_DATA)}"
