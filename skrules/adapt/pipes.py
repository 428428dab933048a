"""TPipe objects of a kernel body: destroyed without their barrier on every path, where that is known to be right.

`~TPipe` waits for all pipes; `DestroyWithoutPipeAll()` before it leaves that barrier to the super kernel. Calling it twice waits
for events that nobody sets again, so an object that may have been destroyed already is left to its destructor: a barrier too
many costs time, never a result. The same holds for an object that another TPipe follows, whose buffers need the barrier.
Source: asc-devkit, SuperKernel guide rule 5, and kernel_tpipe_impl.h.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass

from skrules.adapt.edits import Edit, indentation, line_start
from skrules.adapt.statements import Kind, Statement, UnreadableError, read_block
from skrules.adapt.structure import Branch, Structure, exclusive

_DESTROYERS = frozenset({"Destroy", "DestroyWithoutPipeAll"})
_AFTER_NAME = frozenset({";", ",", "=", "{", "(", "["})


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


@dataclass(frozen=True, slots=True, kw_only=True)
class PipePlan:
    """`left` are the objects that keep their natural destruction although nothing follows them, each with the reason."""

    edits: tuple[Edit, ...]
    left: tuple[tuple[int, str], ...]


def is_pipe_declaration(code: Structure, index: int) -> bool:
    """Tell whether token `index` is the type name of a declared TPipe object (not a pointer, a reference, an argument)."""
    return code.text(index) == "TPipe" and code.is_name(index + 1) and code.text(index + 2) in _AFTER_NAME


def plan_pipes(code: Structure, text: str, newline: str, *, natural: str = "") -> PipePlan:
    """Return the edits of a body, `code` being its tokens from `{` to `}`.

    `natural` is the reason, if there is one, for which every object of this body must keep its natural destruction.
    """
    declared = [index for index in range(len(code.tokens)) if is_pipe_declaration(code, index)]
    heap = [index for index in range(1, len(code.tokens)) if code.text(index) == "TPipe" and _is_new(code, index)]
    left = [(index, "it lives on the heap") for index in heap]
    if not declared:
        return PipePlan(edits=(), left=tuple(left))
    if natural:
        return PipePlan(edits=(), left=tuple(left) + tuple((index + 1, natural) for index in declared))
    try:
        body = read_block(code, 0)
        if any(statement.kind is Kind.GOTO for statement, _ in _walk(body, ())):
            raise UnreadableError("the body has a goto")
    except UnreadableError as error:
        return PipePlan(edits=(), left=tuple(left) + tuple((index + 1, str(error)) for index in declared))
    pipes = list(_pipes(code, body))
    known = {pipe.index for pipe in pipes}
    pipes += [Pipe(name=code.text(index + 1), index=index + 1) for index in declared if index + 1 not in known]
    pipes.sort(key=lambda pipe: pipe.index)
    exits: dict[int, tuple[Statement, bool, list[Pipe]]] = {}
    for pipe in pipes:
        if not pipe.path:
            left.append((pipe.index, "it is not a plain local object"))
            continue
        flow = _Flow(code, pipe)
        if flow.in_a_loop:
            continue  # the next turn of the loop constructs the next TPipe
        found = flow.exits()
        falls_out = any(statement.kind not in (Kind.RETURN,) for statement, _ in found) or flow.falls_through
        if _is_followed(code, pipe, pipes, falls_out):
            continue
        for statement, in_block in found:
            exits.setdefault(statement.first, (statement, in_block, []))[2].append(pipe)
    edits = [
        edit
        for statement, in_block, leaving in exits.values()
        for edit in _edits(code, text, newline, statement, in_block, leaving)
    ]
    return PipePlan(edits=tuple(edits), left=tuple(left))


def _is_new(code: Structure, index: int) -> bool:
    while code.text(index - 1) == "::" or (code.text(index - 1) == "AscendC" and code.text(index) == "::"):
        index -= 1
    return code.text(index - 1) == "new"


def _walk(statement: Statement, path: tuple[Statement, ...]) -> Iterator[tuple[Statement, tuple[Statement, ...]]]:
    yield statement, path
    for child in statement.children:
        yield from _walk(child, (*path, statement))


def _pipes(code: Structure, body: Statement) -> Iterator[Pipe]:
    """Find the objects that are declared as plain statements of a block, `TPipe a, b;` included."""
    for statement, path in _walk(body, ()):
        if statement.kind is not Kind.SIMPLE or path[-1].kind is not Kind.BLOCK:
            continue
        at = statement.first
        while code.text(at) in ("AscendC", "::"):
            at += 1
        if not is_pipe_declaration(code, at):
            continue
        names, index, expected = [], at + 1, True
        plain = True
        while index < statement.last:
            if expected:
                plain = plain and code.is_name(index) and code.text(index + 1) in _AFTER_NAME - {"["}
                names.append(index)
                expected = False
            expected = expected or code.text(index) == ","
            partner = code.partner[index]
            index = partner + 1 if partner > index else index + 1
        if plain and not (code.text(at + 2) == "(" and code.partner[at + 2] == at + 3):
            yield from (Pipe(name=code.text(name), index=name, path=(*path, statement)) for name in names)


def _is_followed(code: Structure, pipe: Pipe, pipes: list[Pipe], falls_out: bool) -> bool:
    """Tell whether another TPipe may be constructed after this one."""
    scope_end = pipe.path[-2].last
    later = [other.index for other in pipes if other.index > pipe.index]
    for index in later:
        if index > scope_end and (not falls_out or _in_other_arm(pipe, index)):
            continue
        if not exclusive(code.branches[pipe.index], code.branches[index]):
            return True
    return False


def _in_other_arm(pipe: Pipe, index: int) -> bool:
    """Tell whether token `index` lies in the else of an `if` whose then has the pipe, or in a later section of its switch."""
    for depth, statement in enumerate(pipe.path):
        if statement.kind is Kind.IF and len(statement.children) == 2:
            then, other = statement.children
            if then is pipe.path[depth + 1] and other.first <= index <= other.last:
                return True
        if statement.kind is Kind.SWITCH and statement.first <= index <= statement.last and depth + 2 < len(pipe.path):
            section = statement.children[0].children
            if _ends_section(section, pipe.path[depth + 2], index):
                return True
    return False


def _ends_section(statements: tuple[Statement, ...], holder: Statement, index: int) -> bool:
    """Tell whether a jump stands between the statement that holds the pipe and the label before token `index`."""
    after = [statement for statement in statements if statement.first >= holder.first and statement.last < index]
    for statement in after:
        if statement.kind is Kind.LABEL:
            return False
        last = statement.children[-1] if statement.kind is Kind.BLOCK and statement.children else statement
        if last.kind in (Kind.BREAK, Kind.RETURN):
            return True
    return False


def _join(left: State | None, right: State | None) -> State | None:
    if left is None or right is None:
        return right if left is None else left
    return left if left is right else State.MAYBE


class _Flow:
    """Follows one pipe from its declaration to every exit of its scope. `None` as a state means: not reached."""

    def __init__(self, code: Structure, pipe: Pipe) -> None:
        self.code = code
        self.pipe = pipe
        self.branches: tuple[Branch, ...] = code.branches[pipe.index]
        self.found: list[tuple[Statement, bool]] | None = None
        self.falls_through = False
        outside = [statement.kind for statement in pipe.path[:-2]]
        self.in_a_loop = Kind.LOOP in outside or Kind.MACRO_BLOCK in outside
        self.leaves_by_break = Kind.SWITCH in outside

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
            here = self.code.branches[statement.first]
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
        if self.found is not None and state is State.LIVE and not exclusive(self.branches, self.code.branches[statement.first]):
            self.found.append((statement, in_block))

    def touched(self, first: int, last: int, state: State, *, whole: bool = False) -> State:
        """Return the state after the expression in tokens `[first, last]`; `whole`: it is a statement that always runs."""
        code, name = self.code, self.pipe.name
        for index in range(first, last + 1):
            word = code.text(index)
            if word not in _DESTROYERS or code.text(index + 1) != "(":
                if word == "Init" and code.text(index - 1) == "." and code.text(index - 2) == name and state is not State.LIVE:
                    state = State.MAYBE
                continue
            if code.text(index - 1) == "." and code.text(index - 2) != name:
                continue
            direct = whole and index == first + 2 and code.text(index - 1) == "." and code.text(index + 3) == ";"
            state = State.GONE if direct else State.MAYBE
        return state


def _edits(code: Structure, text: str, newline: str, statement: Statement, in_block: bool, leaving: list[Pipe]) -> list[Edit]:
    """Return the edits that destroy `leaving`, last constructed first, before `statement` leaves their scope."""
    at = code.tokens[statement.first].start
    if statement.kind is Kind.BLOCK:
        return [_at_scope_end(code, text, newline, statement, leaving)]
    block = indentation(text, at)
    calls = _calls(code, statement.first, leaving, newline, block)
    first_on_line = not text[line_start(text, at) : at].strip(" \t")
    conditional = newline in calls
    if conditional and in_block and first_on_line:
        at, block = line_start(text, at), ""
        opening, separator = calls, newline
    elif conditional:
        opening, separator = newline + calls, newline + block
    else:
        opening, separator = calls, newline + block if in_block and first_on_line else " "
    if statement.kind is not Kind.RETURN or statement.first + 1 == statement.last:
        if in_block:
            return [Edit(start=at, end=at, order=2, text=opening + separator)]
        end = code.tokens[statement.last].end
        lead = "{" if conditional else "{ "
        return [Edit(start=at, end=at, order=2, text=lead + opening + separator), Edit(start=end, end=end, text=" }")]
    # `return f(&pipe);` of a void function: the call comes first, then the destruction.
    at, block = code.tokens[statement.first].start, indentation(text, code.tokens[statement.first].start)
    start, end = code.tokens[statement.first + 1].start, code.tokens[statement.last].end
    lines = conditional or (in_block and first_on_line)
    separator = newline + block if lines else " "
    before = newline if conditional else separator
    return [
        Edit(start=at, end=start, text="" if in_block else "{ "),
        Edit(start=end, end=end, text=f"{before}{calls}{separator}return;{'' if in_block else ' }'}"),
    ]


def _at_scope_end(code: Structure, text: str, newline: str, scope: Statement, leaving: list[Pipe]) -> Edit:
    closing = code.tokens[scope.last].start
    start = line_start(text, closing)
    block = indentation(text, code.tokens[leaving[0].index].start)
    calls = _calls(code, scope.last, leaving, newline, block)
    if not text[start:closing].strip(" \t"):
        lead = "" if calls.startswith("#") else block
        return Edit(start=start, end=start, order=1, text=f"{lead}{calls}{newline}")
    if newline in calls:
        return Edit(start=closing, end=closing, order=1, text=newline + calls + newline)
    lead = "" if text[closing - 1] in " \t" else " "
    return Edit(start=closing, end=closing, order=1, text=f"{lead}{calls} ")


def _calls(code: Structure, index: int, leaving: list[Pipe], newline: str, block: str) -> str:
    """Return the calls, each under the `#if` of its pipe's declaration where the exit at token `index` is not under it."""
    here = set(code.branches[index])
    plain: list[str] = []
    lines: list[str] = []
    for pipe in sorted(leaving, key=lambda pipe: -pipe.index):
        call = f"{pipe.name}.DestroyWithoutPipeAll();"
        missing = [branch for branch in code.branches[pipe.index] if branch not in here]
        if not missing:
            plain.append(call)
            lines.append(block + call)
            continue
        for branch in missing:
            lines += branch.lines
        lines.append(block + call)
        lines += ["#endif"] * len(missing)
    if len(plain) == len(leaving):
        return " ".join(plain)
    return newline.join(lines)
