"""Kernels that a macro of a shared header makes: read, built, compared, and built again when the macro changes."""

from __future__ import annotations

import pytest

HEADER = """#pragma once

#include "part.h"

#define MAP_LIST(T) GM_ADDR x, GM_ADDR y, T operand, uint32_t length

// y = OP(x, operand), for a length that is a multiple of 64.
#define DEFINE_MAP(NAME, OP, T) \\
    KERNEL_OF_HEADER void NAME##_##T(MAP_LIST(T)) { \\
        const uint32_t blocks = AscendC::GetBlockNum(); \\
        const uint32_t count = PartOf(length, AscendC::GetBlockIdx(), blocks, 64); \\
        const uint32_t start = (length / 64 + blocks - 1) / blocks * 64 * AscendC::GetBlockIdx(); \\
        if (count == 0) { \\
            return; \\
        } \\
        AscendC::TPipe pipe; \\
        AscendC::TQue<AscendC::TPosition::VECIN, 1> in; \\
        AscendC::TQue<AscendC::TPosition::VECOUT, 1> out; \\
        AscendC::GlobalTensor<T> source, target; \\
        source.SetGlobalBuffer((__gm__ T *)x + start, count); \\
        target.SetGlobalBuffer((__gm__ T *)y + start, count); \\
        pipe.InitBuffer(in, 1, count * sizeof(T)); \\
        pipe.InitBuffer(out, 1, count * sizeof(T)); \\
        AscendC::LocalTensor<T> a = in.AllocTensor<T>(); \\
        AscendC::DataCopy(a, source, count); \\
        in.EnQue(a); \\
        a = in.DeQue<T>(); \\
        AscendC::LocalTensor<T> b = out.AllocTensor<T>(); \\
        AscendC::OP(b, a, operand, count); \\
        out.EnQue(b); \\
        in.FreeTensor(a); \\
        b = out.DeQue<T>(); \\
        AscendC::DataCopy(target, b, count); \\
        out.FreeTensor(b); \\
    }

#define FOR_EACH_TYPE(F, NAME, OP) \\
    F(NAME, OP, half) \\
    F(NAME, OP, float)
"""
SOURCE = """#include "kernel_operator.h"

#include "kernels.h"
// #include "gone.h"

FOR_EACH_TYPE(DEFINE_MAP, add, Adds)

extern "C" void LaunchAdd(GM_ADDR x, GM_ADDR y, uint32_t length, void *stream) {
    add_float<<<4, nullptr, stream>>>(x, y, 1.0f, length);
}
"""
CONTRACT = """schema_version: 1
entries:
  add_half: {outputs: [y], inputs: [x], launch: {block_dim: 4}}
  add_float: {outputs: [y], inputs: [x], launch: {block_dim: 4}}
"""
CASE = """  - name: {dtype}
    entry: add_{kernel}
    tensors:
      x: {{shape: [1024], dtype: {dtype}, low: -2, high: 2}}
      y: {{shape: [1024], dtype: {dtype}}}
    scalars: {{operand: 1.5, length: 1024}}
"""
REFERENCE = """
def add_half(x, operand, length):
    return {"y": x + x.dtype.type(operand)}


def add_float(x, operand, length):
    return {"y": x + x.dtype.type(operand)}
"""


def add_operator(place):
    """Add `mapped`, whose kernels come from a header of //ops/common, found through an include folder."""
    folder = place.root / "ops/mapped"
    folder.mkdir()
    (place.root / "ops/common/kernels.h").write_text(HEADER)
    (place.root / "ops/common/kinds.h").write_text("#define KERNEL_OF_HEADER __global__ __vector__\n")
    place.edit("ops/common/kernels.h", '#include "part.h"', '#include "part.h"\n#include "kinds.h"')
    place.edit("ops/common/SConscript", '"part.h"', '"part.h", "kernels.h", "kinds.h"')
    (folder / "mapped.asc").write_text(SOURCE)
    (folder / "contract.yaml").write_text(CONTRACT)
    cases = [CASE.format(kernel="half", dtype="float16"), CASE.format(kernel="float", dtype="float32")]
    (folder / "cases.yaml").write_text("schema_version: 1\ncases:\n" + "".join(cases))
    (folder / "reference.py").write_text(REFERENCE)
    (folder / "SConscript").write_text(
        'operator(\n    name="mapped",\n    srcs=["mapped.asc"],\n    contract="contract.yaml",\n    archs=["dav-2201"],\n'
        '    cases="cases.yaml",\n    deps=["//ops/common"],\n    options=["-Iops/common"],\n)\n'
    )
    return place


@pytest.fixture
def built(bisheng_workspace):
    run = add_operator(bisheng_workspace).scons("ops/mapped")
    assert run.status == 0, run.output
    return bisheng_workspace


def test_kernels_of_a_header_pass_as_super_kernels(workspace):
    run = add_operator(workspace).scons("compare", "ops/mapped", "ARCH=dav-2201")
    assert run.status == 0, run.output
    assert "1 result: 1 passed" in run.output
    text = (workspace.root / "build/host/gen/ops/mapped/mapped.asc").read_text()
    assert text.index("FOR_EACH_TYPE(DEFINE_MAP, add, Adds)\n") < text.index("SK_BIND(add_half, 4,") < text.index("LaunchAdd")


@pytest.mark.parametrize(
    ("header", "old", "new", "shown"),
    [
        ("kernels.h", "MAP_LIST(T) GM_ADDR x, GM_ADDR y,", "MAP_LIST(T) GM_ADDR x, GM_ADDR y, uint16_t more,", "uint16_t more;"),
        ("kinds.h", "__global__ __vector__", "__global__ __mix__(1, 2)", "__sk__ __mix__(1, 2) void add_half_sk("),
        ("kernels.h", "F(NAME, OP, float)", "F(NAME, OP, float) F(NAME, OP, int)", None),
    ],
)
def test_an_edit_of_the_macro_is_read_again(built, header, old, new, shown):
    assert built.scons("ops/mapped").actions == []
    built.edit(f"ops/common/{header}", old, new)
    run = built.scons("ops/mapped")
    assert "ADAPT //ops/mapped" in run.actions
    if shown is None:  # a further kernel, and the contract says nothing of it
        assert run.status != 0 and "add_int" in run.output, run.output
        return
    assert run.actions == ["ADAPT //ops/mapped", "ASC dav-2201 //ops/mapped"], run.output
    assert shown in (built.root / "build/bisheng/gen/ops/mapped/mapped.asc").read_text()
    assert built.scons("ops/mapped").actions == []


def test_a_second_meaning_in_another_header_stops_the_operator(built):
    built.edit("ops/common/part.h", "#pragma once", "#pragma once\n#define MAP_LIST(T) GM_ADDR x, GM_ADDR y")
    run = built.scons("ops/mapped")
    assert run.status != 0
    assert "the macro 'MAP_LIST' in the parameter list has more than one meaning: ops/common/" in run.output
    assert "ops/mapped/mapped.asc:6:1" in run.output


def test_a_header_that_comes_to_stand_before_it_is_read(built):
    nearer = HEADER.replace("T operand,", "T operand, uint16_t more,").replace(
        '"part.h"', '"../common/part.h"\n#include "kinds.h"'
    )
    (built.root / "ops/mapped/kernels.h").write_text(nearer)
    assert built.scons("ops/mapped").actions == ["ADAPT //ops/mapped", "ASC dav-2201 //ops/mapped"]
    assert "uint16_t more;" in (built.root / "build/bisheng/gen/ops/mapped/mapped.asc").read_text()
    (built.root / "ops/mapped/kernels.h").unlink()
    assert built.scons("ops/mapped").actions == ["ADAPT //ops/mapped", "ASC dav-2201 //ops/mapped"]


def test_a_folder_of_the_contract_counts_too(built):
    built.edit("ops/mapped/SConscript", 'options=["-Iops/common"]', "options=[]")
    built.edit("ops/mapped/contract.yaml", "block_dim: 4}", "block_dim: 4}, compile: {options: [-Iops/nearer, -Iops/common]}")
    assert built.scons("ops/mapped").status == 0
    (built.root / "ops/nearer").mkdir()
    (built.root / "ops/nearer/kernels.h").write_text(HEADER.replace("operand, uint32_t", "operand, uint16_t more, uint32_t"))
    assert "ADAPT //ops/mapped" in built.scons("ops/mapped").actions
