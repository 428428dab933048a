"""What a `{` opens, and what is in force inside of it."""

from __future__ import annotations

import pytest

from skrules.source.code import code_of
from skrules.source.scopes import Scope, innermost, linkage, namespaces, scope_at
from skrules.source.tokens import tokenize


def innermost_scope(text: str) -> Scope | None:
    """Return the scope after all braces of `text`, none of which is closed."""
    code = code_of(tokenize(text))
    scope: Scope | None = None
    for index, word in enumerate(code.texts):
        scope = scope_at(code, index, scope) if word == "{" else scope
    return scope


@pytest.mark.parametrize(
    ("text", "kind", "names"),
    [
        ("namespace a {", "namespace", ("a",)),
        ("namespace a::b {", "namespace", ("a", "b")),
        ("inline namespace a {", "namespace", ("a",)),
        ("namespace a::inline b {", "namespace", ("a", "b")),
        ("namespace [[maybe_unused]] a {", "namespace", ("a",)),
        ("namespace VISIBLE a {", "namespace", ("a",)),
        ("namespace {", "namespace", ("",)),
        ('extern "C" {', "extern-c", ()),
        ('extern "C++" {', "extern-c++", ()),
        ("struct S : B<int> {", "class", ()),
        ("enum class E : int {", "class", ()),
        ("void f(struct S s) {", "block", ()),
        ("int x[] = {", "block", ()),
    ],
)
def test_kinds(text: str, kind: str, names: tuple[str, ...]) -> None:
    scope = innermost_scope(text)
    assert scope is not None
    assert (scope.kind, scope.names) == (kind, names)


def test_where_a_scope_begins() -> None:
    code = code_of(tokenize("int x; inline namespace a::b {"))
    scope = scope_at(code, len(code) - 1, None)
    assert "".join(code.texts[scope.start : scope.brace]) == "inlinenamespacea::b"


def test_scopes_around() -> None:
    scope = innermost_scope("namespace a { namespace { class K { void f() {")
    assert scope is not None
    assert (scope.depth, namespaces(scope)) == (4, ("a", ""))
    around = innermost(scope, "class", "namespace")
    assert around is not None and around.kind == "class"
    assert innermost(scope, "extern-c") is None
    assert namespaces(None) == ()


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", ""),
        ('extern "C" {', "block"),
        ('extern "C" { namespace a {', "block"),
        ('extern "C" { extern "C++" {', ""),
        ('extern "C++" { extern "C" {', "block"),
    ],
)
def test_linkage(text: str, wanted: str) -> None:
    assert linkage(innermost_scope(text)) == wanted
