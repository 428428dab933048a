"""One declaration around a `__global__`: its extent, qualifiers, template heads, name and parameter list."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise

from skrules.source.code import Code, join
from skrules.source.conditions import Conditions
from skrules.source.macros import Budget, Macro, ambiguity
from skrules.source.model import TokenKind, printable
from skrules.source.types import type_of_qualifiers

# What takes arguments in a declaration without being its name.
_QUALIFIER_CALLS = frozenset(
    {"__mix__", "__attribute__", "__attribute", "__launch_bounds__", "__schedmode__", "__declspec", "alignas", "noexcept"}
)
_NO_QUALIFIERS = frozenset({"public", "private", "protected", "else", "do", "return", "case", "default", "goto", "new", "delete"})
# Words after which a declaration must go on.
_OPEN_WORDS = frozenset(
    {"extern", "static", "inline", "__inline__", "__forceinline__", "constexpr", "void", "template"}
    | {"__global__", "__aicore__", "__vector__", "__cube__"}
)
_CLOSING = frozenset({")", "]", ">"})
_ENDS = frozenset({";", "{", "}", ":"})
_LINKAGES = frozenset({'"C"', '"C++"'})
_BODY_OR_END = frozenset({"{", ";", "="})


class Unreadable(Exception):
    """A declaration that is not understood. `index` is the token that tells why."""

    def __init__(self, index: int, reason: str) -> None:
        super().__init__(reason)
        self.index = index
        self.reason = reason


@dataclass(slots=True)
class Declaration:
    """Indices into the code. `opening`/`closing` are the parentheses of the parameter list, `body` the `{` or -1.

    `name` has several tokens when it is qualified (`ns::k`) or pasted (`k_##T`); `end` is the first token after the head.
    `other_qualifiers` are those of the branches of an `#if` in the head that the reading does not follow.
    """

    start: int
    qualifiers: list[str] = field(default_factory=list)
    other_qualifiers: list[str] = field(default_factory=list)
    template_heads: list[tuple[int, int]] = field(default_factory=list)
    extern_c: bool = False
    is_instantiation: bool = False
    returns_void: bool = False
    has_conditions: bool = False
    name: tuple[int, int] = (0, 0)
    specialisation: tuple[int, int] = (0, 0)
    opening: int = -1
    closing: int = -1
    body: int = -1
    end: int = 0
    budget: Budget = field(default_factory=Budget)

    @property
    def all_qualifiers(self) -> tuple[str, ...]:
        """Those of the branches that are followed, then what further branches add."""
        return (*self.qualifiers, *dict.fromkeys(each for each in self.other_qualifiers if each not in self.qualifiers))


def find_start(code: Code, conditions: Conditions, at: int, lower: int) -> int:
    """Return where the declaration begins that the token `at` is a qualifier of; not before `lower`.

    Only what can belong to a declaration is taken in: a macro used as a statement before it is not.
    """
    index = at
    while index > lower:
        before = index - 1
        text = code.texts[before]
        if code.is_directive(before):
            group = conditions.groups.get(before)
            reach = group.start if group else before
            is_within = _is_open(code, before) if group is None or before == group.end else _is_open(code, reach)
            if reach < lower or not is_within:
                return index
            index = reach
        elif text in _CLOSING:
            opening = code.pairs.get(before, -1)
            if opening < lower:
                return index
            if text == "]":
                index = opening
            elif (text == ">" and code.text(opening - 1) == "template") or (
                text == ")" and _is_qualifier_call(code, opening - 1, lower)
            ):
                index = opening - 1
            else:
                return _template_before(code, index, lower)
        elif code.kind(before) is TokenKind.STRING and code.text(before - 1) == "extern":
            index = before - 1
        elif code.is_identifier(before) and text not in _NO_QUALIFIERS:
            index = before
        else:
            return index if text in _ENDS else _template_before(code, index, lower)
    return max(index, lower)


def _is_open(code: Code, directive: int) -> bool:
    """Tell whether the tokens before a directive begin a declaration that goes on after it."""
    text = code.text(directive - 1)
    if text == ")":
        return code.text(code.pairs.get(directive - 1, 0) - 1) in _QUALIFIER_CALLS
    if text == ">":
        return code.text(code.pairs.get(directive - 1, 0) - 1) == "template"
    return text in _OPEN_WORDS or text in _LINKAGES or text == "]"


def _is_qualifier_call(code: Code, name: int, lower: int) -> bool:
    """Tell whether `NAME(...)` in front of qualifiers is one of them, and not a macro used as a statement.

    An unknown name is one when the declaration demonstrably began before it.
    """
    if name < lower or not code.is_identifier(name):
        return False
    return code.texts[name] in _QUALIFIER_CALLS or (name > lower and not code.is_directive(name - 1) and _is_open(code, name))


def _template_before(code: Code, index: int, lower: int) -> int:
    """Return the beginning of the statement if it is a template (with a requires-clause, say), else `index`."""
    start = index
    while start > lower and code.texts[start - 1] not in _ENDS and not code.is_directive(start - 1):
        start -= 1
    return start if code.text(start) == "template" else index


def read_declaration(code: Code, conditions: Conditions, start: int, macros: Mapping[str, tuple[Macro, ...]]) -> Declaration:
    """Read the declaration that begins at `start`, along the first branch of every `#if` in it.

    Qualifiers that are macros are replaced by what they stand for. Raises Unreadable.
    """
    found = Declaration(start)
    _read_specifiers(code, conditions, start, found, macros)
    if found.opening < 0:
        raise Unreadable(len(code) - 1, "the declaration does not end")
    _read_tail(code, conditions, found)
    return found


def _read_specifiers(
    code: Code,
    conditions: Conditions | None,
    index: int,
    found: Declaration,
    macros: Mapping[str, tuple[Macro, ...]],
    within: tuple[str, ...] = (),
    end: int | None = None,
) -> None:
    """Read up to the parameter list, or up to `end`, by default that of the code: of a macro's replacement list, say.

    `within` are the macros being replaced. Without `conditions` all branches of an `#if` are read.
    """
    end = len(code) if end is None else end
    while index < end and found.opening < 0:
        text = code.texts[index]
        if code.is_directive(index):
            if conditions is not None:
                _read_other_branches(code, conditions, index, found, macros)
            index = index + 1 if conditions is None else _step_over(conditions, index, found)
        elif text == "template":
            index = _template_head(code, index, found)
        elif text == "requires":
            index = _requirement(code, index + 1)
        elif text == "extern" and code.text(index + 1) in _LINKAGES:
            found.extern_c = found.extern_c or code.texts[index + 1] == '"C"'
            index += 2
        elif text == "[":
            closing = _partner(code, index)
            found.qualifiers.append(join(code, index, closing + 1))
            index = closing + 1
        elif text == "void" and not found.returns_void:
            found.returns_void = True
            index += 1
        elif (
            text not in _OPEN_WORDS
            and code.text(index + 1) not in ("(", "::", "##", "<")
            and _is_object_macro(text, macros, within)
        ):
            _read_macro_specifiers(code, index, found, macros, within)
            index += 1
        elif code.is_identifier(index) or text == "::":
            index = _name_or_qualifier(code, index, found)
        else:
            raise Unreadable(index, f"'{printable(text[:40])}' is not expected in the declaration of a kernel")


def holds_specifiers(macro: Macro, macros: Mapping[str, tuple[Macro, ...]]) -> bool:
    """Tell whether the replacement list of a macro is nothing but specifiers, so that the macro can stand for them."""
    found = Declaration(0)
    try:
        _read_specifiers(macro.code, None, 0, found, macros, (macro.name,))
    except Unreadable:
        return False
    return macro.parameters is None and found.opening < 0 and not found.template_heads


def _is_object_macro(name: str, macros: Mapping[str, tuple[Macro, ...]], within: tuple[str, ...]) -> bool:
    return name not in within and any(macro.parameters is None for macro in macros.get(name, ()))


def _read_macro_specifiers(
    code: Code, index: int, found: Declaration, macros: Mapping[str, tuple[Macro, ...]], within: tuple[str, ...]
) -> None:
    """Take in what the macro at `index` stands for. Its definitions (under `#if`, say) may differ in what matters little."""
    name = code.texts[index]
    meanings: list[Declaration] = []
    for macro in macros[name]:
        if not found.budget.spend():
            raise Unreadable(index, f"the macro '{name}' takes too many other macros to understand")
        meanings.append(Declaration(found.start, budget=found.budget))
        # A macro may use others, never itself.
        _read_specifiers(macro.code, None, 0, meanings[-1], macros, (*within, name))
        if meanings[-1].opening >= 0 or meanings[-1].template_heads:
            raise Unreadable(index, f"the macro '{name}' holds more than qualifiers of the kernel")
        if type_of_qualifiers(meanings[-1].qualifiers) != type_of_qualifiers(meanings[0].qualifiers):
            raise Unreadable(index, f"the macro '{name}' {ambiguity(macros[name])}")
    found.qualifiers += meanings[0].qualifiers
    found.extern_c = found.extern_c or any(meaning.extern_c for meaning in meanings)
    found.returns_void = found.returns_void or all(meaning.returns_void for meaning in meanings)


def _read_other_branches(
    code: Code, conditions: Conditions, index: int, found: Declaration, macros: Mapping[str, tuple[Macro, ...]]
) -> None:
    """Note the qualifiers in the branches that the reading passes at the directive `index`.

    A branch with a parameter list is a head of its own, and no part of this one.
    """
    group = conditions.groups.get(index)
    if group is None or found.start <= group.start != index:  # noted at the `#if`
        return
    for start, end in pairwise(group.marks):
        if index <= start != group.first[0] and not conditions.is_dead(start + 1):
            other = Declaration(start, budget=found.budget)
            with suppress(Unreadable):  # whether this is a declaration, the branch that is followed tells
                _read_specifiers(code, None, start + 1, other, macros, end=end)
            found.other_qualifiers += other.qualifiers if other.opening < 0 else []


def _step_over(conditions: Conditions, index: int, found: Declaration) -> int:
    if index not in conditions.groups:
        return index + 1
    found.has_conditions = True
    return conditions.skip(index)


def _partner(code: Code, index: int) -> int:
    closing = code.pairs.get(index, -1)
    if closing < index:
        raise Unreadable(index, f"the '{code.texts[index]}' is not closed")
    return closing


def _template_head(code: Code, index: int, found: Declaration) -> int:
    if code.text(index + 1) != "<":
        found.is_instantiation = True
        return index + 1
    closing = _partner(code, index + 1)
    found.template_heads.append((index + 1, closing))
    return closing + 1


def _requirement(code: Code, index: int) -> int:
    """Return the index after a requires-clause: primary expressions joined by `&&` and `||`."""
    while True:
        if code.text(index) == "(":
            index = _partner(code, index) + 1
        else:
            while code.is_identifier(index) or code.text(index) == "::":
                index += 1
                if code.text(index) == "<":
                    index = _partner(code, index) + 1
                elif code.text(index) != "::":
                    break
        if code.text(index) not in ("&&", "||"):
            return index
        index += 1


def _name_or_qualifier(code: Code, index: int, found: Declaration) -> int:
    """Take the name at `index` into `found` if a parameter list follows it, else a qualifier. Returns what comes after."""
    end = index + 1
    while end < len(code) and (code.texts[end] in ("::", "##") or code.texts[end - 1] in ("::", "##")):
        end += 1
    opening = end
    if code.text(end) == "<" and end in code.pairs and code.text(code.pairs[end] + 1) == "(":
        opening = code.pairs[end] + 1
    if code.text(opening) != "(":
        found.qualifiers.append(join(code, index, end))
        return end
    closing = _partner(code, opening)
    is_call = code.texts[index] in _QUALIFIER_CALLS
    follows = closing + 1
    if not is_call and code.text(follows) == "(":
        raise Unreadable(index, f"the macro '{code.texts[index]}' makes the name of the kernel")
    if not is_call and opening == end and code.is_identifier(follows) and code.texts[follows] not in _QUALIFIER_CALLS:
        is_call = not found.returns_void or code.text(follows + 1) in ("(", "<", "::", "##")
    if is_call:
        found.qualifiers.append(join(code, index, closing + 1))
        return follows
    found.name = (index, end)
    found.specialisation = (end, opening)
    found.opening, found.closing = opening, closing
    return follows


def _read_tail(code: Code, conditions: Conditions, found: Declaration) -> None:
    """Read what stands between the parameter list and the body or the `;`."""
    found.has_conditions = found.has_conditions or conditions.crosses(found.opening, found.closing)
    index = found.closing + 1
    while index < len(code) and code.texts[index] not in _BODY_OR_END:
        if code.is_directive(index):
            index = _step_over(conditions, index, found)
        elif code.texts[index] in ("(", "["):
            closing = _partner(code, index)
            if code.texts[index] == "[":
                found.qualifiers.append(join(code, index, closing + 1))
            index = closing + 1
        elif code.is_identifier(index) and code.texts[index] not in _OPEN_WORDS:
            is_call = code.text(index + 1) == "("
            after = _partner(code, index + 1) + 1 if is_call else index + 1
            found.qualifiers.append(join(code, index, after))
            index = after
        else:
            raise Unreadable(index, f"'{printable(code.texts[index][:40])}' stands between the parameter list and the body")
    found.end = index
    if code.text(index) == "{":
        found.body = index
