"""The language of queries and what it selects, on graphs that are nobody's in particular."""

from __future__ import annotations

import pytest

from skrules.engine.dot import Box, render_dot
from skrules.engine.query import Node, run_query
from skrules.errors import UsageError

#   app -> lib -> base.h        app_test (a test) -> app
#   app -> app.c -> base.h      tool -> tool.c
EDGES = {
    "app": ("lib", "app.c"),
    "lib": ("base.h",),
    "app.c": ("base.h",),
    "app_test": ("app",),
    "tool": ("tool.c",),
    "base.h": (),
    "tool.c": (),
}


class Graph:
    """Words are names, or `all`. Counts how often it is asked what a node needs."""

    def __init__(self, edges=EDGES):
        self.edges = edges
        self.asked = 0

    def find(self, word):
        if word == "all":
            return tuple(self.edges)
        if word not in self.edges:
            raise UsageError(f"no '{word}'", hint="one of mine")
        return (word,)

    def node(self, name):
        if "." in name:
            return Node(name=name, kind="source file")
        attributes = {"tags": ("slow", "big") if name == "tool" else (), "title": f"the {name}"}
        return Node(name=name, kind="program rule", attributes=attributes, is_test=name.endswith("_test"))

    def needs(self, name):
        self.asked += 1
        return self.edges[name]

    def attribute_names(self):
        return ("tags", "title")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("app", "app"),
        ("'app'", "app"),
        ('"app.c"', "app.c"),
        ("set(tool app tool)", "app tool"),
        ("set()", ""),
        ("deps(app)", "app app.c base.h lib"),
        ("deps(app, 0)", "app"),
        ("deps(app, 1)", "app app.c lib"),
        ("deps(set(lib tool))", "base.h lib tool tool.c"),
        ("rdeps(all, base.h)", "app app.c app_test base.h lib"),
        ("rdeps(all, base.h, 1)", "app.c base.h lib"),
        ("rdeps(app, base.h)", "app app.c base.h lib"),
        ("rdeps(tool, base.h)", ""),
        ("allpaths(app_test, base.h)", "app app.c app_test base.h lib"),
        ("allpaths(app, app)", "app"),
        ("allpaths(tool, base.h)", ""),
        ("allpaths(set(tool lib), base.h)", "base.h lib"),
        ("somepath(app_test, base.h)", "app_test app lib base.h"),
        ("somepath(tool, base.h)", ""),
        ("somepath(lib, lib)", "lib"),
        ("kind(file, all)", "app.c base.h tool.c"),
        ("kind('^source', deps(tool))", "tool.c"),
        ("kind('.*', tool)", "tool"),
        ("attr(tags, big, all)", "tool"),
        ("attr(tags, '^\\[slow, big\\]$', all)", "tool"),
        ("attr(tags, '\\[\\]', set(app tool app.c))", "app"),
        ("attr(title, 'the (app|lib)$', all)", "app lib"),
        ("tests(all)", "app_test"),
        ("tests(deps(app))", ""),
        ("app + tool", "app tool"),
        ("app union tool", "app tool"),
        ("all - deps(app_test)", "tool tool.c"),
        ("all except deps(app_test)", "tool tool.c"),
        ("deps(app) ^ deps(lib)", "base.h lib"),
        ("deps(app) intersect deps(lib)", "base.h lib"),
        # From left to right, as Bazel does it: not first what stands right.
        ("app - app + tool", "tool"),
        ("app - (app + tool)", ""),
        ("app + tool - app ^ tool", "tool"),
        ("((tool))", "tool"),
        ("kind(rule,deps(app)-app)", "lib"),
        ("deps(\n  app,\n\t1\n)", "app app.c lib"),
        # Names of functions are words when nothing is called.
        ("set(app) - app", ""),
    ],
)
def test_what_is_selected(query, expected):
    assert list(run_query(query, Graph())) == expected.split()


def test_a_word_may_be_called_like_a_function():
    assert run_query("deps(deps)", Graph({"deps": ("kind",), "kind": ()})) == ("deps", "kind")


def test_a_hyphen_belongs_to_the_word_it_is_in():
    graph = Graph({"a-b": (), "a": (), "b": ()})
    assert run_query("a-b", graph) == ("a-b",)
    assert run_query("set(a a-b) - a", graph) == ("a-b",)


@pytest.mark.parametrize(
    ("query", "place", "part"),
    [
        ("", "1:1", "an expression is missing"),
        ("   ", "1:4", "an expression is missing"),
        ("app tool", "1:5", "an operator is missing"),
        ("app 'tool'", "1:6", "an operator is missing"),
        ("app)", "1:4", "')' has nothing to belong to"),
        ("(app", "1:5", "the parenthesis of column 1 is not closed"),
        ("set(app", "1:8", "the parenthesis of set in column 1 is not closed"),
        ("set(app, tool)", "1:8", "set() holds words with blanks"),
        ("set(deps(app))", "1:9", "set() holds words with blanks"),
        ("set", "1:4", "set is written set(a b c)"),
        ("app +", "1:6", "an expression is missing"),
        ("+ app", "1:1", "an expression is missing before '+'"),
        ("union app", "1:1", "an expression is missing before 'union'"),
        ("app + - tool", "1:7", "an expression is missing before '-'"),
        ("dep(app)", "1:1", "did you mean 'deps'?"),
        ("deps()", "1:6", "an expression is missing before ')'"),
        ("deps(app, x)", "1:11", "'x' is not a number of steps: deps(x[, depth])"),
        ("deps(app, -1)", "1:11", "a number is missing"),
        ("deps(app, 1, 2)", "1:12", "')' must follow here: deps(x[, depth])"),
        ("rdeps(app)", "1:10", "a ',' must follow here: rdeps(universe, x[, depth])"),
        ("kind(app)", "1:9", "kind(pattern, x)"),
        ("kind((a), app)", "1:6", "a word is missing"),
        ("kind('(', app)", "1:7", "'(' is not a regular expression"),
        ("attr(titel, x, app)", "1:6", "did you mean 'title'?"),
        ("deps(nowhere)", "1:6", "no 'nowhere'"),
        ("app +\n  nowhere", "2:3", "hint: one of mine"),
        ("'app", "1:1", "the quote ' is not closed"),
        ("app & tool", "1:5", "'&' begins no word"),
        ("*", "1:1", "'*' begins no word"),
        ("app\0", "1:4", "begins no word"),
        ("(" * 5000 + "app" + ")" * 5000, "1:102", "more than 100 expressions inside one another"),
        ("deps(" * 300 + "app" + ")" * 300, "1:506", "more than 100 expressions inside one another"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(query, place, part):
    with pytest.raises(UsageError) as caught:
        run_query(query, Graph())
    assert str(caught.value).startswith(f"error: query:{place}: ")
    assert part in str(caught.value)


def test_a_mark_stands_below_the_place():
    with pytest.raises(UsageError) as caught:
        run_query("app +\n\tdeps(nowhere) + tool", Graph())
    assert caught.value.notes == ("\tdeps(nowhere) + tool", "\t     ^")


def test_long_chains_are_no_nesting():
    assert run_query(" + ".join(["app"] * 3000), Graph()) == ("app",)


def test_circles_end():
    graph = Graph({"a": ("b",), "b": ("c",), "c": ("a", "d"), "d": ("d",)})
    assert run_query("deps(a)", graph) == ("a", "b", "c", "d")
    assert run_query("rdeps(a, a)", graph) == ("a", "b", "c")
    assert run_query("allpaths(b, a)", graph) == ("a", "b", "c")
    assert run_query("somepath(b, a)", graph) == ("b", "c", "a")
    assert run_query("somepath(d, a)", graph) == ()


@pytest.mark.parametrize(
    ("query", "selected", "most"),
    [
        ("deps(n0)", 5000, 5000),
        ("rdeps(n0, n4999)", 5000, 10_000),
        ("allpaths(n0, n4999)", 5000, 10_000),
        ("somepath(n0, n4999)", 5000, 5000),
        ("deps(n0, 10)", 11, 11),
        ("n7 + n8", 2, 0),
    ],
)
def test_each_node_is_asked_once_or_twice_however_deep_the_graph(query, selected, most):
    graph = Graph({f"n{number}": (f"n{number + 1}",) if number < 4999 else () for number in range(5000)})
    assert len(run_query(query, graph)) == selected
    assert graph.asked <= most


def test_many_ways_are_not_walked_one_by_one():
    # 2 ** 200 paths from top to bottom.
    edges = {f"{side}{row}": (f"a{row + 1}", f"b{row + 1}") for row in range(200) for side in "ab"}
    graph = Graph({**edges, "a200": (), "b200": ()})
    assert len(run_query("allpaths(a0, a200)", graph)) == 400
    assert graph.asked <= 1000


def test_drawings_quote_what_is_not_a_word():
    box = Box(name='a"b', lines=("first", "back\\slash"), group="frame")
    text = render_dot("t", [box, Box(name="c", lines=("c",), shape="note")], [('a"b', "c", "x\ny")])
    assert '    "a\\"b" [shape=box, label="first\\nback\\\\slash"];' in text
    assert '  "a\\"b" -> "c" [label="x\\ny"];' in text
    assert text.count("{") == text.count("}")
