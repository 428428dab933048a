"""SK functions and SK_BIND statements as they are written, right or wrong: what rules on hand-written SK code ask about.

`skrules.adapt.current` reads those that are right; here nothing is taken for granted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from skrules.adapt.places import tokens_in
from skrules.source.calls import functions
from skrules.source.code import Code, code_of, join
from skrules.source.evaluation import literal_value
from skrules.source.form import target_name
from skrules.source.macros import Macro
from skrules.source.model import KernelType, SourceUnit, Span
from skrules.source.parameters import split
from skrules.source.types import type_of_qualifiers

_SK = "__sk__"
_TYPE_WORDS = frozenset({"__vector__", "__cube__", "__mix__", "__aicore__"})


@dataclass(frozen=True, slots=True, kw_only=True)
class SkFunction:
    """One definition. `head` is the code before the body, `parameters` the token ranges in it; `body` is the code from `{`
    to `}` and `span` its bytes. `offset` is that of the name."""

    name: str
    type: KernelType
    head: Code
    parameters: tuple[tuple[int, int], ...]
    body: Code
    span: Span
    offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SkBinding:
    """One SK_BIND. `target` is qualified as written, without template arguments; `functions` are plain names. `mask` is None
    when it is not known without the compiler; `mask_text` is how it is written. `offset` is that of the macro."""

    target: str
    functions: tuple[str, ...]
    mask: int | None
    mask_text: str
    mask_offset: int
    offset: int


def read_functions(unit: SourceUnit) -> tuple[SkFunction, ...]:
    """Return the functions with `__sk__` in their head, in order."""
    found = []
    for function in functions(unit):
        if function.is_class:
            continue
        head = code_of(tokens_in(unit, Span(start=function.span.start, end=function.body.start)))
        if _SK not in head.texts:
            continue
        name = _name_of(head, function.name)
        if name < 0:
            continue
        closing = head.pairs.get(name + 1, len(head))
        found.append(
            SkFunction(
                name=function.name,
                type=type_of_qualifiers(_qualifiers(head, name)),
                head=head,
                parameters=_parameters(head, name + 2, closing),
                body=code_of(tokens_in(unit, function.body)),
                span=function.body,
                offset=head.tokens[name].start,
            )
        )
    return tuple(found)


def _name_of(head: Code, name: str) -> int:
    """Return the index of the name that the parameters follow."""
    for index, text in enumerate(head.texts):
        if text == name and head.text(index + 1) == "(":
            return index
    return -1


def _qualifiers(head: Code, end: int) -> list[str]:
    found = []
    for index in range(end):
        text = head.texts[index]
        if text in _TYPE_WORDS:
            last = head.pairs.get(index + 1, index) if head.text(index + 1) == "(" else index
            found.append(join(head, index, last + 1))
        elif text == "[" and head.text(index + 1) in ("[", "aicore"):
            found.append(join(head, index, head.pairs.get(index, index) + 1))
    return found


def _parameters(head: Code, start: int, end: int) -> tuple[tuple[int, int], ...]:
    ranges = [(first, last) for first, last in split(head, start, end) if last > first]
    return () if len(ranges) == 1 and join(head, *ranges[0]) == "void" else tuple(ranges)


def read_bindings(code: Code, macros: Mapping[str, Sequence[Macro]]) -> tuple[SkBinding, ...]:
    """Return the SK_BIND statements of a file, in order; `macros` are those of the file, by which a mask may be called."""
    found = []
    for index, text in enumerate(code.texts):
        closing = code.pairs.get(index + 1, -1) if text == "SK_BIND" and code.text(index + 1) == "(" else -1
        if closing < 0 or not code.is_identifier(index):
            continue
        arguments = [(first, last) for first, last in split(code, index + 2, closing) if last > first]
        if len(arguments) < 2:
            continue
        (first, after), (mask, mask_end), *rest = arguments
        found.append(
            SkBinding(
                target=target_name(code, first, after),
                functions=tuple(target_name(code, *each).rpartition("::")[2] for each in rest),
                mask=_mask(code, mask, mask_end, macros),
                mask_text=join(code, mask, mask_end),
                mask_offset=code.tokens[mask].start,
                offset=code.tokens[index].start,
            )
        )
    return tuple(found)


def _mask(code: Code, start: int, end: int, macros: Mapping[str, Sequence[Macro]]) -> int | None:
    """Return the value of a literal expression, or of a macro with one meaning that stands for one."""
    named = macros.get(code.texts[start], ()) if end - start == 1 else ()
    if len(named) == 1 and named[0].parameters is None:
        return literal_value(named[0].code.tokens)
    return literal_value(code.tokens[start:end])
