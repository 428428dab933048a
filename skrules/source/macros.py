"""Macros of one file: their definitions, and exact expansion of one use where that is possible."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from skrules.source.code import Code, code_of
from skrules.source.model import SourceUnit, Span, Token, TokenKind
from skrules.source.tokens import tokenize, tokenize_replacement

_HEAD = re.compile(r"#(?:\s|\\|/\*(?s:.*?)\*/)*+define(?:\s|\\\s|/\*(?s:.*?)\*/)++")
_UNDEF_HEAD = re.compile(r"#(?:\s|\\|/\*(?s:.*?)\*/)*+undef(?:\s|\\\s|/\*(?s:.*?)\*/)++")


@dataclass(frozen=True, slots=True)
class Macro:
    """`parameters` is None for an object-like macro; a variadic one has "..." (or "name...") last.

    `code` is the replacement list with the offsets of the file that defines the macro; `span` the whole directive. `origin`
    is that file when it is a header of the file being read.
    """

    name: str
    parameters: tuple[str, ...] | None
    code: Code
    span: Span
    origin: SourceUnit | None = field(default=None, compare=False, repr=False)


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


def undefined_name(directive: Token) -> Macro | None:
    """Return the name that an `#undef` directive takes a meaning from, as a macro that stands for itself; else None."""
    head = _UNDEF_HEAD.match(directive.text)
    tokens = tokenize_replacement(directive.text, head.end(), len(directive.text)) if head else ()
    if not tokens or tokens[0].kind is not TokenKind.IDENTIFIER:
        return None
    name = Token(TokenKind.IDENTIFIER, tokens[0].text, tokens[0].start + directive.start)
    return Macro(name.text, None, code_of([name]), Span(start=directive.start, end=directive.end))


def ambiguity(macros: Sequence[Macro]) -> str:
    """Say of a macro with several definitions that it has more than one meaning, and where."""
    headers = [
        f"{macro.origin.path}:{macro.origin.lines.position(macro.span.start)[0]}" for macro in macros if macro.origin is not None
    ]
    if not headers:
        return "has more than one meaning in this file"
    own = ["in this file"] if len(headers) < len(macros) else []
    return f"has more than one meaning: {', '.join([*own, *headers])}"


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


def expansion_text(macro: Macro, code: Code, index: int, layout: str = "") -> str | None:
    """Return the replacement list of `macro` for its use at `index` of `code`, as text.

    Arguments are put in as they are written; macros inside of them or of the result are left as they are. None when the
    use does not fit the definition. `layout` is the text of the file that defines the macro: its lines are kept then, and
    one line is made of all otherwise.
    """
    values = _arguments(macro, code, index)
    if values is None:
        return None
    pieces: list[str] = []
    paste = False
    last = -1  # the token of the replacement list that came before
    position = 0
    while position < len(macro.code):
        text = macro.code.texts[position]
        if text == "##":
            paste = bool(pieces)
            position += 1
            continue
        first = position
        if text == "#" and macro.parameters is not None:
            position += 1
            if macro.code.text(position) not in values:
                return None
            replaced = [_string_of(values[macro.code.texts[position]])]
        else:
            is_word = macro.code.is_identifier(position)
            replaced = values.get(text, [text]) if is_word else [text]
        if paste and text == "__VA_ARGS__" and pieces and pieces[-1].endswith(","):
            if not replaced:
                pieces[-1] = pieces[-1][:-1]  # as GCC has it: no arguments take the comma before them away
        elif paste and replaced:
            pieces[-1] += replaced[0]
            replaced = replaced[1:]
        if replaced:
            text = " ".join(replaced)
            gap = _gap(macro.code, last, first, layout) if pieces else ""
            pieces.append(text if not gap or (gap == "|" and not _merge(pieces[-1], text)) else gap.replace("|", " ") + text)
        paste = False
        last = position
        position += 1
    return "".join(pieces)


def _arguments(macro: Macro, code: Code, index: int) -> dict[str, list[str]] | None:
    """Return the tokens that stand for each parameter in the use at `index`, or None if it does not fit."""
    if macro.parameters is None:
        return {}
    ranges = arguments_at(code, index)
    if ranges is None:
        return None
    names = list(macro.parameters)
    if len(ranges) == 1 and ranges[0][0] == ranges[0][1] and (not names or names == ["..."]):
        ranges = []
    values: dict[str, list[str]] = {}
    if names and names[-1].endswith("..."):
        rest = names.pop().removesuffix("...") or "__VA_ARGS__"
        variable = ranges[len(names) :]
        values[rest] = list(code.texts[variable[0][0] : variable[-1][1]]) if variable else []
        ranges = ranges[: len(names)]
    if len(ranges) != len(names):
        return None
    return values | {name: list(code.texts[first:after]) for name, (first, after) in zip(names, ranges, strict=True)}


def _string_of(texts: list[str]) -> str:
    escaped = (text.replace("\\", "\\\\").replace('"', '\\"') if text[-1:] in "\"'" else text for text in texts)
    return '"' + " ".join(escaped) + '"'


def _gap(code: Code, before: int, after: int, layout: str) -> str:
    """Return what separates two tokens of a replacement list: a line end with its indentation where `layout` has one, a
    blank, or "|" for nothing."""
    if not layout or before < 0:
        return " "
    blank = layout[code.tokens[before].end : code.tokens[after].start]
    lines = re.split(r"\r\n?|\n", blank)
    if len(lines) > 1:
        return "\n" + (lines[-1] if not lines[-1].strip() else "")
    return " " if blank else "|"


def _merge(left: str, right: str) -> bool:
    """Tell whether two texts that touch could become one token."""
    ends = left[-1:] + right[:1]
    return all(char.isalnum() or char == "_" for char in ends) or not any(
        char.isalnum() or char in "_()[]{},; \n" for char in ends
    )


def expand(macro: Macro, code: Code, index: int) -> Code | None:
    """Return the expansion of the use at `index` as code of its own, whose offsets mean nothing in the file."""
    text = expansion_text(macro, code, index)
    return None if text is None else code_of(tokenize(text))
