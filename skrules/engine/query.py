"""Questions to a graph of named nodes: what a node needs, what needs it, and by which way.

Nothing here knows what the nodes are. A graph tells what it knows when it is asked, so that a question to few nodes costs
little, however large the graph is. No function uses Python's stack for the graph's depth, and circles end nothing.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from skrules.engine.query_syntax import Call, Chain, Expression, Word, Words, parse_query, query_error
from skrules.errors import UsageError, did_you_mean


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """`kind` is what `kind()` looks at, such as "operator rule". `attributes` are what `attr()` looks at: text, or lists of it.

    `at` is where the node is declared, as file:line. `is_test`: `tests()` selects it.
    """

    name: str
    kind: str
    attributes: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict)
    at: str = ""
    is_test: bool = False


class QueryGraph(Protocol):
    """What is asked."""

    def find(self, word: str) -> tuple[str, ...]:
        """Return the names that a word of a query stands for. Raises UsageError for a word that stands for nothing."""

    def node(self, name: str) -> Node: ...

    def needs(self, name: str) -> tuple[str, ...]:
        """Return the names of the nodes that `name` needs directly."""

    def attribute_names(self) -> Iterable[str]:
        """Return every attribute that a node of this graph can have."""


def run_query(text: str, graph: QueryGraph) -> tuple[str, ...]:
    """Return the names that a query selects: along the way for `somepath`, otherwise sorted.

    Raises UsageError with the place for a query that cannot be read, and for words and attributes that name nothing.
    """
    expression = parse_query(text)
    found = _Evaluation(text, graph).names(expression)
    return tuple(found) if isinstance(expression, Call) and expression.function == "somepath" else tuple(sorted(found))


class _Evaluation:
    """Sets of names are the keys of dicts, whose order only `somepath` gives a meaning."""

    def __init__(self, text: str, graph: QueryGraph) -> None:
        self.text = text
        self.graph = graph
        self._words: dict[str, tuple[str, ...]] = {}

    def names(self, expression: Expression | int) -> dict[str, None]:
        match expression:
            case Word():
                return dict.fromkeys(self._find(expression))
            case Words():
                return dict.fromkeys(name for word in expression.items for name in self._find(word))
            case Chain():
                result = self.names(expression.first)
                for operator, right in expression.rest:
                    result = _combined(result, operator, self.names(right))
                return result
            case Call():
                return _FUNCTIONS[expression.function](self, *expression.arguments)
        raise TypeError(f"{expression!r} is no expression")

    def _find(self, word: Word) -> tuple[str, ...]:
        if word.text not in self._words:
            try:
                self._words[word.text] = self.graph.find(word.text)
            except UsageError as error:
                raise query_error(self.text, error.message, word.at, allowed=error.allowed, hint=error.hint) from error
        return self._words[word.text]

    def _pattern(self, word: Word) -> re.Pattern[str]:
        try:
            return re.compile(word.text)
        except re.error as error:
            raise query_error(
                self.text, f"'{word.text}' is not a regular expression: {error.msg}", word.at + (error.pos or 0)
            ) from error

    def _deps(self, start: Expression, depth: int = -1) -> dict[str, None]:
        return _reached(self.names(start), self.graph.needs, depth)

    def _rdeps(self, universe: Expression, start: Expression, depth: int = -1) -> dict[str, None]:
        all_nodes = _reached(self.names(universe), self.graph.needs)
        needed_by = self._needed_by(all_nodes)
        inside = dict.fromkeys(name for name in self.names(start) if name in all_nodes)
        return _reached(inside, lambda name: needed_by.get(name, ()), depth)

    def _allpaths(self, start: Expression, end: Expression) -> dict[str, None]:
        below = _reached(self.names(start), self.graph.needs)
        needed_by = self._needed_by(below)
        ends = dict.fromkeys(name for name in self.names(end) if name in below)
        return _reached(ends, lambda name: needed_by.get(name, ()))

    def _somepath(self, start: Expression, end: Expression) -> dict[str, None]:
        ends = self.names(end)
        came_from: dict[str, str | None] = dict.fromkeys(sorted(self.names(start)))
        waiting = deque(came_from)
        while waiting:
            name = waiting.popleft()
            if name in ends:
                path = [name]
                while (before := came_from[path[-1]]) is not None:
                    path.append(before)
                return dict.fromkeys(reversed(path))
            for needed in self.graph.needs(name):
                if needed not in came_from:
                    came_from[needed] = name
                    waiting.append(needed)
        return {}

    def _needed_by(self, names: Iterable[str]) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for name in names:
            for needed in self.graph.needs(name):
                found.setdefault(needed, []).append(name)
        return found

    def _kind(self, pattern: Word, start: Expression) -> dict[str, None]:
        matches = self._pattern(pattern).search
        return {name: None for name in self.names(start) if matches(self.graph.node(name).kind)}

    def _attr(self, attribute: Word, pattern: Word, start: Expression) -> dict[str, None]:
        known = sorted(self.graph.attribute_names())
        if attribute.text not in known:
            raise query_error(
                self.text,
                f"nothing has an attribute '{attribute.text}'",
                attribute.at,
                allowed=tuple(known),
                hint=did_you_mean(attribute.text, known),
            )
        matches = self._pattern(pattern).search
        selected: dict[str, None] = {}
        for name in self.names(start):
            value = self.graph.node(name).attributes.get(attribute.text)
            if value is not None and matches(shown_value(value)):
                selected[name] = None
        return selected

    def _tests(self, start: Expression) -> dict[str, None]:
        return {name: None for name in self.names(start) if self.graph.node(name).is_test}


# Arguments are as FUNCTIONS of the syntax says; the parser has seen to that.
_FUNCTIONS: dict[str, Callable[..., dict[str, None]]] = {
    "allpaths": _Evaluation._allpaths,
    "attr": _Evaluation._attr,
    "deps": _Evaluation._deps,
    "kind": _Evaluation._kind,
    "rdeps": _Evaluation._rdeps,
    "somepath": _Evaluation._somepath,
    "tests": _Evaluation._tests,
}


def shown_value(value: str | tuple[str, ...]) -> str:
    """Return an attribute's value as `attr()` sees it: a list as "[a, b]"."""
    return value if isinstance(value, str) else f"[{', '.join(value)}]"


def _combined(left: dict[str, None], operator: str, right: dict[str, None]) -> dict[str, None]:
    if operator == "+":
        return left | right
    return {name: None for name in left if (name in right) == (operator == "^")}


def _reached(start: Iterable[str], needs: Callable[[str], Iterable[str]], depth: int = -1) -> dict[str, None]:
    """Return `start` and what it reaches in `depth` steps; -1: in any number of them."""
    found = dict.fromkeys(start)
    edge = list(found)
    while edge and depth:
        depth -= 1
        beyond: dict[str, None] = {}
        for name in edge:
            for needed in needs(name):
                if needed not in found:
                    found[needed] = None
                    beyond[needed] = None
        edge = list(beyond)
    return found
