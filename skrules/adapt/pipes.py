"""TPipe objects of a kernel body: destroyed without their barrier on every path, where that is known to be right.

`~TPipe` waits for all pipes; `DestroyWithoutPipeAll()` before it leaves that barrier to the super kernel. Calling it twice waits
for events that nobody sets again, so an object that may have been destroyed already is left to its destructor: a barrier too
many costs time, never a result. The same holds for an object that another TPipe follows, whose buffers need the barrier.
Source: asc-devkit, SuperKernel guide rule 5, and kernel_tpipe_impl.h.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from skrules.adapt.blocknum import is_declared
from skrules.adapt.edits import Edit, indentation, line_start
from skrules.adapt.flow import Flow, Pipe
from skrules.adapt.statements import Kind, Statement, UnreadableError, read_block
from skrules.source.code import Code
from skrules.source.matching import exclusive

_AFTER_NAME = frozenset({";", ",", "=", "{", "(", "["})


@dataclass(frozen=True, slots=True, kw_only=True)
class PipePlan:
    """`left` are the objects that keep their natural destruction although nothing follows them, each with the reason."""

    edits: tuple[Edit, ...]
    left: tuple[tuple[int, str], ...]


def is_pipe_declaration(code: Code, index: int) -> bool:
    """Tell whether token `index` is the type name of a declared TPipe object (not a pointer, a reference, an argument)."""
    return code.text(index) == "TPipe" and code.is_identifier(index + 1) and code.text(index + 2) in _AFTER_NAME


def plan_pipes(code: Code, text: str, newline: str, *, natural: str = "") -> PipePlan:
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
        if _is_hidden(code, pipe):
            left.append((pipe.index, "another object has its name"))
            continue
        flow = Flow(code, pipe)
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


def _is_new(code: Code, index: int) -> bool:
    while code.text(index - 1) == "::" or (code.text(index - 1) == "AscendC" and code.text(index) == "::"):
        index -= 1
    return code.text(index - 1) == "new"


def _walk(statement: Statement, path: tuple[Statement, ...]) -> Iterator[tuple[Statement, tuple[Statement, ...]]]:
    yield statement, path
    for child in statement.children:
        yield from _walk(child, (*path, statement))


def _pipes(code: Code, body: Statement) -> Iterator[Pipe]:
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
                plain = plain and code.is_identifier(index) and code.text(index + 1) in _AFTER_NAME - {"["}
                names.append(index)
                expected = False
            expected = expected or code.text(index) == ","
            partner = code.partner(index)
            index = partner + 1 if partner > index else index + 1
        if plain and not (code.text(at + 2) == "(" and code.partner(at + 2) == at + 3):
            yield from (Pipe(name=code.text(name), index=name, path=(*path, statement)) for name in names)


def _is_hidden(code: Code, pipe: Pipe) -> bool:
    """Tell whether the body declares something else by the pipe's name: at some exit the name may mean that."""
    for index, text in enumerate(code.texts):
        if text != pipe.name or index == pipe.index or code.text(index - 1) == "TPipe":
            continue
        before, after = code.text(index - 1), code.text(index + 1)
        is_type = code.text(index - 2) in ("auto", "const", ">") or (
            code.is_identifier(index - 2) and code.text(index - 3) in ("const", "(", ",", "::")
        )
        is_reference = before in ("&", "&&", "*") and is_type and after in ("=", ":", ",", ")")
        if is_reference or is_declared(code, index, text):
            return True
    return False


def _is_followed(code: Code, pipe: Pipe, pipes: list[Pipe], falls_out: bool) -> bool:
    """Tell whether another TPipe may be constructed after this one."""
    scope_end = pipe.path[-2].last
    later = [other.index for other in pipes if other.index > pipe.index]
    for index in later:
        if index > scope_end and (not falls_out or _in_other_arm(pipe, index)):
            continue
        if not exclusive(code.branches(pipe.index), code.branches(index)):
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


def _edits(code: Code, text: str, newline: str, statement: Statement, in_block: bool, leaving: list[Pipe]) -> list[Edit]:
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


def _at_scope_end(code: Code, text: str, newline: str, scope: Statement, leaving: list[Pipe]) -> Edit:
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


def _calls(code: Code, index: int, leaving: list[Pipe], newline: str, block: str) -> str:
    """Return the calls, each under the `#if` of its pipe's declaration where the exit at token `index` is not under it."""
    here = set(code.branches(index))
    plain: list[str] = []
    lines: list[str] = []
    for pipe in sorted(leaving, key=lambda pipe: -pipe.index):
        call = f"{pipe.name}.DestroyWithoutPipeAll();"
        missing = [branch for branch in code.branches(pipe.index) if branch not in here]
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
