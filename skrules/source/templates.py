"""Template heads: `template <typename T, int N = 4, template <class> class C, typename... Rest>`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from skrules.source.code import Code, join
from skrules.source.macros import Budget, Macro
from skrules.source.model import TemplateParameter
from skrules.source.parameters import Part, expand_part, split

_MACRO_NAME = re.compile(r"[A-Z][A-Z0-9_]*\Z")
_TYPE_KEYS = frozenset({"typename", "class"})


def read_template_parameters(
    code: Code, opening: int, closing: int, macros: Mapping[str, tuple[Macro, ...]]
) -> tuple[TemplateParameter, ...]:
    """Read the list between the `<` at `opening` and the `>` at `closing`. Raises UnreadableParameter."""
    parts: list[Part] = []
    budget = Budget()
    for start, end in split(code, opening + 1, closing):
        parts += expand_part(Part(code, start, end), macros, budget)
    return tuple(_read(part.code, part.start, part.end) for part in parts)


def is_list_macro(parameter: TemplateParameter) -> bool:
    """Tell whether a template parameter is more likely the macro of a whole list: `template <TPL_PARAMS>`."""
    return not parameter.name and not parameter.is_type and bool(_MACRO_NAME.match(parameter.declaration))


def _read(code: Code, start: int, end: int) -> TemplateParameter:
    assignment = _assignment(code, start, end)
    stop = end if assignment is None else assignment
    is_pack = any(code.texts[index] == "..." for index in range(start, stop))
    named = stop - start > 1 and code.is_identifier(stop - 1) and code.texts[stop - 1] not in _TYPE_KEYS
    named = (named and code.text(stop - 2) not in ("typename", "::")) or _is_named_type(code, start, stop)
    return TemplateParameter(
        declaration=join(code, start, stop),
        name=code.texts[stop - 1] if named else "",
        default=None if assignment is None else join(code, assignment + 1, end),
        is_pack=is_pack,
        is_type=code.text(start) in _TYPE_KEYS and not _is_dependent_value(code, start, stop),
    )


def _is_named_type(code: Code, start: int, stop: int) -> bool:
    return stop - start == 2 and code.text(start) in _TYPE_KEYS and code.is_identifier(stop - 1)


def _is_dependent_value(code: Code, start: int, stop: int) -> bool:
    """Tell whether `typename` begins the type of a value: `typename T::type N`."""
    return any(code.texts[index] == "::" for index in range(start, stop))


def _assignment(code: Code, start: int, end: int) -> int | None:
    index = start
    while index < end:
        text = code.texts[index]
        if text == "=":
            return index
        if text in ("(", "[", "<"):
            index = code.pairs.get(index, index)
        index += 1
    return None
