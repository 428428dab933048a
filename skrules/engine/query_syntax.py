"""The language of queries, as Bazel users know it: text in, a tree of expressions out.

    expression := term (("+" | "union" | "-" | "except" | "^" | "intersect") term)*      from left to right
    term       := "(" expression ")" | "set" "(" word* ")" | function "(" argument ("," argument)* ")" | word

A word is a name, a pattern or a path; quotes keep blanks and everything else in it. Grammar and functions follow
https://bazel.build/query/language.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from skrules.errors import Location, UsageError, did_you_mean

# What each argument of a function is: an expression, a word taken as it is, or a number. A "?" may be left out.
FUNCTIONS: dict[str, tuple[str, ...]] = {
    "allpaths": ("expression", "expression"),
    "attr": ("word", "word", "expression"),
    "deps": ("expression", "number?"),
    "kind": ("word", "expression"),
    "rdeps": ("expression", "expression", "number?"),
    "somepath": ("expression", "expression"),
    "tests": ("expression",),
}
SIGNATURES = {
    "allpaths": "allpaths(from, to)",
    "attr": "attr(name, pattern, x)",
    "deps": "deps(x[, depth])",
    "kind": "kind(pattern, x)",
    "rdeps": "rdeps(universe, x[, depth])",
    "somepath": "somepath(from, to)",
    "tests": "tests(x)",
}
_OPERATORS = {"+": "+", "union": "+", "-": "-", "except": "-", "^": "^", "intersect": "^"}
_RESERVED = frozenset({"union", "except", "intersect", "set"})
_TOKEN = re.compile(
    r"""(?P<blank>\s+)|(?P<quoted>"[^"]*"|'[^']*')|(?P<word>[A-Za-z0-9_/.:@$~\[\]\\|][A-Za-z0-9_/.:@$~\[\]\\|*-]*)|(?P<sign>[(),+^-])"""
)
# Deep enough for any program that writes queries, and far from the end of Python's stack.
_DEEPEST = 100


@dataclass(frozen=True, slots=True)
class Word:
    """A name, pattern or path; `at` counts characters of the query from 0."""

    text: str
    at: int


@dataclass(frozen=True, slots=True)
class Words:
    """`set(...)`."""

    items: tuple[Word, ...]
    at: int


@dataclass(frozen=True, slots=True)
class Call:
    """`arguments` are as FUNCTIONS says; a number that was left out is absent."""

    function: str
    arguments: tuple[Expression | int, ...]
    at: int


@dataclass(frozen=True, slots=True)
class Chain:
    """`first`, then operators ("+", "-", "^") with their right sides, done from left to right."""

    first: Expression
    rest: tuple[tuple[str, Expression], ...]
    at: int


Expression = Word | Words | Call | Chain


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    at: int


def parse_query(text: str) -> Expression:
    """Read a query. Raises UsageError with its line and column for text that is none."""
    parser = _Parser(text)
    expression = parser.expression(0)
    left = parser.token
    if left.kind == "quoted" or left.kind == "word":
        raise parser.error("an operator is missing", left.at, hint="a + b is what is in either, set(a b) the same for words")
    if left.kind != "end":
        raise parser.error(f"'{left.text}' has nothing to belong to", left.at)
    return expression


def query_error(query: str, message: str, at: int, *, allowed: tuple[str, ...] = (), hint: str = "") -> UsageError:
    """Return the error for character `at` of a query: with line and column, and a mark below the place."""
    before = query[:at]
    line = before.count("\n") + 1
    start = before.rfind("\n") + 1
    shown = query[start:].split("\n", 1)[0]
    # A tab in front of the mark is as wide as the one above it.
    gap = "".join(char if char == "\t" else " " for char in query[start:at])
    place = Location(file="query", line=line, column=at - start + 1)
    return UsageError(message, at=place, allowed=allowed, hint=hint, notes=(shown, f"{gap}^"))


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self._tokens = self._split()
        self._next = 0

    @property
    def token(self) -> _Token:
        return self._tokens[self._next]

    def error(self, message: str, at: int, *, allowed: tuple[str, ...] = (), hint: str = "") -> UsageError:
        return query_error(self.text, message, at, allowed=allowed, hint=hint)

    def expression(self, depth: int) -> Expression:
        if depth > _DEEPEST:
            raise self.error(f"more than {_DEEPEST} expressions inside one another", self.token.at)
        first = self._term(depth)
        rest = []
        while (token := self.token).kind in ("sign", "word") and token.text in _OPERATORS:
            self._next += 1
            rest.append((_OPERATORS[token.text], self._term(depth)))
        return Chain(first, tuple(rest), first.at) if rest else first

    def _split(self) -> list[_Token]:
        tokens = []
        at = 0
        while at < len(self.text):
            match = _TOKEN.match(self.text, at)
            if match is None:
                raise self._unreadable(at)
            kind = str(match.lastgroup)
            if kind != "blank":
                quoted = kind == "quoted"
                tokens.append(_Token(kind, match[0][1:-1] if quoted else match[0], at + quoted))
            at = match.end()
        return [*tokens, _Token("end", "", len(self.text))]

    def _unreadable(self, at: int) -> UsageError:
        char = self.text[at]
        if char in "\"'":
            return self.error(f"the quote {char} is not closed", at)
        return self.error(f"{char!r} begins no word", at, hint="put words with such characters into quotes")

    def _take(self, sign: str, message: str) -> None:
        if self.token.kind != "sign" or self.token.text != sign:
            raise self.error(message, self.token.at)
        self._next += 1

    def _term(self, depth: int) -> Expression:
        token = self.token
        if token.kind == "end":
            raise self.error("an expression is missing", token.at, hint="such as //ops/... or deps(//ops/add_custom)")
        self._next += 1
        if token.kind == "sign":
            if token.text != "(":
                raise self.error(f"an expression is missing before '{token.text}'", token.at)
            inner = self.expression(depth + 1)
            self._take(")", f"the parenthesis of column {token.at + 1} is not closed")
            return inner
        if token.kind == "quoted":
            return Word(token.text, token.at)
        if token.text == "set":
            return self._words(token)
        if token.text in _RESERVED:
            raise self.error(f"an expression is missing before '{token.text}'", token.at)
        if self.token.kind == "sign" and self.token.text == "(":
            return self._call(token, depth)
        return Word(token.text, token.at)

    def _words(self, start: _Token) -> Words:
        self._take("(", "set is written set(a b c)")
        items = []
        while self.token.kind in ("word", "quoted"):
            items.append(Word(self.token.text, self.token.at))
            self._next += 1
        if self.token.kind != "end" and self.token.text != ")":
            raise self.error("set() holds words with blanks between them", self.token.at, hint="a + b takes expressions")
        self._take(")", f"the parenthesis of set in column {start.at + 1} is not closed")
        return Words(tuple(items), start.at)

    def _call(self, name: _Token, depth: int) -> Call:
        shape = FUNCTIONS.get(name.text)
        if shape is None:
            raise self.error(
                f"there is no function '{name.text}'",
                name.at,
                allowed=tuple(SIGNATURES.values()),
                hint=did_you_mean(name.text, FUNCTIONS),
            )
        self._next += 1
        arguments: list[Expression | int] = []
        for position, kind in enumerate(shape):
            if position:
                if kind.endswith("?") and self.token.text == ")" and self.token.kind == "sign":
                    break
                self._take(",", f"a ',' must follow here: {SIGNATURES[name.text]}")
            arguments.append(self._argument(kind, name.text, depth))
        self._take(")", f"')' must follow here: {SIGNATURES[name.text]}")
        return Call(name.text, tuple(arguments), name.at)

    def _argument(self, kind: str, function: str, depth: int) -> Expression | int:
        token = self.token
        if kind == "expression":
            return self.expression(depth + 1)
        if token.kind not in ("word", "quoted"):
            raise self.error(f"a {kind.rstrip('?')} is missing: {SIGNATURES[function]}", token.at)
        self._next += 1
        if kind == "word":
            return Word(token.text, token.at)
        if not re.fullmatch("[0-9]{1,9}", token.text):
            raise self.error(f"'{token.text}' is not a number of steps: {SIGNATURES[function]}", token.at)
        return int(token.text)
