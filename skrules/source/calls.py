"""Functions and classes of a file with their bodies, and what can be reached from one to the next."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from skrules.source.code import Code
from skrules.source.conditions import Conditions, conditions_of
from skrules.source.macros import macros_of, read_macro
from skrules.source.model import SourceUnit, Span, TokenKind
from skrules.source.scopes import Scope, scope_at
from skrules.source.tokens import BRANCH_DIRECTIVES, directive_name, spelling

_NO_FUNCTIONS = frozenset(
    {"if", "for", "while", "switch", "catch", "return", "sizeof", "decltype", "alignas", "noexcept", "requires"}
    | {"__attribute__", "__launch_bounds__", "__mix__", "__declspec"}
)
_CLASS_KEYS = frozenset({"class", "struct", "union"})
# What follows the parameters of a function, and no use of a macro.
_AFTER_PARAMETERS = frozenset({"const", "volatile", "noexcept", "override", "final", "requires", "throw", "try", "->", ":"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A function or class with a body. `span` begins with its declaration; `body` is from `{` to `}` inclusive.

    `name` is the plain name; that of a class for `is_class`. Member functions are listed beside their class.
    """

    name: str
    is_class: bool
    span: Span
    body: Span


def functions(unit: SourceUnit) -> tuple[Function, ...]:
    """Return the functions and classes with a body, in the order of their bodies. Lambdas belong to what holds them."""
    code = unit.code
    return tuple(_functions(code, conditions_of(code)))


def _functions(code: Code, conditions: Conditions) -> list[Function]:
    found: list[Function] = []
    scope: Scope | None = None
    heads: dict[int, tuple[str, bool, int]] = {}  # by the `{`: name, is it a class, first token
    saved: dict[int, Scope | None] = {}
    after: dict[int, Scope | None] = {}
    begin = 0
    for index, text in enumerate(code.texts):
        if conditions.dead and conditions.is_dead(index):
            continue
        if text == "{":
            scope = scope_at(code, index, scope)
            if scope.kind in ("class", "block") and (scope.parent is None or scope.parent.kind != "block"):
                name, is_class = _head(code, begin, index)
                if name:
                    heads[scope.start] = (name, is_class, begin)
            begin = index + 1
        elif text == "}":
            if scope is not None:
                if scope.start in heads:
                    name, is_class, first = heads[scope.start]
                    body = code.span(scope.start, index)
                    start = code.tokens[first].start
                    found.append(Function(name=name, is_class=is_class, span=Span(start=start, end=body.end), body=body))
                scope = scope.parent
            begin = index + 1
        elif text == ";":
            begin = index + 1
        elif code.is_directive(index):
            begin = index + 1 if begin == index else begin
            group = conditions.groups.get(index)
            if group is not None and index == group.start:
                saved[index] = scope
            elif group is not None:
                if not conditions.ends_dead(index):
                    after.setdefault(group.start, scope)
                scope = after.get(group.start, saved[group.start]) if index == group.end else saved[group.start]
    return sorted(found, key=lambda function: function.body)


def _head(code: Code, begin: int, brace: int) -> tuple[str, bool]:
    """Return the name that the tokens before a `{` declare and whether it is a class; "" when they declare neither.

    `NAME(...)` may be the use of a macro that needs no semicolon: what is declared after it counts then.
    """
    index = begin
    is_class = False
    function, closing = "", begin - 1  # the last `name(...)` that may be the function, and the last `)`
    while index < brace:
        text = code.texts[index]
        if function and not is_class and (text in _AFTER_PARAMETERS or (text in ("&", "&&") and index == closing + 1)):
            return function, False
        if function and code.is_directive(index) and directive_name(text) in BRANCH_DIRECTIVES:
            return function, False  # the first branch of a head
        if text == "template" and code.text(index + 1) == "<":
            index = code.pairs.get(index + 1, index + 1)
        elif text in _CLASS_KEYS:
            is_class = True
        elif text == "operator" and not is_class:
            return text, False
        elif text == "(":
            # `f<half>(` is an explicit specialisation.
            name = code.pairs.get(index - 1, index) - 1 if code.text(index - 1) == ">" else index - 1
            is_named = code.is_identifier(name) and name >= begin and code.texts[name] not in _NO_FUNCTIONS
            # Right after a `)` stands an attribute of the function, or a further macro.
            if is_named and (not function or name > closing + 1):
                function, is_class = code.texts[name], False
            index = closing = code.pairs.get(index, index)
        elif is_class and (text in (":", "<", "final") or index == brace - 1):
            name = index if code.is_identifier(index) and text != "final" else index - 1
            return (code.texts[name], True) if code.is_identifier(name) and name > begin else ("", False)
        elif text == "=":
            return "", False
        elif text in ("[", "<"):
            index = code.pairs.get(index, index)
        index += 1
    return function, False


def identifiers_in(unit: SourceUnit, *spans: Span) -> tuple[frozenset[str], ...]:
    """Return for each span the identifiers of the code within it; it may lie in the replacement list of a macro."""
    code = unit.code
    starts = [token.start for token in code.tokens]
    found: list[frozenset[str]] = []
    for span in spans:
        first, last = bisect_left(starts, span.start), bisect_left(starts, span.end)
        tokens = code.tokens[first:last]
        if first > 0 and code.is_directive(first - 1) and code.tokens[first - 1].end >= span.end:
            macro = read_macro(code.tokens[first - 1])
            inside = macro.code.tokens if macro else ()
            tokens = tuple(token for token in inside if span.start <= token.start < span.end)
        found.append(frozenset(spelling(token) for token in tokens if token.kind is TokenKind.IDENTIFIER))
    return tuple(found)


def uses(units: Iterable[SourceUnit]) -> dict[str, frozenset[str]]:
    """Return for each function, class and macro of `units` the identifiers in it, base classes and initialisers included.

    Overloads, and members of one name, are not told apart: their identifiers are put together.
    """
    found: dict[str, frozenset[str]] = {}
    for unit in units:
        for name, macros in macros_of(unit.tokens).items():
            texts = (text for macro in macros for text in macro.code.texts)
            found[name] = found.get(name, frozenset()).union(filter(str.isidentifier, texts))
        bodies = functions(unit)
        for function, names in zip(bodies, identifiers_in(unit, *(each.span for each in bodies)), strict=True):
            found[function.name] = found.get(function.name, frozenset()) | names
    return found


def reachable(used: Mapping[str, frozenset[str]], start: Iterable[str]) -> frozenset[str]:
    """Return the identifiers that code can reach which has the identifiers `start`, going through `used` (see `uses`).

    This errs on the side of too much.
    """
    reached: set[str] = set()
    waiting = list(start)
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += used.get(name, ())
    return frozenset(reached)
