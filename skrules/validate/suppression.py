"""Comments that allow what a rule forbids: `// skrules: allow(rule.id) why it is right here`.

A comment behind code is about its line; one on a line of its own is about the next line with code. A reason must stand
there: without one nothing is allowed.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from skrules.source.model import SourceUnit, Token, TokenKind
from skrules.source.tokens import tokenize_replacement

_COMMENT = re.compile(r"(?://+|/\*+)[ \t]*skrules:(?P<rest>.*)", re.DOTALL)
_ALLOW = re.compile(r"\s*allow\s*\((?P<rules>[^()]*)\)\s*:?(?P<reason>.*)", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Suppression:
    """`line` is the line of code that is meant, 0 for none; `offset` is that of the comment. `rules` is empty when the
    comment is not understood."""

    file: str
    offset: int
    line: int
    rules: tuple[str, ...]
    reason: str


def read_suppressions(unit: SourceUnit) -> tuple[Suppression, ...]:
    """Return the comments of a file that begin with `skrules:`, in order."""
    if "skrules:" not in unit.text:
        return ()
    own_lines = _lines_of_code(unit)
    in_order = sorted(own_lines)
    found = []
    for comment in _comments(unit.tokens):
        match = _COMMENT.match(comment.text)
        if match is None:
            continue
        allow = _ALLOW.fullmatch(match["rest"].removesuffix("*/"))
        names = tuple(name.strip() for name in allow["rules"].split(",")) if allow else ()
        line = unit.lines.position(comment.start)[0]
        following = bisect_right(in_order, unit.lines.position(comment.end - 1)[0])
        found.append(
            Suppression(
                file=unit.path,
                offset=comment.start,
                line=line if line in own_lines else (in_order[following] if following < len(in_order) else 0),
                rules=names if all(names) else (),
                reason=" ".join(allow["reason"].split()) if allow else "",
            )
        )
    return tuple(found)


def _comments(tokens: Sequence[Token]) -> Iterator[Token]:
    """Yield comments, also those at the end of a directive."""
    for token in tokens:
        if token.kind is TokenKind.COMMENT:
            yield token
        elif token.kind is TokenKind.DIRECTIVE and "skrules:" in token.text:
            inner = tokenize_replacement(token.text, 1, len(token.text))
            yield from (Token(each.kind, each.text, each.start + token.start) for each in inner if each.kind is TokenKind.COMMENT)


def _lines_of_code(unit: SourceUnit) -> set[int]:
    """Return the lines on which a token of code begins."""
    return {unit.lines.position(token.start)[0] for token in unit.code.tokens}
