"""The tokens that mean something, with what readers of declarations ask about them all the time.

`Code` drops blanks and comments from a token sequence and keeps directives. Indices into `Code` are what the readers of
this room pass around; `Span`s of byte offsets are made from them at the end.
"""

from __future__ import annotations

import enum
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

from skrules.errors import Location
from skrules.source.matching import Branch, Matcher
from skrules.source.model import Span, Token, TokenKind
from skrules.source.tokens import spelling

_LINE_END = re.compile(r"\r\n?|\n")
_ANGLE_BRACKETS = frozenset({"<", ">", "<<<"})
INSIGNIFICANT = frozenset({TokenKind.BLANK, TokenKind.COMMENT, TokenKind.INACTIVE})


@dataclass(frozen=True, slots=True)
class Code:
    """`texts[i]` is the spelling of `tokens[i]` without line splices.

    `pairs` maps the index of every matched bracket to its partner: `{` `}`, `(` `)`, `[` `]`, `<` `>`, and `<<<` with the
    first `>` of `>>>`. Angle brackets are matched as in a template argument list: none that a `;` or another bracket cuts
    off. Every branch of a `#if` begins with the brackets that are open at the `#if`; what its first branch leaves open is
    open after it. A branch that is never compiled is matched on its own.

    `balanced` is false where brackets other than angles, or `#if` groups, do not match, or where a branch closes other
    brackets than it opens, so that the structure depends on a condition. `marks` are the indices of the conditional
    directives; `within[i]` is the branch in which stands what follows `marks[i]`.
    """

    tokens: tuple[Token, ...]
    texts: tuple[str, ...]
    pairs: dict[int, int]
    balanced: bool
    marks: tuple[int, ...]
    within: tuple[Branch | None, ...]

    def __len__(self) -> int:
        return len(self.tokens)

    def text(self, index: int) -> str:
        """Return the text at `index`, or "" outside the code."""
        return self.texts[index] if 0 <= index < len(self.texts) else ""

    def kind(self, index: int) -> TokenKind | None:
        """Return the kind of the token at `index`, or None outside the code."""
        return self.tokens[index].kind if 0 <= index < len(self.tokens) else None

    def is_identifier(self, index: int) -> bool:
        return 0 <= index < len(self.tokens) and self.tokens[index].kind is TokenKind.IDENTIFIER

    def is_directive(self, index: int) -> bool:
        return 0 <= index < len(self.tokens) and self.tokens[index].kind is TokenKind.DIRECTIVE

    def span(self, first: int, last: int) -> Span:
        """Return the bytes from token `first` to token `last`, both included."""
        return Span(start=self.tokens[first].start, end=self.tokens[last].end)

    def index(self, offset: int) -> int:
        """Return the index of the token that begins at or after `offset`."""
        return bisect_left(self.tokens, offset, key=lambda token: token.start)

    def partner(self, index: int) -> int:
        """Return the partner that the bracket at `index` has whatever is compiled, -1 for none. Angles have none here.

        Who only looks may use `pairs`, where brackets of different branches can meet; who rewrites must not.
        """
        other = self.pairs.get(index, -1)
        if other < 0 or self.texts[index] in _ANGLE_BRACKETS:
            return -1
        return other if self.balanced or self._branch(index) == self._branch(other) else -1

    def branches(self, index: int) -> tuple[Branch, ...]:
        """Return the branches of `#if` groups that the token at `index` stands in, outermost first."""
        branch = self._branch(index)
        found: list[Branch] = []
        while branch is not None:
            found.append(branch)
            branch = branch.around
        return tuple(reversed(found))

    def _branch(self, index: int) -> Branch | None:
        place = bisect_right(self.marks, index) - 1
        return self.within[place] if place >= 0 else None


def code_of(tokens: Iterable[Token]) -> Code:
    """Return the code in `tokens`. Linear in their number, whatever they are; never raises."""
    kept = tuple(token for token in tokens if token.kind not in INSIGNIFICANT)
    texts = tuple(spelling(token) if "\\" in token.text else token.text for token in kept)
    matcher = Matcher(kept, texts)
    matcher.match()
    return Code(kept, texts, matcher.pairs, matcher.balanced, tuple(matcher.marks), tuple(matcher.within))


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
