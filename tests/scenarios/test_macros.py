"""Kernels whose signature and cores depend on macros: the contract states them, and the compiler holds it to that."""

from __future__ import annotations

import json

HEAD = '#include "kernel_operator.h"\n#include "steps.h"\n'
# What is added, to how many elements, and on which cores: all of it is decided by macros.
STEPS = """
#pragma once
#ifndef STEP
#define STEP 1
#endif
#if STEP == 1
__aicore__ inline int32_t Elements(int32_t n) { return n; }
#else
__aicore__ inline int32_t Elements(int32_t n) { return n / static_cast<int32_t>(AscendC::GetBlockNum()); }
#endif
"""
SOURCE = """
#ifdef UNIT_TEST
extern "C" __global__ __cube__ void step(
#else
template <typename T>
__global__ __vector__ void step(
#endif
    GM_ADDR x, GM_ADDR y
#if STEP >= 2
    , GM_ADDR more
#endif
    ) {
    const int32_t n = Elements(64);
    AscendC::LocalTensor<int32_t> part(AscendC::TPosition::VECCALC, 0, 64);
    AscendC::GlobalTensor<int32_t> from, to;
    from.SetGlobalBuffer((__gm__ int32_t *)x);
    to.SetGlobalBuffer((__gm__ int32_t *)y);
    AscendC::DataCopy(part, from, n);
    AscendC::PipeBarrier<PIPE_ALL>();
#if STEP == 1
    AscendC::Adds(part, part, T(1), n);
#elif STEP == 2
    AscendC::Adds(part, part, T(2), n);
#endif
#ifndef UNIT_TEST
    AscendC::PipeBarrier<PIPE_ALL>();
    AscendC::DataCopy(to, part, n);
#endif
}
"""


def write(workspace, macros: str, defines: str = "") -> None:
    folder = workspace.root / "ops/step"
    folder.mkdir(exist_ok=True)
    (folder / "steps.h").write_text(STEPS)
    (folder / "step.asc").write_text(HEAD + SOURCE)
    compiled = f", compile: {{defines: [{defines}]}}" if defines else ""
    (folder / "contract.yaml").write_text(
        "entries:\n  step: {inputs: [x], outputs: [y], launch: {block_dim: 1}, bind_target: step<int32_t>"
        + f"{compiled}}}\n{macros}"
    )
    (folder / "cases.yaml").write_text(
        "cases:\n  - {name: c, entry: step, tensors: {x: {shape: [64], dtype: int32}, y: {shape: [64], dtype: int32}}}\n"
    )
    (folder / "reference.py").write_text("def step(x):\n    return x + 1\n")
    (folder / "SConscript").write_text(
        'operator(name="step", srcs=["step.asc"], contract="contract.yaml", cases="cases.yaml", archs=["dav-2201"])\n'
    )


def compare(workspace):
    return workspace.scons("compare", "ops/step", "ARCH=dav-2201")


def test_without_a_statement_the_finding_has_the_lines_that_settle_it(workspace):
    write(workspace, "")
    run = compare(workspace)
    assert run.status != 0
    assert "source.conditional-signature" in run.output, run.output
    assert "macros:" in run.output
    assert "  UNIT_TEST: undefined  # or defined" in run.output
    assert "  STEP: 2" in run.output


def test_a_true_statement_builds_and_runs(workspace):
    write(workspace, "macros: {UNIT_TEST: undefined, STEP: 1}\n")
    run = compare(workspace)
    assert run.status == 0, run.output
    verdict = json.loads((workspace.root / "build/host/compare/dav-2201/ops/step/verdict.json").read_text())
    assert [case["evidence"]["twin_ran"] for case in verdict["cases"]] == [True]
    text = (workspace.root / "build/host/gen/ops/step/step.asc").read_text()
    twin = text.partition("__sk__ __vector__ void step_sk")[2].partition("SK_BIND")[0]
    assert "T(1)" in twin
    assert "#if" not in twin
    assert "T(2)" not in twin


def test_a_false_statement_is_an_error_of_the_build(workspace):
    write(workspace, "macros: {UNIT_TEST: undefined, STEP: 1}\n", defines="UNIT_TEST")
    run = compare(workspace)
    assert run.status == 1, run.output
    assert "contract.yaml: macros: UNIT_TEST is stated as undefined" in run.output, run.output

    write(workspace, "macros: {UNIT_TEST: undefined, STEP: 1}\n", defines="STEP=3")
    run = compare(workspace)
    assert run.status == 1, run.output
    assert "contract.yaml: macros: STEP is stated as 1" in run.output, run.output


def test_a_header_that_gives_a_stated_macro_another_meaning_is_told(workspace):
    write(workspace, "macros: {UNIT_TEST: undefined, STEP: 1}\n")
    workspace.edit("ops/step/steps.h", "#pragma once\n", "#pragma once\n#undef STEP\n#define STEP 2\n")
    run = compare(workspace)
    assert run.status == 5, run.output
    assert "ops/step/steps.h:3:1" in run.output, run.output
    assert "source.stated-macro-redefined" in run.output
