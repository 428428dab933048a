"""A kernel whose task macros name several types: what its contract decides is what runs, plain and in a super kernel."""

from __future__ import annotations

# Each core copies 16 elements. Four blocks of one vector core are 64; a block of two, which the body seems to be written for,
# would copy beyond the end.
SOURCE = """#include "kernel_operator.h"
__global__ __aicore__ void copy(GM_ADDR x, GM_ADDR y) {
    KERNEL_TASK_TYPE(1, KERNEL_TYPE_AIV_ONLY);
    KERNEL_TASK_TYPE(2, KERNEL_TYPE_MIX_AIC_1_2);
    if ASCEND_IS_AIV {
        const int32_t at = 16 * static_cast<int32_t>(AscendC::GetBlockIdx());
        AscendC::LocalTensor<int32_t> part(AscendC::TPosition::VECCALC, 0, 16);
        AscendC::GlobalTensor<int32_t> from, to;
        from.SetGlobalBuffer((__gm__ int32_t *)x + at);
        to.SetGlobalBuffer((__gm__ int32_t *)y + at);
        AscendC::DataCopy(part, from, 16);
        AscendC::PipeBarrier<PIPE_ALL>();
        AscendC::DataCopy(to, part, 16);
    }
}
"""


def write(workspace, decision: str, blocks: int = 4) -> None:
    folder = workspace.root / "ops/copy"
    folder.mkdir(exist_ok=True)
    (folder / "copy.asc").write_text(SOURCE)
    (folder / "contract.yaml").write_text(
        f"entries:\n  copy:\n    inputs: [x]\n    outputs: [y]\n    launch: {{block_dim: {blocks}}}\n{decision}"
    )
    tensors = "{x: {shape: [64], dtype: int32}, y: {shape: [64], dtype: int32}}"
    (folder / "cases.yaml").write_text(f"cases:\n  - {{name: all, entry: copy, tensors: {tensors}}}\n")
    (folder / "reference.py").write_text("def copy(x):\n    return x\n")
    (folder / "SConscript").write_text(
        'operator(name="copy", srcs=["copy.asc"], contract="contract.yaml", cases="cases.yaml", archs=["dav-2201"])\n'
    )


def compare(workspace):
    return workspace.scons("compare", "ops/copy", "ARCH=dav-2201")


def test_the_decided_type_runs(workspace):
    write(workspace, "")
    run = compare(workspace)
    assert run.status == 5 and "codegen.kernel-type-unresolved" in run.output, run.output
    # What the finding shows is what the contract takes.
    assert "sk:" in run.output and "kernel_type: mix(1, 2)" in run.output
    write(workspace, "    sk:\n      kernel_type: vector\n")
    run = compare(workspace)
    assert run.status == 0, run.output
    assert "__sk__ __vector__ void copy_sk(" in (workspace.root / "build/host/gen/ops/copy/copy.asc").read_text()
    write(workspace, "    sk:\n      kernel_type: mix(1, 2)\n")
    run = compare(workspace)
    assert run.status != 0, run.output
    write(workspace, "    sk:\n      kernel_type: mix(1, 2)\n", blocks=2)
    run = compare(workspace)
    assert run.status == 0, run.output
