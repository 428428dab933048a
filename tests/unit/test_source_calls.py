from __future__ import annotations

import pytest

from skrules.source import read
from skrules.source.calls import callers, find_calls, functions, reachable, uses
from skrules.source.model import SourceUnit, Span


def unit_of(text: str) -> SourceUnit:
    return read(text.encode("latin-1"), "k.asc")


def calls(text: str, name: str = "GetBlockNum") -> list[str]:
    unit = unit_of(text)
    return [call.spelling for call in find_calls(unit, Span(start=0, end=len(text)), name)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("n = AscendC::GetBlockNum();", ["AscendC::GetBlockNum"]),
        ("n = ::AscendC :: GetBlockNum ( );", ["::AscendC::GetBlockNum"]),
        ("return ::AscendC::GetBlockNum();", ["::AscendC::GetBlockNum"]),
        ("using namespace AscendC; n = GetBlockNum() + 1; return GetBlockNum();", ["GetBlockNum", "GetBlockNum"]),
        ("namespace ac = AscendC; namespace b = ac; n = b::GetBlockNum();", ["b::GetBlockNum"]),
        ("n = other::GetBlockNum();", []),
        ("n = other::AscendC::GetBlockNum();", []),
        ("n = x.GetBlockNum() + p->GetBlockNum();", []),
        ('// GetBlockNum()\nchar *s = "GetBlockNum()";', []),
        ("int64_t GetBlockNum() { return 1; } n = GetBlockNum() + AscendC::GetBlockNum();", ["AscendC::GetBlockNum"]),
        ("extern int64_t GetBlockNum();", []),
        ("auto f = GetBlockNum;", []),
    ],
)
def test_spellings(text: str, expected: list[str]) -> None:
    assert calls(text) == expected


def test_spans_of_a_call() -> None:
    text = "{\n  AscendC::Add<half>(a, (b), c); }"
    (call,) = find_calls(unit_of(text), Span(start=0, end=len(text)), "Add")
    assert text[call.span.start : call.span.end] == "AscendC::Add<half>(a, (b), c)"
    assert text[call.arguments.start : call.arguments.end] == "(a, (b), c)"
    assert (call.line, call.column) == (2, 3)
    assert find_calls(unit_of(text), Span(start=0, end=3), "Add") == ()


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


def test_callers_are_transitive() -> None:
    assert [function.name for function in callers(unit_of(FILE), "GetBlockNum")] == [
        *("Blocks", "Base", "Init", "Traits"),
        "Base",  # the constructor outside of the class names the class
    ]
    assert callers(unit_of(FILE), "Exp") == ()


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
