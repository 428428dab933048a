"""A finding: one thing that is wrong or undecided at one place in the user's files."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from skrules.errors import Location


class Severity(enum.StrEnum):
    """How much a finding stops. A `blocker` ends that operator's build; the others do not."""

    BLOCKER = "blocker"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """`rule` is a public id such as `codegen.template-bind-target-required`; `hint` says what settles it."""

    rule: str
    severity: Severity
    at: Location
    message: str
    hint: str = ""

    def __str__(self) -> str:
        text = f"{self.severity}: {self.at}: {self.message} [{self.rule}]"
        return text + "".join(f"\n  {line}" for line in self.hint.splitlines())

    def to_json(self) -> dict[str, Any]:
        """Return the finding as plain data with stable keys."""
        return {
            "rule_id": self.rule,
            "severity": str(self.severity),
            "file": self.at.file,
            "line": self.at.line,
            "column": self.at.column,
            "message": self.message,
            "hint": self.hint,
        }


def blockers(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings that stop a build, in their order."""
    return tuple(finding for finding in findings if finding.severity is Severity.BLOCKER)
