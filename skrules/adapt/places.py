"""Places in a file: the tokens of a span, and what is said of an offset."""

from __future__ import annotations

from bisect import bisect_left

from skrules.findings import Finding, Severity
from skrules.source.model import SourceUnit, Span, Token


def tokens_in(unit: SourceUnit, span: Span) -> tuple[Token, ...]:
    """Return the tokens that begin inside of `span`."""
    first = bisect_left(unit.tokens, span.start, key=lambda token: token.start)
    last = bisect_left(unit.tokens, span.end, key=lambda token: token.start)
    return unit.tokens[first:last]


def finding(
    unit: SourceUnit, offset: int, rule: str, message: str, *, severity: Severity = Severity.BLOCKER, hint: str = ""
) -> Finding:
    """Return a finding at an offset of the unit; in the expansion of a macro, at the use of the macro."""
    at = unit.stands_at or unit.lines.at(offset)
    return Finding(rule=rule, severity=severity, at=at, message=message, hint=hint)
