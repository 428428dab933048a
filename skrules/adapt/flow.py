"""One TPipe from its declaration to every exit of its scope: is it alive there?"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from skrules.adapt.statements import Kind, Statement
from skrules.source.code import Code
from skrules.source.matching import Branch, exclusive

DESTROYERS = frozenset({"Destroy", "DestroyWithoutPipeAll"})


class State(enum.Enum):
    LIVE = "live"
    GONE = "gone"
    MAYBE = "maybe"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipe:
    """`index` is the token of the name. `path` leads from the body to the statement that declares it; empty for an object
    that is declared where its scope is not followed (a lambda, an array, a static)."""

    name: str
    index: int
    path: tuple[Statement, ...] = ()


def _join(left: State | None, right: State | None) -> State | None:
    if left is None or right is None:
        return right if left is None else left
    return left if left is right else State.MAYBE


class Flow:
    """Follows one pipe from its declaration to every exit of its scope. `None` as a state means: not reached."""

    def __init__(self, code: Code, pipe: Pipe) -> None:
        self.code = code
        self.pipe = pipe
        self.branches: tuple[Branch, ...] = code.branches(pipe.index)
        self.found: list[tuple[Statement, bool]] | None = None
        self.falls_through = False
        outside = [statement.kind for statement in pipe.path[:-2]]
        self.in_a_loop = Kind.LOOP in outside or Kind.MACRO_BLOCK in outside
        self.leaves_by_break = Kind.SWITCH in outside
        self.references = frozenset(  # each may be another name of the pipe
            code.text(index + 1)
            for index, text in enumerate(code.texts)
            if text in ("&", "&&") and code.is_identifier(index + 1) and code.text(index + 2) in ("=", "{", "(", ",", ")")
        )

    def exits(self) -> list[tuple[Statement, bool]]:
        found: list[tuple[Statement, bool]] = []
        self.found = found
        scope, declaration = self.pipe.path[-2:]
        statements = scope.children[scope.children.index(declaration) + 1 :]
        jumps: list[State] = []
        state = self.sequence(statements, State.LIVE, None, jumps, switch=None)
        self.falls_through = state is not None
        if state is State.LIVE:
            found.append((scope, True))
        return found

    def sequence(
        self,
        statements: tuple[Statement, ...],
        state: State | None,
        inner: Kind | None,
        jumps: list[State],
        switch: State | None,
    ) -> State | None:
        for statement in statements:
            if statement.kind is Kind.LABEL:
                state = _join(state, switch) if switch is not None else State.MAYBE
                continue
            after = self.step(statement, state, inner, jumps, in_block=True)
            here = self.code.branches(statement.first)
            if exclusive(self.branches, here):
                continue
            state = after if set(here) <= set(self.branches) else _join(state, after)
        return state

    def step(
        self, statement: Statement, state: State | None, inner: Kind | None, jumps: list[State], *, in_block: bool
    ) -> State | None:
        if state is None or statement.kind is Kind.DIRECTIVE:
            return state
        match statement.kind:
            case Kind.BLOCK:
                return self.sequence(statement.children, state, inner, jumps, switch=None)
            case Kind.SIMPLE:
                return self.touched(statement.first, statement.last, state, whole=True)
            case Kind.RETURN:
                state = self.touched(statement.first, statement.last, state)
                self.leave(statement, state, in_block)
                return None
            case Kind.BREAK | Kind.CONTINUE:
                if inner is not None:
                    jumps.append(state)
                elif self.leaves_by_break and statement.kind is Kind.BREAK:
                    self.leave(statement, state, in_block)
                return None
            case Kind.IF:
                state = self.touched(statement.first, statement.head - 1, state)
                then = self.step(statement.children[0], state, inner, jumps, in_block=False)
                other = (
                    self.step(statement.children[1], state, inner, jumps, in_block=False)
                    if len(statement.children) == 2
                    else state
                )
                return _join(then, other)
            case Kind.SWITCH:
                state = self.touched(statement.first, statement.head - 1, state)
                out: list[State] = []
                block = statement.children[0]
                last = (
                    self.sequence(block.children, None, Kind.SWITCH, out, switch=state)
                    if block.kind is Kind.BLOCK
                    else State.MAYBE
                )
                for jump in out:
                    last = _join(last, jump)
                return _join(last, state)
            case _:
                return self.loop(statement, state)

    def loop(self, statement: Statement, state: State) -> State:
        """A first turn without notes finds what the loop does to the pipe; the second one starts from what may then be true."""
        found, self.found = self.found, None
        entry = self.turn(statement, state)
        self.found = found
        return _join(entry, self.turn(statement, entry)) or entry

    def turn(self, statement: Statement, state: State) -> State:
        out: list[State] = []
        head = self.touched(statement.first, statement.head - 1, state)
        last = self.step(statement.children[0], head, Kind.LOOP, out, in_block=False)
        result: State | None = _join(state, self.touched(statement.children[0].last + 1, statement.last, head))
        for jump in (last, *out):
            result = _join(result, jump)
        return result or State.MAYBE

    def leave(self, statement: Statement, state: State | None, in_block: bool) -> None:
        if self.found is not None and state is State.LIVE and not exclusive(self.branches, self.code.branches(statement.first)):
            self.found.append((statement, in_block))

    def touched(self, first: int, last: int, state: State, *, whole: bool = False) -> State:
        """Return the state after the expression in tokens `[first, last]`; `whole`: it is a statement that always runs."""
        code, name = self.code, self.pipe.name
        for index in range(first, last + 1):
            word = code.text(index)
            if word in DESTROYERS and code.text(index + 1) != "(":
                state = State.MAYBE  # handed on: to a macro, or as a pointer to the member
            if word not in DESTROYERS or code.text(index + 1) != "(":
                if word == "Init" and code.text(index - 1) == "." and code.text(index - 2) == name and state is not State.LIVE:
                    state = State.MAYBE
                continue
            if code.text(index - 1) == "." and code.text(index - 2) not in (name, *self.references):
                continue
            direct = (
                whole
                and index == first + 2
                and code.text(first) == name
                and code.text(index - 1) == "."
                and code.text(index + 3) == ";"
            )
            state = State.GONE if direct else State.MAYBE
        return state
