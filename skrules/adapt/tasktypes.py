"""Kernel types that the task macros of a body set: one under an `#if` goes to the SK function's head with the same `#if`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from skrules.source.code import Code
from skrules.source.model import KernelType
from skrules.source.tokens import BRANCH_DIRECTIVES, IF_DIRECTIVES, directive_name
from skrules.source.types import task_type

TASK_MACROS = frozenset({"KERNEL_TASK_TYPE", "KERNEL_TASK_TYPE_DEFAULT"})
OPEN = "__aicore__"


@dataclass(slots=True)
class _Block:
    """What one branch sets: types of its own, and groups of branches, each with the directive that opens it."""

    types: set[str] = field(default_factory=set)
    groups: list[list[tuple[str, _Block]]] = field(default_factory=list)


class _Unclear(Exception):
    """The type is not a matter of one condition at each place."""


def conditional_type(code: Code, spelled: Callable[[KernelType], str | None]) -> list[str] | None:
    """Return the lines that stand for the type qualifier, or None when the macros do not settle it.

    `spelled` gives the qualifier of a type. A branch that sets none has the qualifier OPEN.
    """
    try:
        return _lines(_read(code, spelled))
    except _Unclear:
        return None


def task_macros(code: Code) -> list[tuple[int, str]]:
    """Return the task macros of a body: the index of each and the kernel type it names, e.g. `KERNEL_TYPE_AIV_ONLY`."""
    return [
        (index, code.text(code.partner(index + 1) - 1))
        for index in range(len(code.tokens))
        if code.text(index) in TASK_MACROS and code.text(index + 1) == "(" and code.partner(index + 1) > 0
    ]


def _read(code: Code, spelled: Callable[[KernelType], str | None]) -> _Block:
    body = _Block()
    stack = [body]
    for index, text in enumerate(code.texts):
        if code.is_directive(index):
            name = directive_name(text)
            if name in IF_DIRECTIVES:
                stack[-1].groups.append([(text, _Block())])
                stack.append(stack[-1].groups[-1][0][1])
            elif name in BRANCH_DIRECTIVES or name == "endif":
                if len(stack) == 1:
                    raise _Unclear
                stack.pop()
                if name != "endif":
                    stack[-1].groups[-1].append((text, _Block()))
                    stack.append(stack[-1].groups[-1][-1][1])
            elif name in ("define", "undef"):
                raise _Unclear  # a later condition may ask for it, and the head stands before it
        elif text in TASK_MACROS and code.text(index + 1) == "(" and code.partner(index + 1) > 0:
            known = task_type(code.text(code.partner(index + 1) - 1))
            qualifier = spelled(known) if known else None
            if qualifier is None:
                raise _Unclear
            stack[-1].types.add(qualifier)
    return body


def _lines(block: _Block) -> list[str]:
    groups = [group for group in block.groups if any(_has_type(branch) for _, branch in group)]
    if block.types:
        if len(block.types) > 1 or any(_all(branch) - block.types for group in groups for _, branch in group):
            raise _Unclear
        return list(block.types)
    if not groups:
        return [OPEN]
    first, *others = [_group_lines(group) for group in groups]
    if any(lines != first for lines in others):
        raise _Unclear
    return first


def _group_lines(group: list[tuple[str, _Block]]) -> list[str]:
    found: list[str] = []
    for directive, branch in group:
        found += [directive, *_lines(branch)]
    if directive_name(group[-1][0]) != "else":
        found += ["#else", OPEN]
    return [*found, "#endif"]


def _all(block: _Block) -> set[str]:
    return block.types.union(*(_all(branch) for group in block.groups for _, branch in group))


def _has_type(block: _Block) -> bool:
    return bool(_all(block))
