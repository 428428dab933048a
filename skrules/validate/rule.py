"""A rule: one thing that must be true of an operator's files, where that is known from, and how to look."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from skrules.errors import Location
from skrules.findings import Finding, Fix, Severity
from skrules.validate.subject import Subject

CATEGORIES = ("spec", "compat", "contract", "sk")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """`severity` is that of its findings as long as a workspace says nothing else; `title` is one line, `explanation` says
    why it matters, `source` is the public document that the fact was read from.

    `bad` and `good` are whole files (C++, or JSON for a document): the first has exactly what the rule is about, the second
    has it right.
    """

    id: str
    severity: Severity
    category: str
    title: str
    explanation: str
    source: str
    bad: str
    good: str
    check: Callable[[Subject], Iterable[Finding]]

    def finding(self, at: Location, message: str, hint: str = "", fix: Fix | None = None) -> Finding:
        """Return a finding of this rule."""
        return Finding(rule=self.id, severity=self.severity, at=at, message=message, hint=hint, fix=fix)
