"""The statements of a function body, as far as control flow is concerned.

AscendC bodies are full of macros. A macro call without a semicolon is a statement of its own; a macro in front of a block
(`FOREACH(i, n) { ... }`) may loop, so such a block is a kind of its own. Lambdas and local classes are parts of the simple
statement they stand in: a `return` in them leaves the lambda, not the function.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from skrules.source.code import Code


class Kind(enum.StrEnum):
    BLOCK = "block"
    IF = "if"  # children: then [, else]
    LOOP = "loop"
    SWITCH = "switch"
    MACRO_BLOCK = "macro block"
    LABEL = "label"  # `case x:`, `default:`, `name:`
    RETURN = "return"
    BREAK = "break"
    CONTINUE = "continue"
    GOTO = "goto"
    SIMPLE = "simple"
    DIRECTIVE = "directive"


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """`first` and `last` are indices of tokens, both inclusive. `head` is the index after the condition of an IF, LOOP, SWITCH or
    MACRO_BLOCK."""

    kind: Kind
    first: int
    last: int
    children: tuple[Statement, ...] = ()
    head: int = -1


class UnreadableError(Exception):
    """The control flow depends on macros or conditional compilation in a way that is not understood."""


def read_block(code: Code, opening: int) -> Statement:
    """Read the block that opens at token `opening`.

    Raises UnreadableError where the structure depends on an `#if` or is no C++ that is known here.
    """
    if not code.balanced:
        raise UnreadableError("a branch of an #if opens a bracket that it does not close")
    try:
        return _Reader(code).block(opening)
    except RecursionError:
        raise UnreadableError("statements are nested too deeply") from None


_JUMPS = {"return": Kind.RETURN, "break": Kind.BREAK, "continue": Kind.CONTINUE, "goto": Kind.GOTO}
_GOES_ON = frozenset({".", "->", "(", "[", ";", ",", "+", "-", "*", "/", "%", "=", "?", "==", "!=", "<", ">", "&&", "||", ")"})


class _Reader:
    def __init__(self, code: Code) -> None:
        self.code = code

    def block(self, opening: int) -> Statement:
        closing = self.code.partner(opening)
        children = []
        at = opening + 1
        while at < closing:
            child = self.statement(at, closing)
            children.append(child)
            at = child.last + 1
        return Statement(kind=Kind.BLOCK, first=opening, last=closing, children=tuple(children))

    def statement(self, at: int, end: int) -> Statement:
        code = self.code
        word = code.text(at)
        if at >= end:
            raise UnreadableError("a statement is missing")
        if code.is_directive(at):
            return Statement(kind=Kind.DIRECTIVE, first=at, last=at)
        if word == "{":
            return self.block(at)
        if word == "[" and code.text(at + 1) == "[":
            return self.statement(code.partner(at) + 1, end)
        if word == "if":
            return self.conditional(at, end)
        if word in ("for", "while"):
            return self.compound(Kind.LOOP, at, self.parenthesis(at + 1), end)
        if word == "switch":
            return self.compound(Kind.SWITCH, at, self.parenthesis(at + 1), end)
        if word == "do":
            return self.do_loop(at, end)
        if word in _JUMPS:
            return Statement(kind=_JUMPS[word], first=at, last=self.semicolon(at, end))
        if word in ("else", "catch", "}") or word == "try":
            raise UnreadableError(f"'{word}' stands where a statement begins")
        if word in ("case", "default"):
            return self.label(at, end)
        if code.is_identifier(at) and code.text(at + 1) == ":":
            return Statement(kind=Kind.LABEL, first=at, last=at + 1)
        return self.simple(at, end)

    def parenthesis(self, at: int) -> int:
        """Return the index after the parenthesis that opens at `at`."""
        if self.code.text(at) != "(" or self.code.partner(at) < 0:
            raise UnreadableError("a condition is missing")
        return self.code.partner(at) + 1

    def compound(self, kind: Kind, first: int, head: int, end: int) -> Statement:
        body = self.statement(head, end)
        return Statement(kind=kind, first=first, last=body.last, children=(body,), head=head)

    def conditional(self, at: int, end: int) -> Statement:
        code = self.code
        head = at + 1
        if code.text(head) == "constexpr":
            head += 1
        if code.text(head) != "(":
            # `if ASCEND_IS_AIV {`: the macro brings `constexpr (...)` with it.
            if not code.is_identifier(head):
                raise UnreadableError("a condition is missing")
            head += 1
        if code.text(head) == "(":
            head = self.parenthesis(head)
        then = self.statement(head, end)
        children, last = [then], then.last
        following = last + 1
        while following < end and code.is_directive(following):
            following += 1
        if following < end and code.text(following) == "else":
            if following != last + 1:
                raise UnreadableError("an #if stands between a statement and its else")
            other = self.statement(following + 1, end)
            children.append(other)
            last = other.last
        return Statement(kind=Kind.IF, first=at, last=last, children=tuple(children), head=head)

    def do_loop(self, at: int, end: int) -> Statement:
        body = self.statement(at + 1, end)
        if self.code.text(body.last + 1) != "while":
            raise UnreadableError("a do has no while")
        last = self.semicolon(body.last + 1, end)
        return Statement(kind=Kind.LOOP, first=at, last=last, children=(body,), head=at + 1)

    def label(self, at: int, end: int) -> Statement:
        index = at
        while index < end and self.code.text(index) != ":":
            index = self.after(index)
        if index >= end:
            raise UnreadableError("a case label has no end")
        return Statement(kind=Kind.LABEL, first=at, last=index)

    def simple(self, at: int, end: int) -> Statement:
        code = self.code
        closing = -1
        if code.is_identifier(at) and code.text(at + 1) == "(" and code.partner(at + 1) >= 0:
            closing = code.partner(at + 1)
        if closing >= 0 and code.text(closing + 1) == "{":
            return self.compound(Kind.MACRO_BLOCK, at, closing + 1, end)
        if closing >= 0 and (closing + 1 >= end or code.is_directive(closing + 1) or code.is_identifier(closing + 1)):
            return Statement(kind=Kind.SIMPLE, first=at, last=closing)
        if code.is_identifier(at) and code.text(at + 1) == "{":
            after = code.partner(at + 1) + 1
            if after >= end or code.text(after) not in _GOES_ON:
                return self.compound(Kind.MACRO_BLOCK, at, at + 1, end)
        return Statement(kind=Kind.SIMPLE, first=at, last=self.semicolon(at, end))

    def semicolon(self, at: int, end: int) -> int:
        """Return the index of the semicolon that ends the statement; nested brackets are passed over whole."""
        index = at
        while index < end:
            if self.code.text(index) == ";":
                return index
            index = self.after(index)
        raise UnreadableError("a statement has no semicolon")

    def after(self, index: int) -> int:
        partner = self.code.partner(index)
        return partner + 1 if partner > index else index + 1
