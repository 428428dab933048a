"""Tokens that mean something, with the bracket structure and the `#if` branch each of them stands in."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass

from skrules.findings import Finding, Severity
from skrules.source.code import INSIGNIFICANT, lines_of
from skrules.source.model import SourceUnit, Span, Token, TokenKind
from skrules.source.tokens import BRANCH_DIRECTIVES, IF_DIRECTIVES, directive_name, spelling

_CLOSING = {"(": ")", "[": "]", "{": "}"}
_OPENING = {")": "(", "]": "[", "}": "{"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """One branch of a conditional group: `group` is the offset of its `#if`, `index` counts branches from 0, and
    `lines` are the directives of the group from the `#if` to the one that opens the branch."""

    group: int
    index: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Structure:
    """`tokens` without blanks and comments; directives stay. All tuples are parallel to it.

    `texts` are the spellings, line splices taken out. `partner` is the index of the matching bracket or -1. `balanced` is
    false where a branch of an `#if` opens a bracket that it does not close, so that the structure depends on the condition.
    """

    tokens: tuple[Token, ...]
    texts: tuple[str, ...]
    partner: tuple[int, ...]
    branches: tuple[tuple[Branch, ...], ...]
    balanced: bool

    def text(self, index: int) -> str:
        """Return the text of a token, "" outside of the code."""
        return self.texts[index] if 0 <= index < len(self.texts) else ""

    def is_name(self, index: int) -> bool:
        return 0 <= index < len(self.tokens) and self.tokens[index].kind is TokenKind.IDENTIFIER

    def is_directive(self, index: int) -> bool:
        return self.tokens[index].kind is TokenKind.DIRECTIVE


def tokens_in(unit: SourceUnit, span: Span) -> tuple[Token, ...]:
    """Return the tokens that begin inside of `span`."""
    first = bisect_left(unit.tokens, span.start, key=lambda token: token.start)
    last = bisect_left(unit.tokens, span.end, key=lambda token: token.start)
    return unit.tokens[first:last]


def structure(tokens: Iterable[Token]) -> Structure:
    """Match brackets and conditional groups. Wrong input gives `balanced` false, never an error."""
    kept = tuple(token for token in tokens if token.kind not in INSIGNIFICANT)
    partner = [-1] * len(kept)
    branches: list[tuple[Branch, ...]] = []
    open_brackets: list[int] = []
    groups: list[tuple[Branch, list[int]]] = []
    around: tuple[Branch, ...] = ()
    balanced = True
    for index, token in enumerate(kept):
        name = directive_name(token.text) if token.kind is TokenKind.DIRECTIVE else ""
        if name in IF_DIRECTIVES:
            groups.append((Branch(group=token.start, index=0, lines=(token.text,)), list(open_brackets)))
        elif (name in BRANCH_DIRECTIVES or name == "endif") and groups:
            branch, saved = groups.pop()
            balanced = balanced and open_brackets == saved
            open_brackets = list(saved)
            if name != "endif":
                following = Branch(group=branch.group, index=branch.index + 1, lines=(*branch.lines, token.text))
                groups.append((following, saved))
        elif token.kind is TokenKind.PUNCTUATION:
            if token.text in _CLOSING:
                open_brackets.append(index)
            elif token.text in _OPENING:
                if open_brackets and kept[open_brackets[-1]].text == _OPENING[token.text]:
                    start = open_brackets.pop()
                    partner[start], partner[index] = index, start
                else:
                    balanced = False
        if name:
            around = tuple(branch for branch, _ in groups)
        branches.append(around)
    return Structure(
        tokens=kept,
        texts=tuple(spelling(token) for token in kept),
        partner=tuple(partner),
        branches=tuple(branches),
        balanced=balanced and not open_brackets and not groups,
    )


def exclusive(left: tuple[Branch, ...], right: tuple[Branch, ...]) -> bool:
    """Tell whether two places lie in different branches of one group, so that never both are compiled."""
    chosen = {branch.group: branch.index for branch in left}
    return any(chosen.get(branch.group, branch.index) != branch.index for branch in right)


def finding(
    unit: SourceUnit, offset: int, rule: str, message: str, *, severity: Severity = Severity.BLOCKER, hint: str = ""
) -> Finding:
    """Return a finding at an offset of the unit; in the expansion of a macro, at the use of the macro."""
    at = unit.stands_at or lines_of(unit.text, unit.path).at(offset)
    return Finding(rule=rule, severity=severity, at=at, message=message, hint=hint)
