"""What stands at namespace scope, and which scopes are open."""

from __future__ import annotations

import pytest

from skrules.adapt.scopes import FileScopes, has_overload, read_scopes
from skrules.source.kernels import read
from skrules.source.scopes import namespaces

KERNEL = "__global__ __vector__ void k(GM_ADDR x) {}\n"


def scopes_of(text: str) -> FileScopes:
    return read_scopes(read(text.encode(), "k.asc"))


def test_kinds_and_heads() -> None:
    text = 'namespace a::b { namespace { extern "C" { struct S { int here; }; } } }'
    scopes = scopes_of(text)
    found = scopes.at(text.index("here"))
    assert [(scope.kind, scopes.head(scope)) for scope in found] == [
        ("namespace", "namespace a::b"),
        ("namespace", "namespace"),
        ("extern-c", 'extern "C"'),
        ("class", ""),
    ]
    assert namespaces(found[-1]) == ("a", "b", "")


@pytest.mark.parametrize(
    ("text", "is_outside"),
    [
        ("namespace a { int here; }", True),
        ("void f(int here) {}", True),
        ("void f() { int here; }", False),
        ('extern "C++" { int here; }', True),
        ("namespace a = b; int x[] = { here };", False),
        ("#if A\nvoid f() {\n#else\nvoid g() {\n#endif\n}\nint here;", True),
    ],
)
def test_namespace_scope(text: str, is_outside: bool) -> None:
    scopes = scopes_of(text)
    assert scopes.is_outside(scopes.code.texts.index("here")) == is_outside


def test_branches_and_the_end_of_the_file() -> None:
    text = "#if A\nnamespace a {\nint here;\n}\n#endif\n"
    scopes = scopes_of(text)
    assert [branch.lines for branch in scopes.branches(text.index("here"))] == [("#if A",)]
    assert scopes.code.branches(scopes.at(text.index("here"))[0].brace) == scopes.branches(text.index("here"))
    assert (scopes.at(len(text)), scopes.branches(len(text))) == ((), ())


def test_very_deep_braces_end() -> None:
    depth = 3000
    text = "{" * depth + "}" * depth + " int here;"
    assert scopes_of(text).at(text.index("here")) == ()


@pytest.mark.parametrize(
    ("more", "is_overload"),
    [
        ("void k(int n);\n", True),
        ("__global__ __vector__ void k(GM_ADDR x);\n", False),
        ("namespace a { void k(int n); }\n", False),
        ("void f() { k(1); }\n", False),
        ("", False),
    ],
)
def test_overloads(more: str, is_overload: bool) -> None:
    unit = read((KERNEL + more).encode(), "k.asc")
    assert has_overload(read_scopes(unit), unit.kernels[0], unit) == is_overload
