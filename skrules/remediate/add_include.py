"""`add-include`: a header is included, after the includes that are there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from skrules.findings import Fix
from skrules.remediate.kind import Refused, required
from skrules.source.includes import Include, includes_of
from skrules.source.model import Token, TokenKind
from skrules.source.tokens import IF_DIRECTIVES, directive_name, normalise, tokenize

_INCLUDE = re.compile(r'#include (?:"[^"\r\n]+"|<[^>\r\n]+>)\Z')
_GUARD = re.compile(r"#(?:ifndef |if ?! ?defined ?\(? ?)([A-Za-z_]\w*)")
_LINE_END = re.compile(r"\r\n?|\n")


class AddInclude:
    """Includes a header once, in a place where it is included whatever is defined.

    That is the line behind the last include, or group of conditional includes, before the first line of code; else behind
    `#pragma once` or the include guard; else behind the comment that the file begins with; else the first line.
    """

    name = "add-include"

    def apply(self, text: str, fix: Fix) -> str:
        wanted = required(fix.new_value, "missing_new_value").strip()
        tokens = tokenize(wanted)
        if len(tokens) != 1 or not _INCLUDE.match(normalise(wanted)):
            raise Refused("invalid_include")
        (include,) = includes_of(tokens)
        outline = _outline(tokenize(text))
        if include in outline.unconditional:
            return text
        newline = _newline(text)
        at = _line_after(text, outline.anchor) if outline.anchor else 0
        if at and text[at - 1] not in "\r\n":  # the last line has no end
            return f"{text}{newline}{wanted}{newline}"
        return f"{text[:at]}{wanted}{newline}{text[at:]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outline:
    """`unconditional` is what the file includes outside of `#if`, its guard apart; `anchor` the offset behind which a new
    include goes, on the next line, 0 for the first line."""

    unconditional: frozenset[Include]
    anchor: int


def _outline(tokens: Sequence[Token]) -> _Outline:
    significant = [token for token in tokens if token.kind not in (TokenKind.BLANK, TokenKind.COMMENT)]
    base = _guard(significant)
    found: list[Token] = []
    anchors = {"comment": _first_comment(tokens), "guard": significant[1].end if base else 0, "include": 0}
    depth, before_code, has_include = 0, True, False
    for token in significant:
        if token.kind is not TokenKind.DIRECTIVE:
            before_code = False
            continue
        name = directive_name(token.text)
        if name in IF_DIRECTIVES:
            has_include = has_include and depth > base
            depth += 1
        elif name == "endif":
            if depth == base + 1 and has_include and before_code:
                anchors["include"] = token.end
            depth = max(depth - 1, 0)
        elif name == "include" and depth > base:
            has_include = True
        elif name == "include" and depth == base:
            found.append(token)
            if before_code:
                anchors["include"] = token.end
        elif normalise(token.text) == "#pragma once" and before_code:
            anchors["guard"] = token.end
    anchor = anchors["include"] or anchors["guard"] or anchors["comment"]
    return _Outline(unconditional=frozenset(includes_of(found)), anchor=anchor)


def _guard(significant: Sequence[Token]) -> int:
    """Return 1 when the whole file stands in an include guard, else 0."""
    if len(significant) < 3 or any(token.kind is not TokenKind.DIRECTIVE for token in (*significant[:2], significant[-1])):
        return 0
    opens = _GUARD.match(normalise(significant[0].text))
    defines = normalise(significant[1].text).split()
    if not opens or defines[:2] != ["#define", opens[1]] or directive_name(significant[-1].text) != "endif":
        return 0
    depth = 0
    for token in significant[:-1]:
        name = directive_name(token.text) if token.kind is TokenKind.DIRECTIVE else ""
        depth += (name in IF_DIRECTIVES) - (name == "endif")
        if depth < 1 or (depth == 1 and name in ("else", "elif", "elifdef", "elifndef")):
            return 0
    return 1 if depth == 1 else 0


def _first_comment(tokens: Sequence[Token]) -> int:
    """Return where the comment ends that the file begins with, if a blank line follows: else it may speak of what follows."""
    end = 0
    for token in tokens:
        if token.kind is TokenKind.COMMENT:
            end = token.end
        elif token.kind is not TokenKind.BLANK:
            return 0
        elif end and len(_LINE_END.findall(token.text)) > 1:
            return end
    return end


def _line_after(text: str, offset: int) -> int:
    """Return where the line begins after the one of an offset."""
    match = _LINE_END.search(text, offset)
    return match.end() if match else len(text)


def _newline(text: str) -> str:
    """Return how most lines of a text end."""
    ends = [match.group() for match in _LINE_END.finditer(text)]
    return max(("\n", "\r\n", "\r"), key=ends.count)
