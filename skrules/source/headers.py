"""Macros that the headers of a file define: what they mean where the file uses them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from skrules.source.code import code_of
from skrules.source.conditions import conditions_of
from skrules.source.macros import Macro, read_macro, undefined_name
from skrules.source.model import SourceUnit, Token, TokenKind


def macros_with_headers(tokens: Iterable[Token], headers: Sequence[SourceUnit]) -> dict[str, tuple[Macro, ...]]:
    """Return the macros of a file and of the headers it includes by name, each meaning once, those of the file first.

    Where a use stands, and under which conditions a macro is defined or a header is included, is not looked at: a name that
    is defined differently anywhere has more than one meaning. What an `#undef` leaves behind is one as well: a name that
    stands for itself. Only what `#if 0` hides counts for nothing.
    """
    found, undefined = _read(tokens)
    for header in headers:
        more, gone = _read(header.tokens)
        for name, macros in more.items():
            found.setdefault(name, []).extend(replace(macro, origin=header) for macro in macros)
        for name, macro in gone.items():
            undefined.setdefault(name, replace(macro, origin=header))
    for name, macro in undefined.items():
        if any(each.origin is not None for each in found.get(name, ())):
            found[name].append(macro)
    return {name: _distinct(macros) for name, macros in found.items()}


def _read(tokens: Iterable[Token]) -> tuple[dict[str, list[Macro]], dict[str, Macro]]:
    """Return the macros of one file, and the names that its last word on is an `#undef`, as macros for themselves."""
    found: dict[str, list[Macro]] = {}
    undefined: dict[str, Macro] = {}
    directives = code_of(token for token in tokens if token.kind is TokenKind.DIRECTIVE)
    conditions = conditions_of(directives)
    for index, token in enumerate(directives.tokens):
        if conditions.is_dead(index):
            continue
        macro = read_macro(token) if "def" in token.text else None
        if macro is not None:
            found.setdefault(macro.name, []).append(macro)
            undefined.pop(macro.name, None)
        elif (gone := undefined_name(token)) is not None:
            undefined[gone.name] = gone
    return found, undefined


def _distinct(macros: Sequence[Macro]) -> tuple[Macro, ...]:
    """Leave out what says the same again: a macro may be defined twice in the same words."""
    found: dict[tuple[tuple[str, ...] | None, tuple[str, ...]], Macro] = {}
    for macro in macros:
        found.setdefault((macro.parameters, macro.code.texts), macro)
    return tuple(found.values())
