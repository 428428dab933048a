"""`remove-line-containing`: the lines that hold a text go."""

from __future__ import annotations

from skrules.findings import Fix
from skrules.remediate.kind import Refused, required
from skrules.source.code import code_of, lines_of
from skrules.source.model import Token, TokenKind
from skrules.source.tokens import BRANCH_DIRECTIVES, IF_DIRECTIVES, directive_name, tokenize

_NEEDS_IF = BRANCH_DIRECTIVES | {"endif"}


class RemoveLineContaining:
    """Removes lines with their ends, in code and comments alike.

    A line is not removed where what is left would mean something else: where a comment, a literal or a directive begins in
    one of the removed lines and ends behind it, or the other way round, and where brackets or `#if` no longer match.
    """

    name = "remove-line-containing"

    def apply(self, text: str, fix: Fix) -> str:
        wanted = required(fix.old_value, "missing_old_value")
        if "\n" in wanted or "\r" in wanted:
            raise Refused("invalid_text")
        if wanted not in text:
            return text
        removed = _removed(text, wanted)
        tokens = tokenize(text)
        if _cuts_a_token(tokens, removed):
            raise Refused("part_of_a_longer_token")
        kept, at = [], 0
        for start, end in removed:
            kept.append(text[at:start])
            at = end
        result = "".join([*kept, text[at:]])
        if _matches(tokens) and not _matches(tokenize(result)):
            raise Refused("brackets_would_not_match")
        return result


def _removed(text: str, wanted: str) -> list[tuple[int, int]]:
    """Return the ranges of the lines to remove; lines that follow one another are one range."""
    starts = lines_of(text, "").starts
    ranges: list[tuple[int, int]] = []
    for start, end in zip(starts, (*starts[1:], len(text)), strict=True):
        if wanted not in text[start:end]:
            continue
        if ranges and ranges[-1][1] == start:
            ranges[-1] = (ranges[-1][0], end)
        else:
            ranges.append((start, end))
    return ranges


def _matches(tokens: tuple[Token, ...]) -> bool:
    """Tell whether every bracket and every `#if` has its partner."""
    depth = 0
    for token in tokens:
        name = directive_name(token.text) if token.kind is TokenKind.DIRECTIVE else ""
        if depth == 0 and name in _NEEDS_IF:
            return False
        depth += (name in IF_DIRECTIVES) - (name == "endif")
    return depth == 0 and code_of(tokens).balanced


def _cuts_a_token(tokens: tuple[Token, ...], ranges: list[tuple[int, int]]) -> bool:
    """Tell whether an end of a range lies inside of a token that the range neither holds nor stands in the middle of."""
    remaining = iter(ranges)
    current = next(remaining, None)
    for token in tokens:
        while current is not None and current[1] <= token.start:
            current = next(remaining, None)
        if current is None:
            return False
        start, end = current
        if token.kind is TokenKind.BLANK or token.end <= start or (start <= token.start and token.end <= end):
            continue
        if not (token.start < start and end < token.end):
            return True
    return False
