"""What code that uses twins looks like, token by token."""

from __future__ import annotations

import sys

import pytest

from skrules.adapt.askers import NoTwin, read_helpers
from skrules.adapt.edits import apply
from skrules.adapt.names import words_of
from skrules.adapt.scopes import read_scopes
from skrules.adapt.twin_edits import body_edits
from skrules.source.code import code_of
from skrules.source.kernels import read

HELPERS = (
    "namespace a { template <typename T> T f(T n) { return n * GetBlockNum(); } }\n"
    "template <typename T> struct S { int m() { return GetBlockNum(); } };\n"
)


def edited(body: str) -> str:
    unit = read(HELPERS.encode(), "k.asc")
    helpers = read_helpers(read_scopes(unit), unit, frozenset({"AscendC"}), frozenset[str]().union(*words_of(unit)))
    code = code_of(read(body.encode(), "b.asc").tokens)
    indices = range(len(code.texts))
    return apply(body, body_edits(helpers, code, indices, "N", (indices,)))


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("{ f(1); f<int>(f(2)); }", "{ f_sk(N, 1); f_sk<int>(N, f_sk(N, 2)); }"),
        ("{ a::f(1); ::a::f<S<int> *>(x); }", "{ a::f_sk(N, 1); ::a::f_sk<S_sk<int> *>(N, x); }"),
        ("{ x.f(1); p->f(1); }", "{ x.f(1); p->f(1); }"),
        ("{ S<int> s; S<int> *p = &s; use(p); }", "{ S_sk<int> s; s.SkrulesSetNumBlocks(N); S_sk<int> *p = &s; use(p); }"),
        ("{ ::S<int> s{1, {2}}; }", "{ ::S_sk<int> s{1, {2}}; s.SkrulesSetNumBlocks(N); }"),
        ("{ auto g = [&] { return f(1); }; }", "{ auto g = [&] { return f_sk(N, 1); }; }"),
        ("{ using Op = a::S<int>; Op s; }", "{ using Op = a::S_sk<int>; Op s; s.SkrulesSetNumBlocks(N); }"),
        ("{ typedef S<int> *Op; Op s; }", "{ typedef S_sk<int> *Op; Op s; }"),
        ("{ S<int> s(1); }", "{ S_sk<int> s(1); s.SkrulesSetNumBlocks(N); }"),
        ("{ using Op = S<int>; Op s; }", "{ using Op = S_sk<int>; Op s; s.SkrulesSetNumBlocks(N); }"),
        ("{ return sizeof(S<int>::x); }", "{ return sizeof(S_sk<int>::x); }"),
    ],
)
def test_uses(body: str, text: str) -> None:
    assert edited(body) == text


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("{ use(f<int>); }", "other than in a call"),
        ("{ auto g = &f; }", "other than in a call"),
        ("{ other::f(1); }", "something else"),
        ("{ S<int> s, t; }", "plain declaration"),
        ("{ S<int> s = make(); }", "plain declaration"),
        ("{ use(S<int>()); }", "plain declaration"),
        ("{ new S<int>; }", "plain declaration"),
        ("{ const S<int> s; }", "plain declaration"),
        ("{ ::a::f<S<int>>(x); }", "argument of a template"),
        ("{ Runner<half, S<int>, 3> r; }", "argument of a template"),
        ("{ Runner<Pair<(1), S<int>>> r; }", "argument of a template"),
        ("{ auto g = [] { return f(1); }; }", "'f' is called in a lambda without a capture default"),
        ("{ struct L { int g() { return f(1); } }; }", "'f' is called in a class"),
        ("{ auto g = [] { S<int> s; return s.m(); }; }", "made in a lambda"),
        ("{ f(1, 2); }", "called with 2 arguments"),  # another overload, which is not seen
        ("{ f(); }", "called with 0 arguments"),
    ],
)
def test_what_is_refused(body: str, reason: str) -> None:
    with pytest.raises(NoTwin, match=reason):
        edited(body)


@pytest.mark.parametrize(
    ("parameters", "counts"),
    [
        ("", (0, 0)),
        ("int a, Pair<int, int> b", (2, 2)),
        ("int a, int b = g(1, 2)", (1, 2)),
        ("int a, ...", (0, sys.maxsize)),
        ("T... rest", (0, sys.maxsize)),
    ],
)
def test_how_many_arguments_a_helper_takes(parameters: str, counts: tuple[int, int]) -> None:
    unit = read(f"int f({parameters}) {{ return GetBlockNum(); }}\n".encode(), "k.asc")
    helpers = read_helpers(read_scopes(unit), unit, frozenset({"AscendC"}), frozenset[str]().union(*words_of(unit)))
    assert list(helpers.counts("f")) == [counts]
