"""What runs without its name in a kernel is found all the same."""

from __future__ import annotations

import pytest

from skrules.adapt.adaptation import adapt
from skrules.adapt.helpers import BLOCK_NUM, RAW, index_chunks, read_chunks
from skrules.adapt.implicit import UNWRITTEN, implicit_chunks
from skrules.contract.check import resolve
from skrules.contract.load import load
from skrules.source.kernels import read
from skrules.source.model import SourceUnit

ASK = "AscendC::GetBlockNum()"


def asked(source: str, words: str = "", **headers: str) -> set[tuple[str, str]]:
    """Return what a kernel with `words` reaches of the block number: titles and meanings."""
    others: list[SourceUnit] = [read(text.encode(), f"lib/{name}.h") for name, text in headers.items()]
    units = [read(source.encode(), "k.asc", headers=others), *others]
    chunks = read_chunks(units)
    every = index_chunks([*implicit_chunks(units, chunks), *chunks])
    first: dict[int, tuple[str, str]] = {}  # by place: what is told once
    for chunk in every.reached({*words.split(), *UNWRITTEN}):
        for use in chunk.uses:
            first.setdefault(use.offset, (chunk.title, use.what))
    return set(first.values())


@pytest.mark.parametrize(
    ("source", "title"),
    [
        (f"struct V {{ int v; }}; int operator+(V a, V b) {{ return {ASK}; }}", "operator"),
        (f'long operator""_blocks(unsigned long long n) {{ return n / {ASK}; }}', "operator"),
        (f"struct It {{ void operator++(); }}; void It::operator++() {{ {ASK}; }}", "operator"),
        (f"template <class T> bool operator==(T, int) {{ return {ASK}; }}", "operator"),
        (f"#define HELP(n) int n() {{ return {ASK}; }}\nHELP(Foo)\nint after() {{ return 1; }}", "HELP"),
        (f"#define DEEP {ASK}\n#define HELP(n) int n() {{ return DEEP; }}\nHELP(Foo);", "HELP"),
        (f"#define HELP(n) int n() {{ return {ASK}; }}\nnamespace a {{ int before() {{ return 1; }} HELP(Foo) }}", "HELP"),
    ],
)
def test_what_runs_without_its_name(source: str, title: str) -> None:
    assert (title, BLOCK_NUM) in asked(source)


@pytest.mark.parametrize(
    "source",
    [
        f"static const auto kFn = []() {{ return {ASK}; }};",
        f"inline constexpr auto kFn = [](int n) -> int {{ struct Q {{ int v; }}; Q q{{n}}; return q.v / {ASK}; }};",
        f"namespace a {{ void f() {{}} int kFn[2][2] = {{{{1, static_cast<int>({ASK})}}, {{2}}}}; }}",
        f"int f(int n = 3) {{ return n; }} const auto kFn{{{ASK}}};",
        f"inline int (*const kFn[])() = {{[] {{ return {ASK}; }}}};",
        f"template <class T> inline T (*kFn)() = [] {{ return (T){ASK}; }};",
    ],
)
def test_initialisers_are_reached_by_their_variable(source: str) -> None:
    assert asked(source, "kFn") == {("kFn", BLOCK_NUM)}
    assert not asked(source, "other")


def test_a_lambda_that_calls_a_helper() -> None:
    source = f"int Blocks() {{ return {ASK}; }} const auto kFn = []() {{ return Blocks(); }};"
    assert asked(source, "kFn") == {("Blocks", BLOCK_NUM)}


@pytest.mark.parametrize("body", ["return AscendC::GetBlockNum();\n", "Use(AscendC::GetBlockNum());\n"])
def test_text_that_is_included_into_a_function(body: str) -> None:
    assert ("part.h", BLOCK_NUM) in asked('int f() {\n#include "../lib/part.h"\n}\n', part=body)
    kernel = '__global__ __vector__ void k(GM_ADDR x) {\n#include "part.h"\n}\n'
    assert ("part.h", BLOCK_NUM) in asked(kernel, part=body)
    assert ("part.h", RAW) in asked(kernel, part="int n = block_num;\n")


@pytest.mark.parametrize("made", ["MADE(Foo)", "MADE(Foo) MADE(Bar)"])
def test_a_macro_in_front_does_not_hide_a_function(made: str) -> None:
    head = "#define MADE(n) int n() { return 1; }\n"
    assert asked(f"{head}{made}\nint f() {{ return {ASK}; }}", "f") == {("f", BLOCK_NUM)}
    assert asked(f"{head}{made}\nstruct K {{ int n = {ASK}; }};", "K") == {("K", BLOCK_NUM)}


def test_a_range_for_runs_functions_that_it_does_not_name() -> None:
    source = f"struct Range {{ int *begin() {{ return at({ASK}); }} int *end(); }};"
    assert asked(source, "Range") == {("Range::begin", BLOCK_NUM)}


@pytest.mark.parametrize(
    "source",
    [
        "int operator+(V a, V b) { return 1; }",
        "struct V { int GetBlockNum; }; enum E { A, B }; int table[] = {1, 2};",
        "#define HELP(n) int n() { return 1; }\nHELP(Foo)",
        f"#define HELP(n) int n() {{ return {ASK}; }}\n// HELP(Foo)\n",
        '#include "part.h"\nint f() { return 1; }',
    ],
)
def test_what_does_not_ask(source: str) -> None:
    assert not asked(source, "f", part="int g() { return AscendC::GetBlockNum(); }\n")


def test_a_name_that_is_spliced_over_two_lines_is_seen() -> None:
    text = (
        '#include "kernel_operator.h"\nstruct S { int v; };\n'
        "__aicore__ inline bool operator<(S a, S b) { return a.v < (int)AscendC::GetBlock\\\nNum(); }\n"
        "__global__ __vector__ void k(GM_ADDR x) { S a{1}, b{2}; bool c = a < b; }\n"
    )
    unit = read(text.encode(), "k.asc")
    assert adapt(unit, resolve(unit, load(b"entries: {k: {outputs: [x]}}", "k.yaml"))).status == "needs-human"
