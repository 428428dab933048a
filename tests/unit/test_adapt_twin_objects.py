"""Objects of classes with twins that nobody would tell the number, and sizes that are another class's."""

from __future__ import annotations

import pytest

from skrules.adapt.adaptation import AdaptedSource, adapt
from skrules.contract.check import resolve
from skrules.contract.load import load
from skrules.source.kernels import read

CLASS = """#include "kernel_operator.h"
class Op {
public:
    int n;
    __aicore__ void Init() { n = AscendC::GetBlockNum(); }
};
"""


def adapted(helpers: str, body: str) -> AdaptedSource:
    text = f"{CLASS}{helpers}\n__global__ __vector__ void k(GM_ADDR x) {{ Op op; op.Init(); {body} }}\n"
    unit = read(text.encode(), "k.asc")
    return adapt(unit, resolve(unit, load(b"entries: {k: {outputs: [x]}}", "k.yaml")))


@pytest.mark.parametrize(
    ("helpers", "body", "reason"),
    [
        ("template <class K> void f(K &one) { K other; other.Init(); }", "f(op);", "'f' may make objects of the class of 'op'"),
        ("template <class K> void f(K &one) { K{}.Init(); }", "f<Op>(op);", "'f' may make objects"),
        ("template <typename K> void f(K *one) { decltype(*one) other; }", "f(&op);", "'f' may make objects"),
        ("template <class K> void g(K &one) { K a; }\ntemplate <class K> void f(K &one) { g(one); }", "f(op);", "'f' may make"),
        ("void f(Op &one) { int n = sizeof(one); one.Init(); }", "f(op);", "sizeof is asked of 'one'"),
        ("", "int n = sizeof(op);", "sizeof is asked of 'op'"),
        ("", "int n = sizeof op;", "sizeof is asked of 'op'"),
        ("", "decltype(op) other; other.Init();", "decltype is asked of 'op'"),
    ],
)
def test_what_would_not_be_the_same_has_no_twin(helpers: str, body: str, reason: str) -> None:
    source = adapted(helpers, body)
    assert source.status == "needs-human"
    assert any(reason in finding.message for finding in source.findings), [str(finding) for finding in source.findings]


@pytest.mark.parametrize(
    ("helpers", "body"),
    [
        ("template <class K> void f(K &one) { one.Init(); }", "f(op);"),
        ("template <class K> void f(K *one) { K &same = *one; same.Init(); }", "f(&op);"),
        ("template <class T> T most(T a, T b) { T c = a; return c; }", "int n = most(1, 2) + most(op.n, 3);"),
        ("", "int n = sizeof(int) + sizeof(op.n);"),
    ],
)
def test_what_makes_no_object_keeps_its_twin(helpers: str, body: str) -> None:
    source = adapted(helpers, body)
    assert source.status == "completed", [str(finding) for finding in source.findings]
    assert b"Op_sk op;" in source.text()
