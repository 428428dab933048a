"""A lossless C++ tokenizer: the tokens of a text, put together again, are the text.

Every pattern below is possessive: whatever a token has eaten it keeps, so the time is linear in the size of the text,
however strange the text is. Nothing here raises: an unterminated comment or raw string runs to the end of the text, an
unterminated string or character to the end of its line, and bytes that begin no C++ token are `OTHER`.

`<` and `>` are tokens of one character each except in `<<`, `<<<`, `<=`, `<=>`, `->` and `>=`: `>>` is two closing brackets
far more often than a shift, and readers of templates want to see them one by one. Digraphs are found, but not read;
trigraphs are none in C++17.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from skrules.source.model import Token, TokenKind

# A backslash before a line end splices two lines; compilers allow blanks between the two.
_NEWLINE = r"(?:\r\n?|\n)"
_SPLICE = rf"\\[ \t]*+{_NEWLINE}"
_WORD = r"[A-Za-z_$\x80-\xff][0-9A-Za-z_$\x80-\xff]*+"
_IDENTIFIER = rf"{_WORD}(?:(?:{_SPLICE})++[0-9A-Za-z_$\x80-\xff]++)*+"
_NUMBER = r"\.?[0-9](?:[eEpP][+-]|'?[0-9A-Za-z_]|\.)*+"
_PREFIX = r"(?:u8|[uUL])?"
_ESCAPE = rf"{_SPLICE}|\\[^\r\n]"
_STRING = rf'{_PREFIX}"(?:[^"\\\r\n]|{_ESCAPE})*+"?'
_CHARACTER = rf"{_PREFIX}'(?:[^'\\\r\n]|{_ESCAPE})*+'?"
_RAW = r'(?:u8|[uUL])?R"(?P<{0}>[^ ()\\\t\v\f\r\n"]{{0,16}}+)\((?s:.*?)(?:\)(?P={0})"|\Z)'
_LINE_COMMENT = rf"//(?:[^\\\r\n]|{_SPLICE}|\\)*+"
_BLOCK_COMMENT = r"/\*(?s:.*?)(?:\*/|\Z)"
_PUNCTUATION = r"[{}()\[\];,~?@`]|::?|<<<|<<=?|<=>|<=|<|>=|>|->\*?|\.\.\.|\.\*?|\#\#?|&&|\|\||\+\+|--|[-+*/%&|^=!]=|[-+*/%&|^=!]"

# The order is the meaning: comments before `/`, literals before what is left for the identifiers their prefixes look like.
# What is frequent stands first: an identifier that no quote follows can be nothing else.
_TOKEN = re.compile(
    "|".join(
        (
            rf"(?P<blank>(?:[ \t\v\f\r\n]|{_SPLICE})++|\A\xef\xbb\xbf)",
            rf"(?P<plain>{_WORD}(?![\"'\\]))",
            rf"(?P<punctuation>(?!/[/*]|\.[0-9])(?:{_PUNCTUATION}))",
            rf"(?P<string>{_RAW.format('delimiter')}|{_STRING})",
            rf"(?P<character>{_CHARACTER})",
            rf"(?P<identifier>{_IDENTIFIER})",
            rf"(?P<comment>{_LINE_COMMENT}|{_BLOCK_COMMENT})",
            rf"(?P<number>{_NUMBER})",
            r"(?P<other>(?s:.))",
        )
    )
)

# A directive ends where its line ends, and the comments and literals in it decide where that is.
_DIRECTIVE = re.compile(
    rf"\#(?:[^\\\r\n/\"'0-9A-Za-z_$\x80-\xff.]++|{_LINE_COMMENT}|{_BLOCK_COMMENT}|{_RAW.format('delimiter')}"
    rf"|{_STRING}|{_CHARACTER}|{_IDENTIFIER}|{_NUMBER}|{_SPLICE}|[\\/.])*+"
)

_DIRECTIVE_NAME = re.compile(r"#(?:\s|\\[ \t]*+(?=[\r\n])|/\*(?s:.*?)\*/)*+([A-Za-z_]\w*+)")
_DIRECTIVE_COMMENT = re.compile(r"//.*|/\*(?s:.*?)(?:\*/|\Z)")
_BLANKS = re.compile(r"\s++")
# Conditions that hide the branch they open, or every later one, whatever is defined.
NEVER = frozenset({"#if 0", "#if false", "#if (0)"})
ALWAYS = frozenset({"#if 1", "#if true", "#if (1)"})
IF_DIRECTIVES = frozenset({"if", "ifdef", "ifndef"})
BRANCH_DIRECTIVES = frozenset({"else", "elif", "elifdef", "elifndef"})

_MAYBE_DIGRAPH = re.compile(r"<%|%>|<:(?!:)|:>|%:")
_DIGRAPHS = frozenset({("<", "%"), ("%", ">"), ("<", ":"), (":", ">"), ("%", ":")})
_SPLICES = re.compile(_SPLICE)
_LINE_END = re.compile(_NEWLINE)
_KIND_OF_GROUP = {_TOKEN.groupindex["plain"]: TokenKind.IDENTIFIER} | {
    _TOKEN.groupindex[kind.value]: kind for kind in TokenKind if kind.value in _TOKEN.groupindex
}


def tokenize(text: str) -> tuple[Token, ...]:
    """Split `text` (latin-1 held bytes) into tokens that concatenate to it.

    Linear in the size of the text; never raises. A byte order mark at the very start is a blank.
    """
    return _scan(text, 0, len(text), directives=True)


def tokenize_replacement(text: str, start: int, end: int) -> tuple[Token, ...]:
    """Split `text[start:end]`, a part of a directive, in which `#` begins no directive. Offsets are those of `text`."""
    return _scan(text, start, end, directives=False)


def _scan(text: str, position: int, end: int, *, directives: bool) -> tuple[Token, ...]:
    kinds = _KIND_OF_GROUP
    tokens: list[Token] = []
    append = tokens.append
    while position < end:
        for match in _TOKEN.finditer(text, position, end):
            part = match.group()
            if part[0] == "#" and directives and _begins_line(tokens):
                directive = _DIRECTIVE.match(text, match.start())
                assert directive is not None  # the pattern matches any `#`
                append(Token(TokenKind.DIRECTIVE, directive.group(), directive.start()))
                position = directive.end()
                break
            append(Token(kinds[match.lastindex or 0], part, match.start()))
        else:
            position = end
    return tuple(tokens)


def _begins_line(tokens: list[Token]) -> bool:
    """Tell whether only blanks and comments stand between the last line end and what follows `tokens`."""
    for token in reversed(tokens):
        if token.kind is TokenKind.BLANK:
            if has_line_end(token.text):
                return True
        elif token.kind is TokenKind.DIRECTIVE:
            return True
        elif token.kind is not TokenKind.COMMENT:
            return False
    return True


def has_line_end(blank: str) -> bool:
    """Tell whether a blank ends a line, which a spliced line end does not."""
    if "\n" not in blank and "\r" not in blank:
        return False
    return bool(_LINE_END.search(_SPLICES.sub("", blank) if "\\" in blank else blank))


def without_splices(text: str) -> str:
    """Return a text with its spliced lines joined."""
    return _SPLICES.sub("", text) if "\\" in text else text


def spelling(token: Token) -> str:
    """Return the text of an identifier or directive with its line splices taken out."""
    return without_splices(token.text)


def digraph_in(text: str, tokens: Sequence[Token]) -> Token | None:
    """Return the first token of a digraph (`<%`, `%>`, `<:`, `:>`, `%:`), None where there is none in the `tokens` of `text`."""
    for left, right in pairwise(tokens) if _MAYBE_DIGRAPH.search(text) else ():
        if left.end == right.start and (left.text, right.text[:1]) in _DIGRAPHS and right.text != "::":
            return left
    return None


def directive_name(text: str) -> str:
    """Return `define` for `# define X`, "" for a null directive."""
    match = _DIRECTIVE_NAME.match(text)
    return match.group(1) if match else ""


def normalise(directive: str) -> str:
    """Return a directive without comments and surplus blanks: `#  if  A // x` becomes `#if A`."""
    text = _BLANKS.sub(" ", _DIRECTIVE_COMMENT.sub(" ", directive)).strip()
    return "#" + text.removeprefix("#").lstrip()
