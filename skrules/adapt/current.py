"""Files that are bound already: what their own SK_BIND statements say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from skrules.adapt.places import tokens_in
from skrules.source.calls import functions
from skrules.source.code import Code, code_of, join
from skrules.source.model import SourceUnit, Span

_TYPES = frozenset({"__vector__", "__cube__", "__mix__", "__aicore__"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """One SK_BIND as written, with what the head of its SK function says. `mask` is None where it is no number."""

    target: str
    mask: int | None
    splits: int
    function: str
    line: str
    args_struct: str = ""
    sk_type: str = ""
    uses_sys_args: bool = False


def read_bindings(unit: SourceUnit) -> tuple[Binding, ...]:
    """Return the SK_BIND statements of a file in order."""
    code = unit.code
    found = []
    for index in range(len(code.tokens)):
        closing = code.partner(index + 1) if code.text(index) == "SK_BIND" and code.text(index + 1) == "(" else -1
        if closing < 0:
            continue
        arguments = ["".join(argument) for argument in _arguments(code, index + 2, closing)]
        if len(arguments) >= 3:
            function = arguments[2].removeprefix("&").partition("<")[0].rpartition("::")[2]
            line = unit.text[code.tokens[index].start : code.tokens[closing].end] + ";"
            mask = int(arguments[1], 0) if arguments[1].isdigit() else None
            struct, sk_type, uses_sys_args = _head(unit, function)
            found.append(
                Binding(
                    target=arguments[0],
                    mask=mask,
                    splits=len(arguments) - 2,
                    function=function,
                    line=" ".join(line.split()),
                    args_struct=struct,
                    sk_type=sk_type,
                    uses_sys_args=uses_sys_args,
                )
            )
    return tuple(found)


def binding_of(bindings: tuple[Binding, ...], bind_target: str) -> Binding | None:
    """Return the binding of a target. A file may spell it from inside of its namespaces, or cast it."""
    wanted = "".join(bind_target.split())
    for binding in bindings:
        target = binding.target
        if target.startswith("static_cast<") and target.endswith(")"):
            target = target[target.rindex("(") + 1 : -1]
        target = target.lstrip("&:")
        if wanted == target or wanted.endswith(f"::{target}"):
            return binding
    return None


def _arguments(code: Code, start: int, end: int) -> Iterator[list[str]]:
    angle, words, index = 0, list[str](), start
    while index < end:
        last = max(code.partner(index), index)
        angle += (code.text(index) == "<") - (code.text(index) == ">")
        if code.text(index) == "," and not angle:
            yield words
            words = []
        else:
            words += code.texts[index : last + 1]
        index = last + 1
    yield words


def _head(unit: SourceUnit, name: str) -> tuple[str, str, bool]:
    """Return Args struct, type and use of the system arguments of the SK function `name`."""
    for function in functions(unit):
        head = code_of(tokens_in(unit, Span(start=function.span.start, end=function.body.start)))
        if function.name != name or "__sk__" not in head.texts:
            continue
        opening = next(index for index, text in enumerate(head.texts) if text == name and head.text(index + 1) == "(") + 1
        sk_type = ""
        for index in range(opening):
            if head.texts[index] in _TYPES:
                last = head.pairs.get(index + 1, index) if head.text(index + 1) == "(" else index
                sk_type = join(head, index, last + 1)
        star = next((index for index in range(opening, len(head)) if head.texts[index] == "*"), opening)
        first = join(head, opening + 1, star).removeprefix("const ").strip()
        return ("" if "SkSystemArgs" in first else first), sk_type, "SkSystemArgs" in head.texts
    return "", "", False
