"""What a header declares, as far as it may change what a name means below."""

from __future__ import annotations

import pytest

from skrules.adapt.declarations import macro_name, read_declarations
from skrules.source.calls import functions
from skrules.source.kernels import read


def names_of(text: str) -> list[str]:
    unit = read(text.encode(), "f.h")
    bodies = tuple(each.body for each in functions(unit))
    return [each.name or each.what for each in read_declarations(unit.code, bodies)]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("int a; float b[2] = {1}, *c, d{2};", ["a", "b", "c", "d"]),
        ("int f(int n, T m = g(1)) { int inner; }\nint after;", ["f", "after"]),
        ("template <typename T, int N = 2> T f(T n);", ["f"]),
        ("struct S { int m; void g() { int n; } }; struct W;", ["S", "W"]),
        ("enum E { A, B = 2 };", ["E", "A", "B"]),
        ("namespace a { namespace b::c { int n; } } namespace d = a;", ["n", "d", "a"]),
        ("int K::m() { return 0; } int K::n = 1;", []),
        ("using T = int; using a::f; typedef int U;", ["T", "f", "U"]),
        ("#define M(x) y\n#ifdef A\nint a;\n#endif\n", ["M", "a"]),
        ("#pragma once\n", []),
    ],
)
def test_names(text: str, names: list[str]) -> None:
    assert names_of(text) == names


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("using namespace a;", "declares more than a plain name"),
        ("T operator+(T, T);", "declares more than a plain name"),
        ("#include <a.h>\n", "has #include"),
        ("#undef M\n", "has #undef"),
        ("struct S {\n#pragma pack(1)\n};\n", "has #pragma"),
    ],
)
def test_what_may_change_any_name(text: str, what: str) -> None:
    assert what in names_of(text)


def test_macros() -> None:
    assert [macro_name(text) for text in ("# define A(x) B", "#undef A", "#ifdef A", "#define")] == ["A", "A", "", ""]
    unit = read(b"#define A\nint A;\n", "f.h")
    assert [each.is_macro for each in read_declarations(unit.code, ())] == [True, False]
