"""Kernels that reach the block number through helpers only, in a super kernel that has more blocks than they do."""

from __future__ import annotations

import json

import pytest

HEAD = '#include "kernel_operator.h"\n'
# How many elements a block copies, as each of the kernels asks for it.
HELPERS = """
__aicore__ inline int32_t Share(int32_t n) { return n / static_cast<int32_t>(AscendC::GetBlockNum()); }

class Portion {
public:
    __aicore__ inline void Init(int32_t n) { n_ = n; }
    __aicore__ inline int32_t Elements() const { return n_ / static_cast<int32_t>(AscendC::GetBlockNum()); }

private:
    int32_t n_ = 0;
};

template <typename T>
__aicore__ inline T Blocks() { return static_cast<T>(AscendC::GetBlockNum()); }
__aicore__ inline int32_t Quotient(int32_t n) { return n / Blocks<int32_t>(); }

template <typename D>
class Splitter {
public:
    __aicore__ inline int32_t Part(int32_t n) { return n / static_cast<D *>(this)->Number(); }
};
class Own : public Splitter<Own> {
public:
    __aicore__ inline int32_t Number() const { return static_cast<int32_t>(AscendC::GetBlockNum()); }
};

template <int32_t N>
__aicore__ inline int32_t Parts() { return static_cast<int32_t>(AscendC::GetBlockNum()) * N; }
template <>
__aicore__ inline int32_t Parts<7>() { return 4; }
"""
COPY = """
__aicore__ inline void Copy(GM_ADDR x, GM_ADDR y, int32_t share) {
    const int32_t at = share * static_cast<int32_t>(AscendC::GetBlockIdx());
    AscendC::LocalTensor<int32_t> part(AscendC::TPosition::VECCALC, 0, 64);
    AscendC::GlobalTensor<int32_t> from, to;
    from.SetGlobalBuffer((__gm__ int32_t *)x + at);
    to.SetGlobalBuffer((__gm__ int32_t *)y + at);
    AscendC::DataCopy(part, from, share);
    AscendC::PipeBarrier<PIPE_ALL>();
    AscendC::DataCopy(to, part, share);
}

__global__ __vector__ void by_function(GM_ADDR x, GM_ADDR y) { Copy(x, y, Share(64)); }
__global__ __vector__ void by_method(GM_ADDR x, GM_ADDR y) {
    Portion portion;
    portion.Init(64);
    Copy(x, y, portion.Elements());
}
__global__ __vector__ void by_helper_of_helper(GM_ADDR x, GM_ADDR y) { Copy(x, y, Quotient(64)); }
__global__ __vector__ void by_own_base(GM_ADDR x, GM_ADDR y) {
    Own own;
    Copy(x, y, own.Part(64));
}
__global__ __vector__ void by_specialisation(GM_ADDR x, GM_ADDR y) { Copy(x, y, 64 * 4 / (Parts<7>() * Parts<1>())); }
"""
ENTRIES = ("by_function", "by_method", "by_helper_of_helper", "by_own_base", "by_specialisation")


def write(workspace, *, source: str, accept: bool = False, case: str = "", headers: dict[str, str] | None = None) -> None:
    folder = workspace.root / "ops/shares"
    folder.mkdir(exist_ok=True)
    for name, text in {"shares.asc": source, **(headers or {})}.items():
        (folder / name).write_text(text)
    sk = ", sk: {helper_block_num: accept}" if accept else ""
    lines = [f"  {entry}: {{inputs: [x], outputs: [y], launch: {{block_dim: 4}}{sk}}}\n" for entry in ENTRIES]
    (folder / "contract.yaml").write_text("entries:\n" + "".join(lines))
    tensors = "tensors: {x: {shape: [64], dtype: int32}, y: {shape: [64], dtype: int32}}"
    (folder / "cases.yaml").write_text(
        "cases:\n" + "".join(f"  - {{name: {entry}, entry: {entry}{case}, {tensors}}}\n" for entry in ENTRIES)
    )
    (folder / "reference.py").write_text("".join(f"def {entry}(x):\n    return x\n\n\n" for entry in ENTRIES))
    (folder / "SConscript").write_text(
        'operator(name="shares", srcs=["shares.asc"], contract="contract.yaml", cases="cases.yaml", archs=["dav-2201"])\n'
    )


def compare(workspace):
    return workspace.scons("compare", "ops/shares", "ARCH=dav-2201")


def blocks(workspace) -> list[tuple[int, int]]:
    verdict = json.loads((workspace.root / "build/host/compare/dav-2201/ops/shares/verdict.json").read_text())
    assert [case["case"] for case in verdict["cases"]] == list(ENTRIES)
    assert all(case["evidence"]["twin_ran"] for case in verdict["cases"])
    return [(case["blocks"], case["companion_blocks"]) for case in verdict["cases"]]


def adapted(workspace) -> str:
    return (workspace.root / "build/host/gen/ops/shares/shares.asc").read_text()


def test_twins_are_right_in_a_larger_super_kernel(workspace):
    write(workspace, source=HEAD + HELPERS + COPY)
    run = compare(workspace)
    assert run.status == 0, run.output
    assert blocks(workspace) == [(4, 6)] * len(ENTRIES)
    write(workspace, source=HEAD + HELPERS + COPY, case=", super_kernel_blocks: 40")
    run = compare(workspace)
    assert run.status == 0, run.output
    assert blocks(workspace) == [(4, 40)] * len(ENTRIES)

    # The same program without its twins: the comparison is able to see the mistake.
    text = adapted(workspace).split("// Launchers of")[0]
    number = "static_cast<int64_t>(sysArgs->skNumBlocks)"
    for twin, original in (
        (f"Share_sk({number}, 64)", "Share(64)"),
        (f"Portion_sk portion; portion.SkrulesSetNumBlocks({number});", "Portion portion;"),
        (f"Quotient_sk({number}, 64)", "Quotient(64)"),
        (f"Own_sk own; own.SkrulesSetNumBlocks({number});", "Own own;"),
        (f"(Parts_sk<7>({number}) * Parts_sk<1>({number}))", "(Parts<7>() * Parts<1>())"),
    ):
        assert text.count(twin) == 1, twin
        text = text.replace(twin, original)
    text = "\n".join(line for line in text.splitlines() if not line.startswith("#line")) + "\n"
    write(workspace, source=text, case=", super_kernel_blocks: 8")
    run = compare(workspace)
    assert run.status == 3, run.output
    for entry in ENTRIES:
        assert f"case '{entry}': 'y': the SK run differs from the plain run" in run.output, run.output


def test_accepting_the_number_is_right_only_in_a_super_kernel_of_as_many_blocks(workspace):
    write(workspace, source=HEAD + HELPERS + COPY, accept=True)
    run = compare(workspace)
    assert run.status == 0, run.output
    assert blocks(workspace) == [(4, 4)] * len(ENTRIES)
    assert "Share_sk" not in adapted(workspace)
    write(workspace, source=HEAD + HELPERS + COPY, accept=True, case=", super_kernel_blocks: 8")
    run = compare(workspace)
    assert run.status == 3, run.output
    for entry in ENTRIES:
        assert f"case '{entry}': 'y': the SK run differs from the plain run" in run.output, run.output
        assert f"case '{entry}': the contract says sk.helper_block_num: accept" in run.output, run.output
    assert "here a kernel of 4 ran in a super kernel of 8" in run.output


def test_helpers_of_headers(workspace):
    """`inner.h` comes in through `helpers.h`; the twins stand after the include of that."""
    function, rest = HELPERS.split("class", 1)
    inner = f"#ifndef INNER_H\n#define INNER_H\n{HEAD}namespace tools {{\n#if !defined(NO_SHARE)\n{function}#endif\n}}\n#endif\n"
    outer = f'#pragma once\n#include "inner.h"\nclass{rest}'
    source = f'{HEAD}#include "helpers.h"\n{COPY.replace("Share(64)", "tools::Share(64)")}'
    write(workspace, source=source, headers={"inner.h": inner, "helpers.h": outer}, case=", super_kernel_blocks: 8")
    run = compare(workspace)
    assert run.status == 0, run.output
    assert blocks(workspace) == [(4, 8)] * len(ENTRIES)
    assert "tools::Share_sk(static_cast" in adapted(workspace)

    workspace.edit("ops/shares/helpers.h", "class", "int32_t n;\nclass")
    run = compare(workspace)
    assert run.status == 5, run.output
    assert "ops/shares/inner.h:7:" in run.output
    assert "what follows in ops/shares/helpers.h declares another 'n'" in run.output, run.output


@pytest.mark.parametrize(("count", "message"), [(49, "the kernel has 4 and the device 48"), (3, "no place for a kernel of 4")])
def test_super_kernels_that_cannot_be(workspace, count, message):
    write(workspace, source=HEAD + HELPERS + COPY, case=f", super_kernel_blocks: {count}")
    run = compare(workspace)
    assert run.status != 0
    assert message in run.output, run.output
