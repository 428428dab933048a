"""The kernels beside an operator in its super kernel: how large they are, and what they prove of it."""

from __future__ import annotations

import json
import subprocess

import pytest

SOURCE = """#include "kernel_operator.h"

// Each block copies its share, which a helper computes from the block number.
__aicore__ inline int32_t Share(int32_t n) { return n / static_cast<int32_t>(AscendC::GetBlockNum()); }

__global__ __vector__ void spread(GM_ADDR x, GM_ADDR y) {
    const int32_t share = Share(64), at = share * static_cast<int32_t>(AscendC::GetBlockIdx());
    AscendC::LocalTensor<int32_t> part(AscendC::TPosition::VECCALC, 0, 64);
    AscendC::GlobalTensor<int32_t> from, to;
    from.SetGlobalBuffer((__gm__ int32_t *)x + at);
    to.SetGlobalBuffer((__gm__ int32_t *)y + at);
    AscendC::DataCopy(part, from, share);
    AscendC::PipeBarrier<PIPE_ALL>();
    AscendC::DataCopy(to, part, share);
}
"""
CONTRACT = "entries: {spread: {inputs: [x], outputs: [y], sk: {helper_block_num: accept}}}\n"
CASES = """cases:
  - {name: four, block_dim: 4, tensors: {x: {shape: [64], dtype: int32}, y: {shape: [64], dtype: int32}}}
  - {name: two, block_dim: 2, tensors: {x: {shape: [64], dtype: int32}, y: {shape: [64], dtype: int32}}}
  - {name: one, block_dim: 1, tensors: {x: {shape: [64], dtype: int32}, y: {shape: [64], dtype: int32}}}
"""
MARKS = {"SKRULES_COMPARE_MARKS": "1"}  # as on a device, where nobody but the companions can tell


@pytest.fixture
def spread(workspace):
    folder = workspace.root / "ops/spread"
    folder.mkdir()
    (folder / "spread.asc").write_text(SOURCE)
    (folder / "contract.yaml").write_text(CONTRACT)
    (folder / "cases.yaml").write_text(CASES)
    (folder / "reference.py").write_text("def spread(x):\n    return x\n")
    declaration = {"name": "spread", "srcs": ["spread.asc"], "contract": "contract.yaml", "cases": "cases.yaml"}
    words = ", ".join(f"{key}={value!r}" for key, value in {**declaration, "archs": ["dav-2201"]}.items())
    (folder / "SConscript").write_text(f"operator({words})\n")
    return workspace


def records(workspace, operator: str, plan: str, **environment: str) -> dict[str, dict]:
    """Run an operator's compare program itself on a plan, and return what it says of each case."""
    folder = workspace.root / f"build/host/compare/dav-2201/ops/{operator}"
    (folder / "plan.txt").write_text(plan)
    (folder / "out").mkdir(exist_ok=True)
    command = [str(folder / "compare"), str(folder / "plan.txt"), str(folder / "out")]
    done = subprocess.run(
        command, env={**environment, "SKRULES_HOST_ARCH": "2201"}, capture_output=True, text=True, check=True, timeout=60
    )
    found = [json.loads(line) for line in done.stdout.splitlines()]
    return {each["case"]: each for each in found}


def test_no_companion_is_larger_than_an_entry_that_has_the_most_blocks(spread):
    run = spread.scons("compare", "ops/spread", "ARCH=dav-2201")
    assert run.status == 0, run.output
    verdict = json.loads((spread.root / "build/host/compare/dav-2201/ops/spread/verdict.json").read_text())
    assert [(case["blocks"], case["companion_blocks"]) for case in verdict["cases"]] == [(4, 4), (2, 2), (1, 1)]
    assert all(case["evidence"]["twin_ran"] for case in verdict["cases"])
    argument = "tensor {} 256 {} - 3 64\n"
    text = argument.format("x", "in") + argument.format("y", "out") + "end\n"
    plan = "skrules-plan 2\n" + "".join(f"case b{blocks} spread {blocks}\n{text}" for blocks in (4, 2, 1))
    found = records(spread, "spread", plan, **MARKS)
    assert [found[name]["evidence"]["twin_ran"] for name in ("b4", "b2")] == [True, True], found
    assert found["b4"]["evidence"]["detail"] == "companions of 1 and 1 blocks saw a launch of 4 and 4 blocks"
    # Nothing may be larger and nothing can be smaller than one block: not known is not proven.
    assert not found["b1"]["evidence"]["twin_ran"]


def test_without_the_decision_companions_are_larger_and_show_the_mistake(spread):
    assert spread.scons("compare", "ops/spread", "ARCH=dav-2201").status == 0
    program = spread.root / "build/host/gen/ops/spread/spread.asc"
    bound = program.read_text().split("// Launchers of")[0]
    spread.edit("ops/spread/contract.yaml", ", sk: {helper_block_num: accept}", "")
    (spread.root / "ops/spread/spread.asc").write_text(
        "\n".join(line for line in bound.splitlines() if not line.startswith("#line")) + "\n"
    )
    run = spread.scons("compare", "ops/spread", "ARCH=dav-2201")
    assert run.status == 3, run.output
    assert "the SK run differs from the plain run" in run.output or "the SK run never wrote" in run.output, run.output


def test_companions_prove_every_block_count(workspace):
    run = workspace.scons("compare", "ops/scale", "ARCH=dav-2201")
    assert run.status == 0, run.output
    arguments = "tensor x 4096 in - 9 1024\ntensor y 4096 out - 9 1024\nscalar factor 0000c03f\nscalar length 00040000\nend\n"
    counts = (1, 2, 3, 16, 48)
    plan = "skrules-plan 2\n" + "".join(f"case b{count} scale {count}\n{arguments}" for count in counts)
    found = records(workspace, "scale", plan, **MARKS)
    assert {name: each["evidence"].get("twin_ran") for name, each in found.items()} == {f"b{count}": True for count in counts}, (
        found
    )
    assert found["b1"]["evidence"]["detail"] == "companions of 1 and 2 blocks saw a launch of 2 and 2 blocks"
