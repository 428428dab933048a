"""The tokens that mean something, with what readers of declarations ask about them all the time.

`Code` drops blanks and comments from a token sequence and keeps directives. Indices into `Code` are what the readers of
this room pass around; `Span`s of byte offsets are made from them at the end.
"""

from __future__ import annotations

import enum
import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

from skrules.errors import Location
from skrules.source.model import Span, Token, TokenKind
from skrules.source.tokens import ALWAYS, BRANCH_DIRECTIVES, IF_DIRECTIVES, NEVER, directive_name, normalise, spelling

_LINE_END = re.compile(r"\r\n?|\n")
_CLOSES = {")": "(", "]": "["}
_ANGLES = frozenset({"<", "<<<"})
_OPENING = frozenset({"(", "[", "{", "<", "<<<"})
_BRACKETS = _OPENING | frozenset({")", "]", "}", ">", ";"})
INSIGNIFICANT = frozenset({TokenKind.BLANK, TokenKind.COMMENT, TokenKind.INACTIVE})


@dataclass(frozen=True, slots=True)
class Code:
    """`texts[i]` is the spelling of `tokens[i]` without line splices.

    `pairs` maps the index of every matched bracket to its partner: `{` `}`, `(` `)`, `[` `]`, `<` `>`, and `<<<` with the
    first `>` of `>>>`. Angle brackets are matched as in a template argument list: none that a `;` or another bracket cuts
    off. Every branch of a `#if` begins with the brackets that are open at the `#if`; what its first branch leaves open is
    open after it.
    """

    tokens: tuple[Token, ...]
    texts: tuple[str, ...]
    pairs: dict[int, int]

    def __len__(self) -> int:
        return len(self.tokens)

    def text(self, index: int) -> str:
        """Return the text at `index`, or "" outside the code."""
        return self.texts[index] if 0 <= index < len(self.texts) else ""

    def kind(self, index: int) -> TokenKind | None:
        """Return the kind of the token at `index`, or None outside the code."""
        return self.tokens[index].kind if 0 <= index < len(self.tokens) else None

    def is_identifier(self, index: int) -> bool:
        return self.kind(index) is TokenKind.IDENTIFIER

    def is_directive(self, index: int) -> bool:
        return self.kind(index) is TokenKind.DIRECTIVE

    def span(self, first: int, last: int) -> Span:
        """Return the bytes from token `first` to token `last`, both included."""
        return Span(start=self.tokens[first].start, end=self.tokens[last].end)


def code_of(tokens: Iterable[Token]) -> Code:
    """Return the code in `tokens`. Linear in their number, whatever they are."""
    kept = tuple(token for token in tokens if token.kind not in INSIGNIFICANT)
    texts = tuple(spelling(token) if "\\" in token.text else token.text for token in kept)
    return Code(kept, texts, _match_brackets(kept, texts))


class _Open:
    """An open bracket, linked to the one around it, so that a `#else` can go back to the state at its `#if`."""

    __slots__ = ("around", "index")

    def __init__(self, index: int, around: _Open | None) -> None:
        self.index = index
        self.around = around


class _Group:
    """An open `#if`: the brackets open before it, and those after its first branch that counts, once that has ended.

    A branch is hidden that `#if 0`, an `#error` at its beginning or an enclosing hidden branch hides.
    """

    __slots__ = ("after", "before", "is_hidden", "opening", "within_hidden")

    def __init__(self, before: _Open | None, opening: str, *, within_hidden: bool) -> None:
        self.before = before
        self.after: list[_Open | None] = []
        self.opening = opening
        self.within_hidden = within_hidden
        self.is_hidden = within_hidden or opening in NEVER


def _match_brackets(tokens: tuple[Token, ...], texts: tuple[str, ...]) -> dict[int, int]:
    pairs: dict[int, int] = {}
    stack: _Open | None = None
    groups: list[_Group] = []

    def pair(opening: int, closing: int) -> None:
        pairs[closing] = opening
        pairs.setdefault(opening, closing)  # closed once in every branch: the first counts

    for index, text in enumerate(texts):
        if text not in _BRACKETS:
            if tokens[index].kind is TokenKind.DIRECTIVE:
                stack = _at_directive(text, stack, groups)
            continue
        if groups and groups[-1].is_hidden:
            continue
        if text in _OPENING:
            stack = _Open(index, stack)
            continue
        if text == ">":
            if stack is not None and _closes_angle(texts, stack.index, index):
                pair(stack.index, index)
                stack = stack.around
            continue
        if text == "}":
            while stack is not None and texts[stack.index] != "{":
                stack = stack.around
            if stack is not None:
                pair(stack.index, index)
                stack = stack.around
            continue
        while stack is not None and texts[stack.index] in _ANGLES:
            stack = stack.around
        if text != ";" and stack is not None and texts[stack.index] == _CLOSES[text]:
            pair(stack.index, index)
            stack = stack.around
    return pairs


def _closes_angle(texts: tuple[str, ...], opening: int, index: int) -> bool:
    return texts[opening] == "<" or (texts[opening] == "<<<" and texts[index + 1 : index + 3] == (">", ">"))


def _at_directive(text: str, stack: _Open | None, groups: list[_Group]) -> _Open | None:
    """Return the open brackets after a directive."""
    name = directive_name(text)
    if name in IF_DIRECTIVES:
        groups.append(_Group(stack, normalise(text), within_hidden=bool(groups) and groups[-1].is_hidden))
    elif groups and (name in BRANCH_DIRECTIVES or name == "endif"):
        group = groups[-1]
        if not group.is_hidden and not group.after:
            group.after.append(stack)
        group.is_hidden = group.within_hidden or group.opening in ALWAYS
        if name == "endif":
            groups.pop()
            return group.after[0] if group.after else group.before
        return group.before
    elif groups and name == "error" and stack is groups[-1].before:
        groups[-1].is_hidden = True
    return stack


class _Role(enum.Enum):
    """What a token is for the blanks around it."""

    WORD = enum.auto()
    OPENS = enum.auto()  # nothing stands apart from what it opens, or from `::`
    CLOSES = enum.auto()
    COMMA = enum.auto()
    DECLARATOR = enum.auto()  # `*` and `&` belong to the type before them
    UNARY = enum.auto()
    BINARY = enum.auto()


_ROLES = {
    **dict.fromkeys(("(", "[", "{", "::", ".", "->"), _Role.OPENS),
    **dict.fromkeys((")", "]", "}"), _Role.CLOSES),
    **dict.fromkeys((",", ";"), _Role.COMMA),
    **dict.fromkeys(("*", "&", "&&", "..."), _Role.DECLARATOR),
    **dict.fromkeys(("!", "~"), _Role.UNARY),
}


def join(code: Code, start: int, end: int) -> str:
    """Return the tokens `start` to `end` (exclusive) as text with canonical blanks: the same for every layout."""
    parts: list[str] = []
    left: _Role | None = None
    for index in range(start, end):
        if code.is_directive(index):
            continue
        right = _role(code, index, left)
        if left is not None and _apart(left, right):
            parts.append(" ")
        parts.append(code.texts[index])
        left = right
    return "".join(parts)


def _role(code: Code, index: int, left: _Role | None) -> _Role:
    text = code.texts[index]
    if code.tokens[index].kind is not TokenKind.PUNCTUATION:
        return _Role.WORD
    if text in ("<", ">") and index in code.pairs:
        return _Role.OPENS if text == "<" else _Role.CLOSES
    if text in ("+", "-") and left not in (_Role.WORD, _Role.CLOSES):
        return _Role.UNARY
    return _ROLES.get(text, _Role.BINARY)


def _apart(left: _Role, right: _Role) -> bool:
    if left in (_Role.OPENS, _Role.UNARY):
        return False
    if left in (_Role.COMMA, _Role.BINARY):
        return True
    if right in (_Role.WORD, _Role.UNARY):
        return True
    return right is _Role.BINARY


@dataclass(frozen=True, slots=True)
class Lines:
    """Where the lines of a file begin. `at` counts lines and columns (bytes) from 1."""

    path: str
    starts: tuple[int, ...]

    def position(self, offset: int) -> tuple[int, int]:
        """Return line and column of a byte offset."""
        line = bisect_right(self.starts, offset)
        return line, offset - self.starts[line - 1] + 1

    def at(self, offset: int) -> Location:
        line, column = self.position(offset)
        return Location(file=self.path, line=line, column=column)


def lines_of(text: str, path: str) -> Lines:
    """Return the lines of a text whose lines end in LF, CRLF or CR."""
    return Lines(path, (0, *(match.end() for match in _LINE_END.finditer(text))))
