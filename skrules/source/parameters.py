"""Parameter lists of kernels: which text is the type, which the name."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from skrules.source.code import Code, join
from skrules.source.conditions import Conditions
from skrules.source.macros import Budget, Macro, ambiguity, expand
from skrules.source.model import Parameter, Span

# Words that leave a type open: what follows them still belongs to it.
_SPECIFIERS = frozenset(
    {"const", "volatile", "struct", "class", "union", "enum", "typename", "register", "constexpr"}
    | {"restrict", "__restrict", "__restrict__", "__kfc_workspace__"}
    | {"__gm__", "__ubuf__", "__cbuf__", "__ca__", "__cb__", "__cc__", "__local__"}
)
# Words that complete a type, and so are no parameter's name either.
_TYPE_WORDS = frozenset(
    {"auto", "bool", "char", "char8_t", "char16_t", "char32_t", "double", "float", "int", "long", "short", "signed", "unsigned"}
    | {"void", "wchar_t", "half", "bfloat16_t", "GM_ADDR", "__bf16", "__fp16"}
)
_TYPE_CALLS = frozenset({"decltype", "__attribute__", "alignas", "__typeof__", "typeof"})
_SIZED = re.compile(r"u?int(?:8|16|32|64)_t|s?size_t")
_MACRO_NAME = re.compile(r"[A-Z][A-Z0-9_]*\Z")


class UnreadableParameter(Exception):
    """A parameter that cannot be known. `offset` is where it stands."""

    def __init__(self, offset: int, reason: str) -> None:
        super().__init__(reason)
        self.offset = offset
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Part:
    """One parameter's tokens. `span` is set when they come from a macro, and is that of the macro's use."""

    code: Code
    start: int
    end: int
    span: Span | None = None


def read_parameters(
    code: Code, opening: int, conditions: Conditions, macros: Mapping[str, tuple[Macro, ...]]
) -> tuple[Parameter, ...]:
    """Read the list whose `(` is at `opening`. Parameters inside a `#if` branch are left out: they are not always there.

    Raises UnreadableParameter.
    """
    closing = code.pairs[opening]
    parts: list[Part] = []
    budget = Budget()
    outside = conditions.open_at(opening)
    conditional = conditions.crosses(opening, closing)
    for first, after in split(code, opening + 1, closing):
        start, end = first, after
        while start < end and code.is_directive(start):
            start += 1
        while end > start and code.is_directive(end - 1):
            end -= 1
        if conditional and (start == end or conditions.crosses(start, end) or conditions.open_at(start) != outside):
            continue
        parts += expand_part(Part(code, start, end), macros, budget)
    if len(parts) == 1 and parts[0].end - parts[0].start == 1 and parts[0].code.texts[parts[0].start] == "void":
        return ()
    return tuple(_read_parameter(part) for part in parts)


def is_plain_type(text: str) -> bool:
    """Tell whether a type is made of words of the language alone, so that it means the same everywhere."""
    return all(word in _TYPE_WORDS | _SPECIFIERS or _SIZED.fullmatch(word) for word in re.findall(r"\w+", text))


def split(code: Code, start: int, end: int) -> list[tuple[int, int]]:
    """Split `start` to `end` (exclusive) at the commas outside of all brackets. No tokens: no parts."""
    if start >= end:
        return []
    parts: list[tuple[int, int]] = []
    index = begin = start
    braces = 0
    while index < end:
        text = code.texts[index]
        if text in ("(", "[", "<"):
            index = code.pairs.get(index, index)
        elif text in ("{", "}"):
            braces += 1 if text == "{" else -1
        elif text == "," and braces == 0:
            parts.append((begin, index))
            begin = index + 1
        index += 1
    parts.append((begin, end))
    return parts


def expand_part(part: Part, macros: Mapping[str, tuple[Macro, ...]], budget: Budget) -> list[Part]:
    """Replace a parameter that is the use of a macro by the parameters in the macro."""
    code, start, end = part.code, part.start, part.end
    name = code.text(start)
    if start >= end or not code.is_identifier(start):
        return [part]
    is_call = end - start > 1 and code.text(start + 1) == "(" and code.pairs.get(start + 1) == end - 1 and name not in _TYPE_CALLS
    if end - start != 1 and not is_call:
        return [part]
    span = part.span or code.span(start, end - 1)
    definitions = macros.get(name, ())
    usable = [macro for macro in definitions if (macro.parameters is not None) == is_call]
    if len(usable) != len(definitions) or len(usable) > 1:
        raise UnreadableParameter(span.start, f"the macro '{name}' in the parameter list {ambiguity(definitions)}")
    if not usable:
        if is_call:
            raise UnreadableParameter(
                span.start, f"the macro '{name}' in the parameter list is not defined in this file or a header of it"
            )
        return [part]
    expansion = expand(usable[0], code, start) if budget.spend() else None
    if expansion is None:
        raise UnreadableParameter(span.start, f"the macro '{name}' in the parameter list cannot be expanded exactly")
    inner: list[Part] = []
    for first, after in split(expansion, 0, len(expansion)):
        inner += expand_part(Part(expansion, first, after, span), macros, budget)
    return inner


def _read_parameter(part: Part) -> Parameter:
    code, start, end = part.code, part.start, part.end
    if start >= end:
        offset = part.span.start if part.span else (code.tokens[start - 1].start if start else 0)
        raise UnreadableParameter(offset, "a parameter is empty")
    span = part.span or code.span(start, end - 1)
    assignment = _find(code, start, end, lambda text: text == "=")
    default = None if assignment is None else join(code, assignment + 1, end)
    stop = end if assignment is None else assignment
    array_start = stop
    while array_start > start and code.text(array_start - 1) == "]":
        opening = code.pairs.get(array_start - 1, -1)
        if opening <= start or code.text(opening + 1) == "[":
            break
        array_start = opening
    _refuse_strange(code, start, array_start, span)
    name_at = array_start - 1
    named = _is_name(code, start, name_at)
    type_end = name_at if named else array_start
    return Parameter(
        type=join(code, start, type_end),
        name=code.texts[name_at] if named else "",
        array=join(code, array_start, stop),
        default=default,
        span=span,
    )


def _find(code: Code, start: int, end: int, wanted: Callable[[str], bool]) -> int | None:
    index = start
    while index < end:
        text = code.texts[index]
        is_template = text == "<" and index in code.pairs
        if not is_template and wanted(text):
            return index
        if is_template or text in ("(", "["):
            index = code.pairs.get(index, index)
        index += 1
    return None


def _refuse_strange(code: Code, start: int, end: int, span: Span) -> None:
    """Raise for what is a legal C++ parameter but can be no kernel's, or cannot be told apart from a macro."""
    call = _find(code, start, end, lambda text: text == "(")
    while call is not None:
        if code.text(call - 1) not in _TYPE_CALLS:
            text = join(code, start, end)
            raise UnreadableParameter(span.start, f"the parameter '{text}' is a function, a pointer to one or a macro")
        call = _find(code, code.pairs.get(call, call) + 1, end, lambda text: text == "(")
    if _find(code, start, end, lambda text: text == "...") is not None:
        raise UnreadableParameter(span.start, "a kernel cannot have a variable number of parameters")
    strange = _find(code, start, end, lambda text: text in {"<", ">", "{", "}", ")", "]", ";", "#", "##", "+", "-", "/", "."})
    if strange is not None or start >= end:
        raise UnreadableParameter(span.start, f"'{join(code, start, end)}' does not read as a parameter")
    if end - start == 1 and code.texts[start] not in _TYPE_WORDS | _SPECIFIERS and _MACRO_NAME.match(code.texts[start]):
        raise UnreadableParameter(
            span.start, f"'{code.texts[start]}' may be a type without a parameter name or a macro from another file"
        )


def _is_name(code: Code, start: int, index: int) -> bool:
    """Tell whether the identifier at `index` names the parameter: something before it must already be a type."""
    if (
        index <= start
        or not code.is_identifier(index)
        or code.texts[index] in _TYPE_WORDS | _SPECIFIERS
        or code.text(index - 1) == "::"
    ):
        return False
    position = start
    while position < index:
        text = code.texts[position]
        if text == "[":
            position = code.pairs.get(position, position) + 1
        elif text in ("__attribute__", "alignas"):
            position = code.pairs.get(position + 1, position + 1) + 1
        elif text in _SPECIFIERS:
            position += 1
        else:
            return True
    return False
