from __future__ import annotations

import pytest

from skrules.source.calls import functions, reachable, uses
from skrules.source.kernels import read
from skrules.source.model import SourceUnit


def unit_of(text: str) -> SourceUnit:
    return read(text.encode("latin-1"), "k.asc")


FILE = """
namespace ops {
template <typename T> __aicore__ inline T Blocks(T x) __attribute__((unused)) { return x * GetBlockNum(); }
class Base { public: __aicore__ inline void Init() { n = Blocks(1); } private: int n; };
template <> struct Traits<half> final : Base { static int Size() { return 2; } };
int Quiet() { if (true) { return 1; } auto f = [](int x) { return x; }; return f(1); }
Base::Base(int a) : n{a} { Quiet(); }
}
int table[] = {1, 2};
"""


def test_functions_and_classes() -> None:
    found = functions(unit_of(FILE))
    assert [(function.name, function.is_class) for function in found] == [
        ("Blocks", False),
        ("Base", True),
        ("Init", False),
        ("Traits", True),
        ("Size", False),
        ("Quiet", False),
        ("Base", False),
    ]
    blocks = found[0]
    assert FILE[blocks.span.start :].startswith("template <typename T>")
    assert FILE[blocks.body.start : blocks.body.end] == "{ return x * GetBlockNum(); }"


def test_reachable_goes_through_functions_classes_and_macros() -> None:
    used = uses([unit_of(FILE + "#define RUN(x) Quiet(); \\\n  Mmad(x)\n")])
    assert "Mmad" in reachable(used, ["RUN"])
    assert "GetBlockNum" in reachable(used, ["Traits"])
    assert "GetBlockNum" not in reachable(used, ["Quiet"])


@pytest.mark.parametrize(
    ("head", "name"),
    [
        ("MADE(Foo) int f()", "f"),
        ("MADE(Foo) MADE(Bar)\nstatic inline T *f(int n)", "f"),
        ("MADE(Foo) template <typename T> class K : public Base<T>", "K"),
        ("MADE(Foo) struct alignas(16) K final", "K"),
        ("ATTRIBUTE(1) template <> int f<half>(int n) const", "f"),
        ("int f() ATTRIBUTE(1)", "f"),
        ("int f() const ATTRIBUTE(1)", "f"),
        ("int f() ATTRIBUTE", "f"),
        ("auto f(int n) -> Type<decltype(g(n))>", "f"),
        ("K::K(int n) : base(n), other(f(n))", "K"),
        ("int f() noexcept(noexcept(g()))", "f"),
        ("void f() && ", "f"),
        ("template <> int f<(4 > 3)>()", "f"),
        ("V operator+(V a, V b)", "operator"),
        ('long operator""_n(unsigned long long n)', "operator"),
        ("inline operator int() const", "operator"),
        ("bool operator()(V a) const", "operator"),
        ("template <int N>\n#if 0\n } int g() { don't {\n#endif\nint f()", "f"),
        ("#if 1\nint f()\n#else\nint g() { if\n#endif\n", "f"),
        ("auto v = [](int n)", ""),
        ("namespace a", ""),
    ],
)
def test_what_a_head_declares(head: str, name: str) -> None:
    unit = read(f"int before;\n{head} {{ g(); }}\n".encode(), "k.asc")
    assert [function.name for function in functions(unit)] == ([name] if name else [])
