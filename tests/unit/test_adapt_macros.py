"""Kernels that macros define: bound after each use, from what the use stands for."""

from __future__ import annotations

import pytest

from skrules.adapt.adaptation import AdaptedSource, adapt
from skrules.contract.check import resolve
from skrules.contract.load import load
from skrules.findings import blockers
from skrules.source.kernels import read

HEAD = '#include "kernel_operator.h"\n'
DEFINE = (
    "#define DEFINE(T) \\\n"
    '    extern "C" __global__ __vector__ void fill_##T(GM_ADDR y, T value) \\\n'
    "    { \\\n"
    "        AscendC::TPipe pipe; \\\n"
    "        run<T>(y, value, AscendC::GetBlockNum()); \\\n"
    "    }\n"
)
BOTH = "entries:\n  fill_half: {outputs: [y]}\n  fill_int: {outputs: [y]}\n"


def adapted(text: str, contract: str = BOTH) -> AdaptedSource:
    unit = read(text.encode("latin-1"), "k.asc")
    source = adapt(unit, resolve(unit, load(contract.encode(), "c.yaml")))
    assert not blockers(source.findings), [str(finding) for finding in source.findings]
    return source


def test_one_block_after_each_use() -> None:
    text = adapted(f"{HEAD}{DEFINE}DEFINE(half);\nDEFINE(int)\nint last;\n").text().decode()
    first, second = text.index("DEFINE(half);\n"), text.index("DEFINE(int)\n")
    assert (
        first < text.index("SK_BIND(fill_half, 4, fill_half_sk<0>") < second < text.index("SK_BIND(fill_int, 4, fill_int_sk<0>")
    )
    assert text.index("SK_BIND(fill_int") < text.index("int last;")


def test_body_is_the_expansion_in_lines() -> None:
    text = adapted(f"{HEAD}{DEFINE}DEFINE(half)\nDEFINE(int)\n").text().decode()
    assert "    alignas(4) half value;\n" in text
    assert (
        "    half value = args->value;\n"
        "        AscendC::TPipe pipe;\n"
        "        run<half>(y, value, static_cast<int64_t>(sysArgs->skNumBlocks));\n"
        "        pipe.DestroyWithoutPipeAll();\n"
    ) in text


def test_lines_end_like_those_of_the_file() -> None:
    source = adapted(f"{HEAD}{DEFINE}DEFINE(half)\nDEFINE(int)\n".replace("\n", "\r\n"))
    assert b"\n" not in source.text().replace(b"\r\n", b"")


def test_several_kernels_of_one_use() -> None:
    pair = (
        "#define PAIR(T) __global__ __cube__ void T##_aic(GM_ADDR x) { a(x); } \\\n"
        "  __global__ __vector__ void T##_aiv(GM_ADDR x) { v(x); }\n"
    )
    text = (
        adapted(f"{HEAD}{pair}PAIR(half)\n", "entries:\n  half_aic: {outputs: [x]}\n  half_aiv: {outputs: [x]}\n").text().decode()
    )
    assert text.index("PAIR(half)") < text.index("SK_BIND(half_aic,") < text.index("SK_BIND(half_aiv,")


def test_findings_stand_at_the_use() -> None:
    unit = read(f"{HEAD}#define D(T) __global__ __aicore__ void k_##T(GM_ADDR x) {{ f(block_idx); }}\n\nD(a)\n".encode(), "k.asc")
    (found,) = blockers(adapt(unit, resolve(unit, None)).findings)
    assert (found.rule, str(found.at)) == ("codegen.raw-block-variable", "k.asc:4:1")


def test_template_list_macro_takes_the_arguments_that_are_left() -> None:
    kernel = "template <int N, TPL_ARGS, bool B>\n__global__ __vector__ void k(GM_ADDR x) { run<N, B>(x); }\n"
    text = adapted(f"{HEAD}{kernel}", "entries:\n  k: {bind_target: 'k<1, 2, int, false>', outputs: [x]}\n").text().decode()
    assert "template <int N, TPL_ARGS, bool B, uint32_t splitidx>\n" in text
    assert "SK_BIND(k<1,2,int,false>, 4, k_sk<1, 2, int, false, 0>" in text.replace("k<1, 2, int, false>,", "k<1,2,int,false>,")


@pytest.mark.parametrize("target", ["k<1, false>", "k<1, TPL_ARGS, false>", "k"])
def test_template_list_macro_without_arguments(target: str) -> None:
    kernel = "template <int N, TPL_ARGS, bool B>\n__global__ __vector__ void k(GM_ADDR x) {}\n"
    unit = read(f"{HEAD}{kernel}".encode(), "k.asc")
    contract = load(f"entries:\n  k: {{bind_target: '{target}', outputs: [x]}}\n".encode(), "c.yaml")
    assert blockers(adapt(unit, resolve(unit, contract)).findings)
