"""Macros of one file: their definitions, and exact expansion of one use where that is possible."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from skrules.source.code import Code, code_of
from skrules.source.model import Span, Token, TokenKind
from skrules.source.tokens import tokenize, tokenize_replacement

_HEAD = re.compile(r"#(?:\s|\\|/\*(?s:.*?)\*/)*+define(?:\s|\\\s|/\*(?s:.*?)\*/)++")


@dataclass(frozen=True, slots=True)
class Macro:
    """`parameters` is None for an object-like macro; a variadic one has "..." (or "name...") last.

    `code` is the replacement list with the offsets of the file; `span` the whole directive.
    """

    name: str
    parameters: tuple[str, ...] | None
    code: Code
    span: Span


@dataclass(slots=True)
class Budget:
    """How many macro uses may still be expanded for one declaration: macros that use macros can grow without bounds."""

    left: int = 64

    def spend(self) -> bool:
        """Take one use; False when none is left."""
        self.left -= 1
        return self.left >= 0


def read_macro(directive: Token) -> Macro | None:
    """Return the macro that a `#define` directive defines, or None for another directive or a malformed one."""
    head = _HEAD.match(directive.text)
    if head is None:
        return None
    # The offsets of the tokens are those in the directive until the end, where they become those in the file.
    tokens = tokenize_replacement(directive.text, head.end(), len(directive.text))
    if not tokens or tokens[0].kind is not TokenKind.IDENTIFIER:
        return None
    parameters: tuple[str, ...] | None = None
    rest = 1
    if len(tokens) > 1 and tokens[1].text == "(":
        closing = next((index for index, token in enumerate(tokens) if token.text == ")"), None)
        if closing is None:
            return None
        listed = code_of(tokens[2:closing])
        parameters = tuple("".join(listed.texts).split(",")) if len(listed) else ()
        rest = closing + 1
    moved = (Token(token.kind, token.text, token.start + directive.start) for token in tokens[rest:])
    return Macro(tokens[0].text, parameters, code_of(moved), Span(start=directive.start, end=directive.end))


def macros_of(tokens: Iterable[Token]) -> dict[str, tuple[Macro, ...]]:
    """Return all definitions by name, in file order; a macro that is defined twice under `#if` has two."""
    found: dict[str, list[Macro]] = {}
    for token in tokens:
        if token.kind is TokenKind.DIRECTIVE and "define" in token.text:
            macro = read_macro(token)
            if macro is not None:
                found.setdefault(macro.name, []).append(macro)
    return {name: tuple(macros) for name, macros in found.items()}


def arguments_at(code: Code, index: int) -> list[tuple[int, int]] | None:
    """Return the argument ranges of the macro use whose name is at `index`, or None if no `(...)` follows."""
    closing = code.pairs.get(index + 1)
    if code.text(index + 1) != "(" or closing is None:
        return None
    ranges: list[tuple[int, int]] = []
    begin = position = index + 2
    while position < closing:
        text = code.texts[position]
        if text == "(":
            position = code.pairs.get(position, position)
        elif text == ",":
            ranges.append((begin, position))
            begin = position + 1
        position += 1
    return [*ranges, (begin, closing)]


def expansion_text(macro: Macro, code: Code, index: int) -> str | None:
    """Return the replacement list of `macro` for its use at `index` of `code`, as text on one line.

    Arguments are put in as they are written; macros inside of them or of the result are left as they are. None when the
    use does not fit the definition, or when it needs `#` (stringification) or variadic arguments.
    """
    values: dict[str, list[str]] = {}
    if macro.parameters is not None:
        ranges = arguments_at(code, index)
        if ranges is None or any("..." in name for name in macro.parameters):
            return None
        if not macro.parameters and len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
            ranges = []
        if len(ranges) != len(macro.parameters):
            return None
        values = {name: list(code.texts[first:after]) for name, (first, after) in zip(macro.parameters, ranges, strict=True)}
    pieces: list[str] = []
    paste = False
    for position, text in enumerate(macro.code.texts):
        if text == "##":
            paste = True
            continue
        if text == "#" and macro.parameters is not None:
            return None
        replaced = values.get(text, [text]) if macro.code.kind(position) is TokenKind.IDENTIFIER else [text]
        if paste and pieces and replaced:
            pieces[-1] += replaced[0]
            replaced = replaced[1:]
        paste = False
        pieces += replaced
    return " ".join(pieces)


def expand(macro: Macro, code: Code, index: int) -> Code | None:
    """Return the expansion of the use at `index` as code of its own, whose offsets mean nothing in the file."""
    text = expansion_text(macro, code, index)
    return None if text is None else code_of(tokenize(text))
