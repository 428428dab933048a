"""Does a file hold a whole program? Kernels often stand beside the host code that tries them out."""

from __future__ import annotations

from collections.abc import Iterator

from skrules.source.code import Code
from skrules.source.conditions import conditions_of
from skrules.source.macros import macros_of
from skrules.source.model import SourceUnit
from skrules.source.scopes import scope_at

_MAIN = "main"
_BODY_OR_END = frozenset({"{", "}", ";", ",", "="})
_MAX_TAIL = 64  # tokens between the parameters of a function and its body


def defines_main(unit: SourceUnit) -> bool:
    """Tell whether the file defines the program's `main`: a function at global scope, itself or by the use of a macro.

    One that `#if 0` hides does not count; one whose `#if` only the compiler can decide does.
    """
    macros = macros_of(unit.tokens)
    if _MAIN in macros:  # the file gives it another name itself
        return False
    code = unit.code
    makers = {
        name for name, found in macros.items() if any(_defines(each.code, at) for each in found for at in range(len(each.code)))
    }
    if _MAIN not in code.texts and not makers:
        return False
    conditions = conditions_of(code)
    return any(
        (code.texts[index] in makers or _defines(code, index)) and not conditions.is_dead(index) for index in _global_places(code)
    )


def _global_places(code: Code) -> Iterator[int]:
    """Yield the tokens outside of all braces but those of `extern "C"` blocks."""
    index = 0
    while index < len(code):
        if code.texts[index] != "{":
            yield index
        elif not scope_at(code, index, None).kind.startswith("extern"):
            index = code.pairs.get(index, index)
        index += 1


def _defines(code: Code, name: int) -> bool:
    """Whether a function called `main`, qualified by nothing, has its parameters and its body behind `name`."""
    if code.texts[name] != _MAIN or code.text(name - 1) in ("::", ".", "->") or code.text(name + 1) != "(":
        return False
    index = code.pairs.get(name + 1, len(code)) + 1
    # `noexcept`, `try`, attributes, `-> int` and directives may stand before the body.
    for _ in range(_MAX_TAIL):
        if index >= len(code) or code.texts[index] in _BODY_OR_END:
            break
        index = code.pairs.get(index, index) + 1 if code.texts[index] in ("(", "[") else index + 1
    return code.text(index) == "{"
