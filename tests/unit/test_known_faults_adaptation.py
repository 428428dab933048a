"""Faults that an adaptation of text by patterns has: structs that do not fit, blocks in the wrong place, bodies that change."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest

from skrules.adapt.adaptation import AdaptedSource, adapt
from skrules.contract.check import resolve
from skrules.contract.load import load
from skrules.source.kernels import read

INCLUDE = '#include "kernel_operator.h"\n'
ADDED = '#include "kernel_operator.h"  // added by skrules\n'
BLOCK = re.compile(r"\n// skrules: SuperKernel binding of (\w+),.*?// skrules: end of \1\n", re.DOTALL)
NUMBER = "static_cast<int64_t>(sysArgs->skNumBlocks)"


def kernel(body: str, parameters: str = "GM_ADDR x", name: str = "k") -> str:
    return f"__global__ __vector__ void {name}({parameters}) {{ {body} }}\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """`blocks` pairs each generated block, by kernel, with lines it has, in this order; `findings` are told as rule and place."""

    source: str
    blocks: tuple[tuple[str, tuple[str, ...]], ...]
    contract: str = ""
    findings: tuple[tuple[str, str], ...] = ()


def run(text: str, contract: str = "") -> AdaptedSource:
    unit = read(text.encode("latin-1"), "ops/k.asc")
    source = adapt(unit, resolve(unit, load(contract.encode(), "c.yaml") if contract else None))
    assert source.status == "completed", [str(finding) for finding in source.findings]
    return source


def check(row: Row) -> None:
    source = run(INCLUDE + row.source, row.contract)
    text = source.text().decode("latin-1")
    assert BLOCK.sub("", text) == INCLUDE + row.source
    assert tuple((finding.rule, str(finding.at)) for finding in source.findings) == row.findings
    made = [(match[1], [line.strip() for line in match[0].splitlines()]) for match in BLOCK.finditer(text)]
    assert [name for name, _ in made] == [name for name, _ in row.blocks]
    for (_, lines), (_, expected) in zip(made, row.blocks, strict=True):
        assert [line for line in lines if line in expected] == list(expected), "\n".join(lines)


ARGUMENTS = {
    "small values": Row(
        source=kernel("run(x, c, h, s, p, n);", "GM_ADDR x, char c, half h, short s, __gm__ uint8_t *p, int n"),
        contract="entries: {k: {inputs: [p], outputs: [x]}}",
        blocks=(
            (
                "k",
                (
                    "GM_ADDR x;",
                    "alignas(4) char c;",
                    "alignas(4) half h;",
                    "alignas(4) short s;",
                    "__gm__ uint8_t* p;",  # a pointer to a small value is no small value
                    "int n;",
                ),
            ),
        ),
    ),
    "a struct of the name that the generated one would have": Row(
        source="struct KArgs { int a; };\n" + kernel("run(x);"),
        findings=(("codegen.name-taken", "ops/k.asc:3:28"),),
        blocks=(("k", ("struct KArgs_2 {", "__sk__ __vector__ void k_sk(const KArgs_2 *args)")),),
    ),
    "parameters of the names that the twin's would have": Row(
        source=kernel("run(args, sysArgs, AscendC::GetBlockNum());", "GM_ADDR args, int sysArgs"),
        findings=(("codegen.name-taken", "ops/k.asc:2:28"), ("codegen.name-taken", "ops/k.asc:2:28")),
        blocks=(
            (
                "k",
                (
                    "__sk__ __vector__ void k_sk(const KArgs *args_2, sk::SkSystemArgs *sysArgs_2)",
                    "GM_ADDR args = args_2->args;",
                    "int sysArgs = args_2->sysArgs;",
                    "run(args, sysArgs, static_cast<int64_t>(sysArgs_2->skNumBlocks));",
                ),
            ),
        ),
    ),
}
PLACES = {
    "a helper of the kernel's name": Row(
        source="__aicore__ inline void k(int a) { (void)a; }\n" + kernel("k(1); run(x);"),
        blocks=(("k", ("k(1); run(x);", "SK_BIND(static_cast<void (*)(GM_ADDR)>(k), 4, k_sk<0>, k_sk<1>, k_sk<2>, k_sk<3>);")),),
    ),
    "one definition in each branch": Row(
        source=f"#if WIDE\n{kernel('wide(x);')}#else\n{kernel('narrow(x);').replace('__vector__', '__cube__')}#endif\n",
        findings=(("codegen.kernel-type-differs-between-branches", "ops/k.asc:3:1"),),
        blocks=(
            ("k", ("__sk__ __vector__ void k_sk(const KArgs *args)", "wide(x);")),
            ("k", ("__sk__ __cube__ void k_sk(const KArgs *args)", "narrow(x);")),
        ),
    ),
    "kernels that a macro defines": Row(
        source="#define DEF(name, T) __global__ __vector__ void name(GM_ADDR x, T v) { run<T>(x, v); }\n"
        "DEF(k_half, half)\nDEF(k_float, float);\n",
        blocks=(
            (
                "k_half",
                (
                    "alignas(4) half v;",
                    "run<half>(x, v);",
                    "SK_BIND(k_half, 4, k_half_sk<0>, k_half_sk<1>, k_half_sk<2>, k_half_sk<3>);",
                ),
            ),
            (
                "k_float",
                (
                    "float v;",
                    "run<float>(x, v);",
                    "SK_BIND(k_float, 4, k_float_sk<0>, k_float_sk<1>, k_float_sk<2>, k_float_sk<3>);",
                ),
            ),
        ),
    ),
}
BODIES = {
    "the number of blocks from global scope": Row(
        source=kernel("run(::AscendC::GetBlockNum(), GetBlockNum(), AscendC :: GetBlockNum ( ));"),
        blocks=(("k", (f"run({NUMBER}, {NUMBER}, {NUMBER});",)),),
    ),
    "the number of blocks in comments and strings": Row(
        source=kernel('log("GetBlockNum()"); /* AscendC::GetBlockNum() */ run(x);'),
        blocks=(
            (
                "k",
                ("__sk__ __vector__ void k_sk(const KArgs *args)", 'log("GetBlockNum()"); /* AscendC::GetBlockNum() */ run(x);'),
            ),
        ),
    ),
    "a pipe in a comment and in a string": Row(
        source=kernel('/* TPipe pipe; */ log("TPipe pipe;"); run(x);'),
        blocks=(("k", ('/* TPipe pipe; */ log("TPipe pipe;"); run(x);', "}")),),
    ),
    "a brace in a string behind a pipe": Row(
        source=kernel('{ AscendC::TPipe pipe; log("}"); run(x); } done();'),
        blocks=(("k", ('{ AscendC::TPipe pipe; log("}"); run(x); pipe.DestroyWithoutPipeAll(); } done();',)),),
    ),
    "an early return": Row(
        source=kernel("TPipe pipe; if (x == nullptr) return; run(&pipe);"),
        blocks=(
            (
                "k",
                (
                    "TPipe pipe; if (x == nullptr) { pipe.DestroyWithoutPipeAll(); return; } "
                    "run(&pipe); pipe.DestroyWithoutPipeAll();",
                ),
            ),
        ),
    ),
    "a return of what needs the pipe": Row(
        source=kernel("TPipe pipe; return run(&pipe);"),
        blocks=(("k", ("TPipe pipe; run(&pipe); pipe.DestroyWithoutPipeAll(); return;",)),),
    ),
    "a pipe with an initialiser": Row(
        source=kernel("TPipe pipe{}; run(&pipe);"),
        blocks=(("k", ("TPipe pipe{}; run(&pipe); pipe.DestroyWithoutPipeAll();",)),),
    ),
    "two pipes of one declaration, of which the earlier keeps its barrier": Row(
        source=kernel("TPipe a, b; run(&a, &b);"),
        blocks=(("k", ("TPipe a, b; run(&a, &b); b.DestroyWithoutPipeAll();",)),),
    ),
    "a pipe in a class": Row(
        source="class Op {\npublic:\n    __aicore__ void Run() {}\n    TPipe pipe;\n};\n" + kernel("Op op; op.Run();"),
        findings=(("codegen.tpipe-not-local", "ops/k.asc:5:5"),),
        blocks=(("k", ("Op op; op.Run();", "}")),),
    ),
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_arguments(name: str) -> None:
    check(ARGUMENTS[name])


@pytest.mark.parametrize("name", PLACES)
def test_places(name: str) -> None:
    check(PLACES[name])


@pytest.mark.parametrize("name", BODIES)
def test_bodies(name: str) -> None:
    check(BODIES[name])


def test_each_block_follows_its_own_kernel() -> None:
    for row in PLACES.values():
        text = run(INCLUDE + row.source, row.contract).text().decode()
        before = [text[: match.start()].splitlines()[-1] for match in BLOCK.finditer(text)]
        assert len(before) == len(row.blocks)
        assert all(line.startswith(("__global__", "DEF(k_")) for line in before)


@pytest.mark.parametrize(
    "source",
    [
        kernel("run(x);") + INCLUDE,
        f"#ifdef WIDE\n{INCLUDE}#endif\n{kernel('run(x);')}",
        f"{kernel('run(x);')}#ifdef WIDE\n{INCLUDE}#endif\n",
        f"/* {INCLUDE} */ {kernel('run(x);')}",
    ],
)
def test_an_include_that_does_not_hold_for_the_kernel(source: str) -> None:
    text = run(source).text().decode()
    assert text.count(ADDED) == 1 and BLOCK.sub("", text).replace(ADDED, "") == source
    before = text.partition(ADDED)[0]
    assert "#if" not in before and "__global__" not in before
