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
class Fix:
    """An edit that settles a finding and that `skrules apply-remediation` can make.

    `kind` is one of `rename-symbol`, `remove-line-containing`, `add-include`, `replace-pattern`; `file` stands relative to
    the tree that was looked at, with `/`. `digest` is the SHA-256 of the file's bytes as they were when the finding was
    made, in hex: a file that has changed since is not edited. Without it nothing is compared.
    """

    kind: str
    file: str
    old_value: str = ""
    new_value: str = ""
    digest: str = ""

    def to_json(self) -> dict[str, str]:
        """Return the fix as a published `remediation_hint`: what is empty is left out."""
        data = {"kind": self.kind, "target_file": self.file, "old_value": self.old_value, "new_value": self.new_value}
        return {name: value for name, value in (data | {"digest": self.digest}).items() if value}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """`rule` is a public id such as `codegen.template-bind-target-required`; `hint` says what settles it."""

    rule: str
    severity: Severity
    at: Location
    message: str
    hint: str = ""
    fix: Fix | None = None

    def __str__(self) -> str:
        text = f"{self.severity}: {self.at}: {self.message} [{self.rule}]"
        return text + "".join(f"\n  {line}" for line in self.hint.splitlines())

    def to_json(self) -> dict[str, Any]:
        """Return the finding as plain data with stable keys; `fix` only where there is one."""
        data: dict[str, Any] = {
            "rule_id": self.rule,
            "severity": str(self.severity),
            "file": self.at.file,
            "line": self.at.line,
            "column": self.at.column,
            "message": self.message,
            "hint": self.hint,
        }
        return data | ({"fix": self.fix.to_json()} if self.fix else {})


def blockers(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings that stop a build, in their order."""
    return tuple(finding for finding in findings if finding.severity is Severity.BLOCKER)
