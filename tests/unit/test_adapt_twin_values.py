"""Objects of classes with twins that are made without a declaration, and helpers whose copies are other things."""

from __future__ import annotations

import pytest

from skrules.adapt.adaptation import AdaptedSource, adapt
from skrules.contract.check import resolve
from skrules.source.kernels import read

ASKS = "int n() const { return a / (int)AscendC::GetBlockNum(); }"
PAIR = f"struct P {{ int a; int b; {ASKS} }};\n"
VALUE = f"struct P {{ int a; P(int v) : a(v) {{}} {ASKS} }};\n"
HOLDER = "struct O { P p; int c; int m() const { return p.n() + c; } };\n"
DERIVED = "struct O : P { int c; int m() const { return n() + c; } };\n"


def adapted(helpers: str, body: str) -> AdaptedSource:
    text = f'#include "kernel_operator.h"\n{helpers}__global__ __vector__ void k(GM_ADDR x) {{ {body} }}\n'
    unit = read(text.encode(), "k.asc")
    return adapt(unit, resolve(unit, None))


@pytest.mark.parametrize(
    ("helpers", "body", "reason"),
    [
        (PAIR + "inline P make() { return {64, 2}; }\n", "use(make().n());", "braces without a type"),
        (PAIR + "inline int go(P p) { return p.n(); }\n", "use(go({64, 2}));", "braces without a type"),
        (PAIR + "inline int go(const P &p) { return p.n(); }\n", "use(go({64, 2}));", "braces without a type"),
        (PAIR, "P p; p = {64, 2}; use(p.n());", "braces without a type"),
        (PAIR, "const P &p = {64, 2}; use(p.n());", "braces without a type"),
        (VALUE + "inline int go(P p) { return p.n(); }\n", "use(go(64));", "handed on whole"),
        (VALUE + "inline int go(const P &p) { return p.n(); }\n", "use(go(64));", "handed on whole"),
        (VALUE + "struct Q { P make() { return 64; } };\n", "Q q; use(q.make().n());", "handed on whole"),
        (VALUE, "P p(3); p = 64; use(p.n());", "made of another one"),
        (PAIR, "P p; P *q = &p; *q = {64, 2}; use(p.n());", "braces without a type"),
        (PAIR, "P p; auto &q = p; q = {64, 2}; use(p.n());", "braces without a type"),
        (PAIR, "P p; (p) = {64, 2}; use(p.n());", "braces without a type"),
        (PAIR, "P p; std::exchange(p, {}); use(p.n());", "braces without a type"),
        (VALUE, "P p(3); P *q = &p; *q = 64; use(p.n());", "made of another one"),
        (PAIR, "int raw[2] = {64, 3}; auto *p = (P *)raw; use(p->n());", "other memory"),
        (PAIR, "auto *p = reinterpret_cast<const P *>(x); use(p->n());", "other memory"),
        (PAIR, "P p; p = *(__gm__ P *)x; use(p.n());", "other memory"),
        ("namespace t { " + PAIR + "}\n", "use(((const t::P &)x).n());", "other memory"),
        ("int f() try { return AscendC::GetBlockNum(); } catch (...) { return 3; }\n", "use(f());", "handlers behind"),
        (PAIR, "P p{64, 2}; auto [a, b] = p; use(p.n());", "taken apart"),
        (PAIR, "P p{64, 2}; const auto &[a, b] = p; use(p.n());", "taken apart"),
        (PAIR + HOLDER, "O o{64, 2, 7}; use(o.m());", "count out the members of 'O'"),
        (PAIR + DERIVED, "O o{64, 2, 7}; use(o.m());", "count out the members of 'O'"),
        (PAIR + "inline P make() { P p; return p; }\n", "decltype(make()) p; use(p.n());", "decltype is asked of 'make'"),
        (PAIR, "P p; auto f = [](auto &one) { std::decay_t<decltype(one)> q; return q.n(); }; use(f(p));", "asked of 'one'"),
        (PAIR + "struct O { using B = P; B b; int m() { return b.n(); } };\n", "O o; use(o.m());", "the name 'B'"),
        (PAIR + "struct O { typedef P B; B b; int m() { return b.n(); } };\n", "O o; use(o.m());", "the name 'B'"),
        (PAIR + "struct O { using B = P; };\n", "O::B b; use(b.n());", "the name 'B'"),
        (f"union P {{ int a; float b; {ASKS} }};\n", "P p; use(p.n());", "is a union"),
        (
            "template <class T> struct P { T a; P(int v) : a(v) {} int n() { return AscendC::GetBlockNum(); } };\n"
            "P(int) -> P<float>;\n",
            "P p(65); use(p.n());",
            "deduction guide",
        ),
        (
            "template <class T = int> struct P;\ntemplate <class T> struct P { T n() { return AscendC::GetBlockNum(); } };\n",
            "P<> p; use(p.n());",
            "default template arguments in another declaration",
        ),
        (
            "template <class T = int> T f(int n);\ntemplate <class T> T f(int n) { return n / AscendC::GetBlockNum(); }\n",
            "use(f(1));",
            "default template arguments in another declaration",
        ),
        ("int f() {\n#ifndef D\n#define D\n#endif\nreturn AscendC::GetBlockNum(); }\n", "use(f());", "cannot be copied"),
    ],
)
def test_what_would_not_be_the_same_has_no_twin(helpers: str, body: str, reason: str) -> None:
    source = adapted(helpers, body)
    messages = [finding.message for finding in source.findings]
    assert any(reason in message for message in messages), messages
    assert source.status == "needs-human"


@pytest.mark.parametrize(
    ("helpers", "body"),
    [
        (PAIR, "P p{64, 2}; use(p.n());"),
        (PAIR + "inline P make() { P p; p.a = 64; return p; }\n", "auto p = make(); use(p.n());"),
        (PAIR + "inline int go(P &p) { return p.n(); }\n", "P p; f({1, 2}); use(go(p));"),
        (PAIR + HOLDER, "O o{}; o.p.a = 64; use(o.m());"),
        (PAIR + "struct O : P { using B = P; int m() { return B::n(); } };\n", "O o; use(o.m());"),
        (PAIR, "using B = P; B p; use(p.n());"),
        ("namespace t { " + PAIR + "}\n", "using B = t::P; B p; use(p.n());"),
        (VALUE, "P p(64); use(p.n());"),
        (VALUE, "P p(64); P *q; q = &p; use(q->n());"),
        (PAIR, "P p; int n = 0; f(n, {1, 2}); use(p.n() * (n & 1));"),
        (PAIR + "int f(P *) { return 1; }\n", "P p; use(p.n() + f(&p));"),
        (PAIR + "int f(int n);\nint f(int m) { P p{m}; return p.n(); }\n", "P p; use(f(64));"),
        (PAIR, "int v = 3; decltype(v) w = {4}; P p; use(p.n());"),
    ],
)
def test_what_is_declared_keeps_its_twin(helpers: str, body: str) -> None:
    source = adapted(helpers, body)
    assert source.status == "completed", [str(finding) for finding in source.findings]
    assert b".SkrulesSetNumBlocks(static_cast" in source.text() or b"make_sk(static_cast" in source.text()
