"""SK twins of helpers: copies that are given the block number, or a finding that says why there is none."""

from __future__ import annotations

import pytest

from skrules.adapt.adaptation import AdaptedSource, adapt
from skrules.contract.check import resolve
from skrules.findings import blockers
from skrules.source.kernels import read

HEAD = '#include "kernel_operator.h"\n'
NUMBER = "static_cast<int64_t>(sysArgs->skNumBlocks)"
KERNEL = "__global__ __vector__ void k(GM_ADDR x) {{ {} }}\n"


def run(text: str) -> AdaptedSource:
    unit = read(f"{HEAD}{text}".encode("latin-1"), "k.asc")
    return adapt(unit, resolve(unit, None))


def adapted(helpers: str, body: str) -> str:
    source = run(helpers + KERNEL.format(body))
    assert not blockers(source.findings), [str(finding) for finding in source.findings]
    text = source.text().decode()
    assert text.startswith(f"{HEAD}{helpers.partition(';')[0]}")
    return text


def problem(helpers: str, body: str) -> str:
    (found,) = [each for each in run(helpers + KERNEL.format(body)).findings if each.rule == "codegen.block-num-in-helper"][:1]
    return found.message


def test_function() -> None:
    helpers = (
        "template <typename T> __aicore__ inline int share(T n) { return n / AscendC::GetBlockNum(); }\n"
        "__aicore__ inline int one() { return share<int>(1) + share(2); }\n"
    )
    text = adapted(helpers, "use(one(), share<long>(3)); other.one();")
    assert (
        "template <typename T> __aicore__ inline int share_sk(int64_t skrulesNumBlocks, T n) { return n / skrulesNumBlocks; }\n"
        in text
    )
    assert (
        "__aicore__ inline int one_sk(int64_t skrulesNumBlocks) "
        "{ return share_sk<int>(skrulesNumBlocks, 1) + share_sk(skrulesNumBlocks, 2); }\n" in text
    )
    assert f"use(one_sk({NUMBER}), share_sk<long>({NUMBER}, 3)); other.one();" in text


CLASS = (
    "template <typename T> class Scale {\npublic:\n    __aicore__ inline Scale() {}\n"
    "    __aicore__ inline void Init(GM_ADDR x) { n = GetBlockNum(); }\n"
    "    __aicore__ inline void Run();\nprivate:\n    int n;\n};\n"
    "template <typename T> __aicore__ inline void Scale<T>::Run() { go(n, [&] { return GetBlockNum(); }); }\n"
)


def test_class() -> None:
    text = adapted(CLASS, "Scale<half> op; op.Init(x); op.Run();")
    assert "template <typename T> class Scale_sk {\npublic:\n    __aicore__ inline Scale_sk() {}\n" in text
    assert "Init(GM_ADDR x) { n = this->skrulesNumBlocks; }" in text
    assert "    int n;\n\npublic:\n    int64_t skrulesNumBlocks;\n" in text
    assert "inline void Scale_sk<T>::Run() { go(n, [&] { return this->skrulesNumBlocks; }); }" in text
    assert f"Scale_sk<half> op; op.SkrulesSetNumBlocks({NUMBER}); op.Init(x); op.Run();" in text
    assert text.index("class Scale_sk") < text.index("Scale<T>::Run()") < text.index("Scale_sk<T>::Run()")


def test_bases_and_members_are_told_too() -> None:
    more = "class Both : public Scale<half> {\n    Scale<int> inner;\n    int a;\n};\ninline void apply(Both &b) { b.Run(); }\n"
    text = adapted(CLASS + more, "Both op{}; apply(op);")
    assert "class Both_sk : public Scale_sk<half> {\n    Scale_sk<int> inner;" in text
    assert (
        "{ skrulesNumBlocks = number; Scale_sk<half>::SkrulesSetNumBlocks(number); inner.SkrulesSetNumBlocks(number); }" in text
    )
    assert f"Both_sk op{{}}; op.SkrulesSetNumBlocks({NUMBER}); apply_sk({NUMBER}, op);" in text
    assert "inline void apply_sk(int64_t skrulesNumBlocks, Both_sk &b) { b.Run(); }" in text


def test_local_alias() -> None:
    text = adapted(CLASS, "using Op = Scale<half>; Op op; op.Run();")
    assert f"using Op = Scale_sk<half>; Op op; op.SkrulesSetNumBlocks({NUMBER}); op.Run();" in text


def test_what_does_not_ask_has_no_twin() -> None:
    text = adapted("inline int f() { return 1; }\ninline int g() { return GetBlockNum(); }\n", "h(f(), g());")
    assert "f_sk" not in text
    assert f"h(f(), g_sk({NUMBER}));" in text


@pytest.mark.parametrize(
    ("helpers", "body", "reason"),
    [
        ("#define N AscendC::GetBlockNum()\n", "f(N);", "macro"),
        (CLASS, "Scale<half>().Run();", "plain declaration"),
        (CLASS, "Scale<half> op[2]; op[0].Run();", "plain declaration"),
        (CLASS, "static Scale<half> op; op.Run();", "plain declaration"),
        (CLASS, "auto op = make<Scale<half>>(); Scale<half> two = op;", "argument of a template"),
        (CLASS, "Scale<half> two = make();", "plain declaration"),
        ("struct C { int f() { return GetBlockNum(); } };\n", "run<C>().f();", "argument of a template"),
        ("struct C { int f() { return GetBlockNum(); } };\n", "Runner<half, C> r; r.f();", "argument of a template"),
        ("struct B { int f() { return GetBlockNum(); } };\nstruct C : R<B> {};\n", "C c; c.f();", "argument of a template"),
        ("using Number = decltype(AscendC::GetBlockNum());\n", "Number n;", "statement"),
        ("struct C { C() { n = GetBlockNum(); } int n; };\n", "C c;", "constructed"),
        ("struct C { C() { f(); } void f() { n = GetBlockNum(); } int n; };\n", "C c;", "constructed"),
        ("struct C { static int f() { return GetBlockNum(); } };\n", "C::f();", "static"),
        ("struct C { int n = GetBlockNum(); };\n", "C c;", "no plain call"),
        ("inline int f() { return [] { return GetBlockNum(); }(); }\n", "f();", "lambda"),
        ("inline int f() { return GetBlockNum(); }\n", "g(f);", "other than in a call"),
        ("int f();\ninline int g() { return f(); }\ninline int f() { return GetBlockNum(); }\n", "g();", "defined after"),
        ("struct D { int f() { return 0; } };\ninline int f() { return GetBlockNum(); }\n", "f();", "member function"),
        ('extern "C" {\ninline int f() { return GetBlockNum(); }\n}\n', "f();", "namespace scope"),
        ("namespace a { inline int f() { return GetBlockNum(); } }\n", "b::f(); a::f();", "something else"),
        ("namespace a { inline int f() { return GetBlockNum(); } }\nusing a::f;\n", "f();", "using-declaration"),
        ("inline int f() { return GetBlockNum(); }\n#define f() 3\n", "f();", "is a macro too"),
        ("struct C { int GetBlockNum(); int f() { return GetBlockNum(); } };\n", "C c; c.f();", "another function of that name"),
        ("inline int f() { static int n = 0; return n += GetBlockNum(); }\n", "f();", "static data"),
    ],
)
def test_reasons_against_a_twin(helpers: str, body: str, reason: str) -> None:
    assert reason in problem(helpers, body)


def test_helper_of_a_header() -> None:
    unit = read(f'{HEAD}#include "f.h"\n{KERNEL.format("f();")}'.encode(), "k.asc")
    header = b"inline int f() { return AscendC::GetBlockNum(); }\n"
    text = adapt(unit, resolve(unit, None), [read(header, "f.h")]).text().decode()
    assert text.index('#include "f.h"') < text.index("int f_sk(int64_t skrulesNumBlocks)") < text.index("void k(")
    assert f"f_sk({NUMBER});" in text


def test_helper_of_a_header_that_means_something_else_below() -> None:
    unit = read(f'{HEAD}#include "f.h"\n{KERNEL.format("f();")}'.encode(), "k.asc")
    header = b"#define N 1\ninline int f() { return N * AscendC::GetBlockNum(); }\n#undef N\n"
    (found,) = blockers(adapt(unit, resolve(unit, None), [read(header, "f.h")]).findings)
    assert (found.rule, found.at.file) == ("codegen.block-num-in-helper", "f.h")
    assert "has #undef" in found.message


@pytest.mark.parametrize(("body", "offset"), [("one();", 0), ("int n = AscendC::GetBlockNum(); one();", 8)])
def test_mixed_kernels_are_warned_also_where_only_a_helper_asks(body: str, offset: int) -> None:
    helper = "inline int one() { return GetBlockNum(); }\n"
    text = helper + KERNEL.format(body).replace("__vector__", "__mix__(1, 2)")
    (found,) = [each for each in run(text).findings if each.rule == "codegen.block-num-in-mix"]
    assert found.at.column == KERNEL.replace("__vector__", "__mix__(1, 2)").index("{}") + offset
    assert not [each for each in run(text.replace("(1, 2)", "(1, 1)")).findings if each.rule == "codegen.block-num-in-mix"]


def test_line_ends_and_bytes_stay() -> None:
    data = (
        (HEAD + "inline int f() { return GetBlockNum(); } // \xe9\n" + KERNEL.format("f();"))
        .replace("\n", "\r\n")
        .encode("latin-1")
    )
    unit = read(data, "k.asc")
    text = adapt(unit, resolve(unit, None)).text()
    assert b"\n" not in text.replace(b"\r\n", b"")
    assert b"// \xe9\r\n" in text


def test_a_kernel_of_a_macro_uses_the_twins_in_front_of_it() -> None:
    text = "int f() { return AscendC::GetBlockNum(); }\n#define MADE(n) __global__ __vector__ void n(GM_ADDR x) { g(x, f()); }\n"
    adapted = run(text + "MADE(k)\n")
    assert not [each for each in adapted.findings if each.rule == "codegen.block-num-in-helper"]
