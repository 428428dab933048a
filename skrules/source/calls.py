"""Who calls what in a file: functions and classes with their bodies, and the calls of one API by any of its spellings."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from skrules.source.code import Code, join
from skrules.source.conditions import Conditions, conditions_of
from skrules.source.macros import macros_of, read_macro
from skrules.source.model import SourceUnit, Span, TokenKind
from skrules.source.scopes import Scope, scope_at
from skrules.source.tokens import BRANCH_DIRECTIVES, directive_name, spelling

_API = "AscendC"
# Identifiers in front of a name that do not make it a declaration of that name.
_BEFORE_VALUES = frozenset({"return", "else", "case", "do", "goto", "throw", "co_return", "co_yield"})
_NO_FUNCTIONS = frozenset(
    {"if", "for", "while", "switch", "catch", "return", "sizeof", "decltype", "alignas", "noexcept", "requires"}
    | {"__attribute__", "__launch_bounds__", "__mix__", "__declspec"}
)
_CLASS_KEYS = frozenset({"class", "struct", "union"})
# What follows the parameters of a function, and no use of a macro.
_AFTER_PARAMETERS = frozenset({"const", "volatile", "noexcept", "override", "final", "requires", "throw", "try", "->", ":"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call. `span` runs from the first token of the name to `)`, `arguments` from `(` to `)`; `spelling` is the name
    as written, without blanks: `::AscendC::GetBlockNum`."""

    span: Span
    spelling: str
    arguments: Span
    line: int
    column: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A function or class with a body. `span` begins with its declaration; `body` is from `{` to `}` inclusive.

    `name` is the plain name; that of a class for `is_class`. Member functions are listed beside their class.
    """

    name: str
    is_class: bool
    span: Span
    body: Span


def find_calls(unit: SourceUnit, span: Span, name: str) -> tuple[Call, ...]:
    """Return the calls of the API function `name` within `span`.

    `AscendC::name`, `::AscendC::name`, an alias of the namespace and the plain name all count; the plain name does not when
    the file has a function of that name itself, and a member (`x.name()`) or another namespace's function never does.
    """
    code = unit.code
    if name not in code.texts:
        return ()
    spaces = _api_namespaces(code)
    has_own = any(function.name == name and not function.is_class for function in _functions(code, conditions_of(code)))
    calls: list[Call] = []
    for index, text in enumerate(code.texts):
        if text != name or not span.start <= code.tokens[index].start < span.end:
            continue
        opening = code.pairs.get(index + 1, index) + 1 if code.text(index + 1) == "<" else index + 1
        first = _first_of_name(code, index, spaces, has_own=has_own)
        if first is None or code.text(opening) != "(" or opening not in code.pairs:
            continue
        line, column = unit.lines.position(code.tokens[first].start)
        arguments = code.span(opening, code.pairs[opening])
        calls.append(
            Call(
                span=Span(start=code.tokens[first].start, end=arguments.end),
                spelling=join(code, first, index + 1),
                arguments=arguments,
                line=line,
                column=column,
            )
        )
    return tuple(calls)


def _api_namespaces(code: Code) -> frozenset[str]:
    """Return the names of namespace AscendC in a file: its own and its aliases."""
    names = {_API}
    for index, text in enumerate(code.texts):
        if text == "namespace" and code.text(index + 2) == "=":
            target = index + 3 + (code.text(index + 3) == "::")
            if code.text(target) in names and code.text(target + 1) == ";":
                names.add(code.text(index + 1))
    return frozenset(names)


def _first_of_name(code: Code, index: int, spaces: frozenset[str], *, has_own: bool) -> int | None:
    """Return where the possibly qualified name at `index` begins, or None if it does not name the API."""
    before = code.text(index - 1)
    if before == "::":
        if code.text(index - 2) not in spaces:
            return None
        first = index - 2
        if code.text(first - 1) == "::":
            return None if code.is_identifier(first - 2) and code.texts[first - 2] not in _BEFORE_VALUES else first - 1
        return first
    if has_own or before in (".", "->") or (code.is_identifier(index - 1) and before not in _BEFORE_VALUES):
        return None
    return index


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


def callers(unit: SourceUnit, name: str) -> tuple[Function, ...]:
    """Return the functions and classes of the file that call the API function `name`, themselves or through others.

    Errs on the side of too much, like `reachable`.
    """
    calls = find_calls(unit, Span(start=0, end=len(unit.text)), name)
    places = [call.span.start for call in calls]
    found = functions(unit)
    used = identifiers_in(unit, *(function.span for function in found))
    calling = {
        place
        for place, function in enumerate(found)
        if bisect_left(places, function.span.start) < bisect_left(places, function.span.end)
    }
    waiting = list(calling)
    users: dict[str, set[int]] = {}
    for place, names in enumerate(used):
        for each in names:
            users.setdefault(each, set()).add(place)
    while waiting:
        new = users.pop(found[waiting.pop()].name, set()) - calling
        calling |= new
        waiting += new
    return tuple(found[place] for place in sorted(calling))
