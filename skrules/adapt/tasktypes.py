"""Kernel types that the task macros of a body set under `#if`: the SK function's head gets the same `#if`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from skrules.adapt.structure import Structure
from skrules.source.model import KernelType
from skrules.source.tokens import BRANCH_DIRECTIVES, IF_DIRECTIVES, directive_name
from skrules.source.types import task_type

TASK_MACROS = frozenset({"KERNEL_TASK_TYPE", "KERNEL_TASK_TYPE_DEFAULT"})
_NO_TYPE = "__aicore__"


@dataclass(slots=True)
class _Block:
    """What one branch sets: types of its own, and groups of branches, each with the directive that opens it."""

    types: set[str] = field(default_factory=set)
    groups: list[list[tuple[str, _Block]]] = field(default_factory=list)


class _Unclear(Exception):
    """The type is not a matter of one condition at each place."""


def conditional_type(code: Structure, spelled: Callable[[KernelType], str | None]) -> list[str] | None:
    """Return the lines that stand for the type qualifier, or None when the macros do not settle it.

    `spelled` gives the qualifier of a type.
    """
    try:
        return _lines(_read(code, spelled))
    except _Unclear:
        return None


def _read(code: Structure, spelled: Callable[[KernelType], str | None]) -> _Block:
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
        elif text in TASK_MACROS and code.text(index + 1) == "(" and code.partner[index + 1] > 0:
            known = task_type(code.text(code.partner[index + 1] - 1))
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
    if len(groups) > 1:
        raise _Unclear
    if not groups:
        return [_NO_TYPE]
    found: list[str] = []
    for directive, branch in groups[0]:
        found += [directive, *_lines(branch)]
    if directive_name(groups[0][-1][0]) != "else":
        found += ["#else", _NO_TYPE]
    return [*found, "#endif"]


def _all(block: _Block) -> set[str]:
    return block.types.union(*(_all(branch) for group in block.groups for _, branch in group))


def _has_type(block: _Block) -> bool:
    return bool(_all(block))
