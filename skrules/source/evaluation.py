"""Values of preprocessor conditions, as far as stated macros decide them: true, false, or not known.

Nothing that is not stated is assumed: an identifier without a statement has any value, and what depends on it is unknown.
Arithmetic is that of the preprocessor (C++ [cpp.cond]): 64 bits, signed or unsigned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from skrules.source.model import Token, TokenKind
from skrules.source.tokens import directive_name, spelling, tokenize_replacement

DEFINED = "defined"
UNDEFINED = "undefined"
Macros = Mapping[str, int | str]  # name -> its integer, DEFINED (with whatever value) or UNDEFINED

_BITS = 64
_MASK = (1 << _BITS) - 1
_SIGN = 1 << (_BITS - 1)
_MAX_DEPTH = 32  # nested operators; deeper ones are not known, and cost neither time nor stack

_WORDS = {"and": "&&", "or": "||", "not": "!", "bitand": "&", "bitor": "|", "xor": "^", "compl": "~", "not_eq": "!="}
_LEVELS = {
    **dict.fromkeys(("||",), 1),
    **dict.fromkeys(("&&",), 2),
    **dict.fromkeys(("|",), 3),
    **dict.fromkeys(("^",), 4),
    **dict.fromkeys(("&",), 5),
    **dict.fromkeys(("==", "!="), 6),
    **dict.fromkeys(("<", ">", "<=", ">="), 7),
    **dict.fromkeys(("<<", ">>"), 8),
    **dict.fromkeys(("+", "-"), 9),
    **dict.fromkeys(("*", "/", "%"), 10),
}
_SUFFIXES = frozenset({"", "l", "ll", "z"})
_BASES = {"0x": 16, "0b": 2}


class _NotUnderstood(Exception):
    """The text is no condition that is understood; its value is not known then."""


@dataclass(frozen=True, slots=True)
class _Value:
    """`bits` is the value modulo 2^64, None: not known; `unsigned` None: either, as for a macro whose suffix nobody stated."""

    bits: int | None
    unsigned: bool | None = False

    @property
    def truth(self) -> bool | None:
        return None if self.bits is None else self.bits != 0


_UNKNOWN = _Value(None, None)
_TRUTHS = {True: _Value(1), False: _Value(0), None: _Value(None)}


def condition_of(directive: Token) -> tuple[Token, ...]:
    """Return the tokens of the condition in an `#if`-family directive, blanks and comments left out."""
    name = directive_name(directive.text)
    begin = directive.text.index(name, 1) + len(name)
    tokens = tokenize_replacement(directive.text, begin, len(directive.text))
    return tuple(token for token in tokens if token.kind not in (TokenKind.BLANK, TokenKind.COMMENT))


def evaluate(directive: Token, macros: Macros) -> bool | None:
    """Tell whether the condition of an `#if`, `#ifdef`, `#elif`, ... holds where `macros` are stated; None: not known.

    Never raises, whatever the text is.
    """
    tokens = condition_of(directive)
    name = directive_name(directive.text)
    if name.endswith("def"):
        if len(tokens) != 1 or tokens[0].kind is not TokenKind.IDENTIFIER:
            return None
        found = _is_defined(spelling(tokens[0]), macros)
        return found if found is None or "ndef" not in name else not found
    return _value_of(tokens, macros).truth


def literal_value(tokens: tuple[Token, ...]) -> int | None:
    """Return the integer that a replacement list stands for, without any macro: `1`, `(2)`, `-3`; None: it is none."""
    bits = _value_of(tokens, {}).bits
    return None if bits is None else _signed(bits)


def _value_of(tokens: tuple[Token, ...], macros: Macros) -> _Value:
    try:
        return _Parser(list(_words(tokens)), macros).whole()
    except _NotUnderstood:
        return _UNKNOWN


def _is_defined(name: str, macros: Macros) -> bool | None:
    stated = macros.get(name)
    return None if stated is None else stated != UNDEFINED


def _words(tokens: tuple[Token, ...]) -> Iterator[tuple[TokenKind, str]]:
    """Yield kind and text; two `>` that touch are one shift, which the tokenizer leaves apart for templates."""
    position = 0
    while position < len(tokens):
        token = tokens[position]
        text = spelling(token)
        after = tokens[position + 1] if position + 1 < len(tokens) else None
        if text == ">" and after is not None and after.text == ">" and after.start == token.end:
            text, position = ">>", position + 1
        yield (TokenKind.PUNCTUATION, _WORDS[text]) if text in _WORDS else (token.kind, text)
        position += 1


class _Parser:
    """Reads one condition and computes it on the way."""

    __slots__ = ("depth", "macros", "place", "words")

    def __init__(self, words: list[tuple[TokenKind, str]], macros: Macros) -> None:
        self.words = words
        self.macros = macros
        self.place = 0
        self.depth = 0

    def whole(self) -> _Value:
        value = self.choice()
        if self.place < len(self.words):
            raise _NotUnderstood
        return value

    def peek(self) -> str:
        """Return the next text if it is punctuation, else ""."""
        kind, text = self.words[self.place] if self.place < len(self.words) else (TokenKind.BLANK, "")
        return text if kind is TokenKind.PUNCTUATION else ""

    def expect(self, text: str) -> None:
        if self.peek() != text:
            raise _NotUnderstood
        self.place += 1

    def deeper(self, read: Callable[[], _Value]) -> _Value:
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise _NotUnderstood
        value = read()
        self.depth -= 1
        return value

    def choice(self) -> _Value:
        condition = self.binary(1)
        if self.peek() != "?":
            return condition
        self.place += 1
        first = self.deeper(self.choice)
        self.expect(":")
        second = self.deeper(self.choice)
        unsigned = _common(first, second)
        if condition.truth is None:
            return _Value(first.bits if first.bits == second.bits else None, unsigned)
        return _Value((first if condition.truth else second).bits, unsigned)

    def binary(self, level: int) -> _Value:
        left = self.unary()
        while (own := _LEVELS.get(operator := self.peek(), 0)) >= level:
            self.place += 1
            left = _binary(operator, left, self.binary(own + 1))
        return left

    def unary(self) -> _Value:
        operator = self.peek()
        if operator not in ("!", "~", "-", "+"):
            return self.primary()
        self.place += 1
        value = self.deeper(self.unary)
        if operator == "!":
            return _TRUTHS[None if value.truth is None else not value.truth]
        if operator == "+" or value.bits is None:
            return value
        return _Value((~value.bits if operator == "~" else -value.bits) & _MASK, value.unsigned)

    def primary(self) -> _Value:
        if self.place >= len(self.words):
            raise _NotUnderstood
        kind, text = self.words[self.place]
        self.place += 1
        if kind is TokenKind.NUMBER:
            return _number(text)
        if kind is TokenKind.CHARACTER:
            return _UNKNOWN
        if kind is TokenKind.IDENTIFIER:
            return self.name(text)
        if text != "(" or kind is not TokenKind.PUNCTUATION:
            raise _NotUnderstood
        value = self.deeper(self.choice)
        self.expect(")")
        return value

    def name(self, text: str) -> _Value:
        if text == "defined":
            has_parentheses = self.peek() == "("
            self.place += has_parentheses
            kind, name = self.words[self.place] if self.place < len(self.words) else (TokenKind.BLANK, "")
            if kind is not TokenKind.IDENTIFIER:
                raise _NotUnderstood
            self.place += 1
            if has_parentheses:
                self.expect(")")
            return _TRUTHS[_is_defined(name, self.macros)]
        if self.peek() == "(":  # a function-like macro, `__has_include` and its like
            self.skip_arguments()
            return _UNKNOWN
        if text in ("true", "false"):
            return _TRUTHS[text == "true"]
        stated = self.macros.get(text)
        if stated == UNDEFINED:
            return _Value(0)
        return _Value(stated & _MASK, None) if isinstance(stated, int) else _UNKNOWN

    def skip_arguments(self) -> None:
        depth = 0
        while True:
            if self.place >= len(self.words):
                raise _NotUnderstood
            text = self.peek()
            depth += (text == "(") - (text == ")")
            self.place += 1
            if not depth:
                return


def _number(text: str) -> _Value:
    digits = text.replace("'", "").lower()
    body = digits.rstrip("ulz")
    suffix = digits[len(body) :]
    is_unsigned = "u" in suffix
    if suffix.replace("u", "", 1) not in _SUFFIXES or suffix.strip("u") != suffix.replace("u", "", 1):
        raise _NotUnderstood
    base = _BASES.get(body[:2], 8 if body[:1] == "0" else 10)
    try:
        value = int(body[2:] if base in (16, 2) else body, base)
    except ValueError:
        raise _NotUnderstood from None
    if value > _MASK or (value >= _SIGN and base == 10 and not is_unsigned):
        return _UNKNOWN  # too large for the preprocessor's integers: compilers differ
    return _Value(value, is_unsigned or value >= _SIGN)


def _signed(bits: int) -> int:
    return bits - (1 << _BITS) if bits & _SIGN else bits


def _common(left: _Value, right: _Value) -> bool | None:
    """Return the signedness after the usual conversions."""
    if left.unsigned or right.unsigned:
        return True
    return None if None in (left.unsigned, right.unsigned) else False


def _binary(operator: str, left: _Value, right: _Value) -> _Value:
    if operator in ("&&", "||"):
        return _TRUTHS[_logical(operator, left.truth, right.truth)]
    is_comparison = operator in _COMPARISONS
    # A shift has the type of its left operand alone.
    unsigned = left.unsigned if operator in ("<<", ">>") else _common(left, right)
    result = False if is_comparison else unsigned
    if left.bits is None or right.bits is None:
        return _Value(None, result)
    if operator in ("<<", ">>"):
        if right.bits >= _BITS:
            return _Value(None, result)
    elif operator in ("/", "%") and right.bits == 0:
        return _Value(None, result)
    # Where the signedness is not stated, only a result that is the same either way is known.
    found = {_compute(operator, left.bits, right.bits, each) for each in ((True, False) if unsigned is None else (unsigned,))}
    return _Value(found.pop() if len(found) == 1 else None, result)


def _logical(operator: str, left: bool | None, right: bool | None) -> bool | None:
    decisive = operator == "||"  # the value of one operand that decides whatever the other one is
    if decisive in (left, right):
        return decisive
    return None if None in (left, right) else not decisive


_COMPARISONS: Mapping[str, Callable[[int, int], bool]] = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    ">": lambda a, b: a > b,
    "<=": lambda a, b: a <= b,
    ">=": lambda a, b: a >= b,
}
_ARITHMETIC: Mapping[str, Callable[[int, int], int]] = {
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "&": lambda a, b: a & b,
    "<<": lambda a, b: a << b,
    ">>": lambda a, b: a >> b,
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    # Truncation, as C has it; Python rounds down.
    "/": lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1),
    "%": lambda a, b: abs(a) % abs(b) * (-1 if a < 0 else 1),
}


def _compute(operator: str, left: int, right: int, unsigned: bool) -> int:
    a, b = (left, right) if unsigned or operator in ("<<", ">>") else (_signed(left), _signed(right))
    if operator in ("<<", ">>") and not unsigned:
        a = _signed(left)
    if operator in _COMPARISONS:
        return int(_COMPARISONS[operator](a, b))
    return _ARITHMETIC[operator](a, b) & _MASK
