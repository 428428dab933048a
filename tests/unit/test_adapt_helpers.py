"""What a kernel reaches through functions, classes, macros and aliases."""

from __future__ import annotations

import pytest

from skrules.adapt.helpers import (
    BLOCK_NUM,
    DESTROY,
    FUNCTION,
    KERNEL,
    MACRO,
    PIPE,
    RAW,
    STATEMENT,
    Chunks,
    index_chunks,
    kernels_called,
    read_chunks,
)
from skrules.source.kernels import read


def chunks_of(*texts: str) -> Chunks:
    return index_chunks(read_chunks([read(text.encode(), f"f{index}.h") for index, text in enumerate(texts)]))


@pytest.mark.parametrize(
    ("text", "title", "kind", "uses"),
    [
        ("int f() { return AscendC::GetBlockNum(); }", "f", FUNCTION, [BLOCK_NUM]),
        ("int f() { return other::GetBlockNum() + x.GetBlockNum(); }", "f", FUNCTION, []),
        ("int f() { return block_idx + get_block_num(); }", "f", FUNCTION, [RAW, RAW]),
        ("int f() { int block_idx = 0; return block_idx; }", "f", FUNCTION, []),
        ("void f() { TPipe pipe; pipe.Destroy(); }", "f", FUNCTION, [PIPE, DESTROY]),
        ("struct S { int n = GetBlockNum(); };", "S", FUNCTION, [BLOCK_NUM]),
        ("#define N(x) x + GetBlockNum()", "N", MACRO, [BLOCK_NUM]),
        ("using A = decltype(GetBlockNum());", "A", STATEMENT, [BLOCK_NUM]),
        ("static int n[] = {GetBlockNum()};", "n", STATEMENT, []),
    ],
)
def test_chunks(text: str, title: str, kind: str, uses: list[str]) -> None:
    chunk = chunks_of(text).all[0]
    assert (chunk.title, chunk.kind, [use.what for use in chunk.uses]) == (title, kind, uses)


def test_members_need_their_class_too() -> None:
    chunks = chunks_of("struct S { S() { a(); } void m() { b(); } void operator()() { c(); } };\nvoid S::n() { d(); }\n")
    assert {chunk.names for chunk in chunks.all} == {("S",), ("S", "m"), ("S", "n")}
    assert [chunk.title for chunk in chunks.reached({"m", "n"})] == []
    assert {chunk.title for chunk in chunks.reached({"S", "n"})} == {"S", "S::n"}
    # Constructors and operators run wherever the class is used.
    assert {"a", "c"} <= frozenset[str]().union(*(chunk.words for chunk in chunks.reached({"S"})))


def test_the_walk_goes_through_files_nearest_first() -> None:
    chunks = chunks_of("int c() { return GetBlockNum(); }\n", "#define B c()\nint a() { return B; }\nint d() { return 1; }\n")
    assert [chunk.title for chunk in chunks.reached({"a"})] == ["a", "B", "c"]
    assert chunks.all[0].uses[0].unit.path == "f0.h"


def test_kernels_are_reached_where_they_are_called() -> None:
    chunks = chunks_of(
        "__global__ __vector__ void k(GM_ADDR x) { GetBlockNum(); }\n"
        "void f(GM_ADDR x) { k(x); }\nint g(S s) { int k = 3; return s.k(k) + k; }\n"
    )
    assert [(chunk.title, chunk.kind) for chunk in chunks.reached({"f"})] == [("f", FUNCTION), ("k", KERNEL)]
    assert [chunk.title for chunk in chunks.reached({"g"})] == ["g"]
    assert kernels_called(read(b"{ k(x); k<half>(x); s.k(x); int k(3); other; }", "b.h").code, {"k", "other"}) == {"k"}
