"""Every kind of kernel parameter arrives in the SK twin as it does in the kernel.

A family of kernels, one for each list of parameter types, writes the bytes of its parameters to memory. Each runs plain and
as SuperKernel; both must equal what the reference packs.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

LINE = 256  # bytes that a block writes


@dataclass(frozen=True, slots=True, kw_only=True)
class Scalar:
    """A C++ type, the numpy expression for its bytes, and a value that fills them."""

    c_type: str
    numpy: str
    value: object


INT8 = Scalar(c_type="int8_t", numpy="np.int8", value=-100)
UINT8 = Scalar(c_type="uint8_t", numpy="np.uint8", value=201)
INT16 = Scalar(c_type="int16_t", numpy="np.int16", value=-30000)
UINT16 = Scalar(c_type="uint16_t", numpy="np.uint16", value=60001)
INT32 = Scalar(c_type="int32_t", numpy="np.int32", value=-2000000001)
UINT32 = Scalar(c_type="uint32_t", numpy="np.uint32", value=4000000003)
INT64 = Scalar(c_type="int64_t", numpy="np.int64", value=-(2**62) - 5)
UINT64 = Scalar(c_type="uint64_t", numpy="np.uint64", value=2**53 - 7)
BOOL = Scalar(c_type="bool", numpy="np.bool_", value=True)
CHAR = Scalar(c_type="char", numpy="np.int8", value=65)
SHORT = Scalar(c_type="unsigned short", numpy="np.uint16", value=513)
HALF = Scalar(c_type="half", numpy="np.float16", value=1.5)
BFLOAT16 = Scalar(c_type="bfloat16_t", numpy="ml_dtypes.bfloat16", value=-2.5)
FLOAT = Scalar(c_type="float", numpy="np.float32", value=0.15625)
DOUBLE = Scalar(c_type="double", numpy="np.float64", value=-1.0e-3)
SMALL_ENUM = Scalar(c_type="SmallMode", numpy="np.uint8", value=7)
ENUM = Scalar(c_type="Mode", numpy="np.int32", value=70000)
SCALARS = (
    INT8, UINT8, INT16, UINT16, INT32, UINT32, INT64, UINT64, BOOL, CHAR, SHORT, HALF, BFLOAT16, FLOAT, DOUBLE, SMALL_ENUM, ENUM,
)  # fmt: skip

# Between two small values, so that a field at the wrong place is seen.
FAMILY: dict[str, tuple[Scalar, ...]] = {
    "none": (),
    **{f"one_{number}": (scalar,) for number, scalar in enumerate(SCALARS)},
    **{f"between_{number}": (BOOL, scalar, UINT8, scalar) for number, scalar in enumerate(SCALARS)},
    "small_ones": (INT8, BOOL, UINT16, HALF, SMALL_ENUM, BFLOAT16, CHAR, SHORT),
    "wide_after_small": (BOOL, INT64, INT8, DOUBLE, UINT8, UINT64),
    "fourteen": (INT8, INT64, HALF, UINT32, BOOL, DOUBLE, INT16, FLOAT, UINT8, UINT64, BFLOAT16, INT32, SMALL_ENUM),
}

HEAD = """
#include "kernel_operator.h"

enum SmallMode : uint8_t { SMALL_FIRST = 1, SMALL_LAST = 7 };
enum class Mode : int32_t { FIRST = 1, LAST = 70000 };
struct Shape {
    uint8_t rank;
    uint16_t dims[3];
    int64_t stride;
};

template <class T> __aicore__ inline void Put(AscendC::LocalTensor<uint8_t> &line, uint32_t &at, const T &value) {
    const uint8_t *bytes = reinterpret_cast<const uint8_t *>(&value);
    for (uint32_t i = 0; i < sizeof(T); ++i) {
        line.SetValue(at++, bytes[i]);
    }
}

template <class... T> __aicore__ inline void Emit(AscendC::TPipe *pipe, GM_ADDR out, const T &...values) {
    AscendC::TBuf<AscendC::TPosition::VECCALC> buffer;
    pipe->InitBuffer(buffer, 256);
    AscendC::LocalTensor<uint8_t> line = buffer.Get<uint8_t>();
    for (uint32_t i = 0; i < 256; ++i) {
        line.SetValue(i, 0);
    }
    uint32_t at = 0;
    (Put(line, at, values), ...);
    AscendC::GlobalTensor<uint8_t> memory;
    memory.SetGlobalBuffer((__gm__ uint8_t *)out + 256 * AscendC::GetBlockIdx(), 256);
    AscendC::SetFlag<AscendC::HardEvent::S_MTE3>(EVENT_ID0);
    AscendC::WaitFlag<AscendC::HardEvent::S_MTE3>(EVENT_ID0);
    AscendC::DataCopy(memory, line, 256);
    AscendC::PipeBarrier<PIPE_ALL>();
}
"""

SPECIAL = """
extern "C" __global__ __vector__ void by_struct(GM_ADDR out, bool first, Shape shape, int8_t last) {
    AscendC::TPipe pipe;
    Emit(&pipe, out, first, shape.rank, shape.dims[0], shape.dims[2], shape.stride, last);
}
__global__ __vector__ void by_pointer(__gm__ uint8_t *out, __gm__ int8_t *small, __gm__ bool *flags, int16_t last) {
    AscendC::TPipe pipe;
    Emit(&pipe, (GM_ADDR)out, small[3], flags[2], last);
}
__global__ __vector__ void by_const(GM_ADDR out, const int16_t number, const bool flag, volatile int8_t last) {
    AscendC::TPipe pipe;
    Emit(&pipe, out, number, flag, static_cast<int8_t>(last));
}
template <typename T, int32_t N> __global__ __vector__ void by_template(GM_ADDR out, T value, bool last) {
    AscendC::TPipe pipe;
    Emit(&pipe, out, N, value, last);
}
namespace deep {
__global__ __vector__ void inside(GM_ADDR out, uint8_t value) {
    AscendC::TPipe pipe;
    Emit(&pipe, out, value);
}
}
"""


def kernel(name: str, scalars: tuple[Scalar, ...]) -> str:
    parameters = ["GM_ADDR out", *(f"{scalar.c_type} p{number}" for number, scalar in enumerate(scalars))]
    values = ["out", *(f"p{number}" for number in range(len(scalars)))]
    body = f"AscendC::TPipe pipe; Emit(&pipe, {', '.join(values)});"
    return f"__global__ __vector__ void {name}({', '.join(parameters)}) {{ {body} }}\n"


def entry(name: str, more: str = "") -> str:
    return f"  {name}:\n    outputs: [out]\n    launch: {{block_dim: 2}}\n" + textwrap.indent(more, "    ")


def case(name: str, scalars: dict[str, object], more: str = "") -> str:
    values = ", ".join(f"{key}: {str(value).lower() if isinstance(value, bool) else value}" for key, value in scalars.items())
    head = f"  - name: {name}\n    entry: {name}\n"
    tensors = f"    tensors:\n      out: {{shape: [2, {LINE}], dtype: uint8}}\n"
    return head + tensors + textwrap.indent(more, "      ") + (f"    scalars: {{{values}}}\n" if scalars else "")


def reference(name: str, parameters: list[str], parts: list[str]) -> str:
    return f"\n\ndef {name}({', '.join(parameters)}):\n    return lines({', '.join(parts)})\n"


def test_every_parameter_arrives_in_the_twin(workspace):
    source = HEAD + SPECIAL
    contract = "schema_version: 1\nentries:\n"
    cases = "schema_version: 1\ncases:\n"
    references = textwrap.dedent(
        f"""
        import ml_dtypes
        import numpy as np


        def lines(*parts):
            data = b"".join(part.tobytes() for part in parts)
            return {{"out": np.frombuffer(data.ljust({LINE}, b"\\0") * 2, np.uint8).reshape(2, {LINE})}}
        """
    )
    for name, scalars in FAMILY.items():
        values = {f"p{number}": scalar.value for number, scalar in enumerate(scalars)}
        source += kernel(name, scalars)
        contract += entry(name)
        cases += case(name, values)
        parts = [f"{scalar.numpy}(p{number})" for number, scalar in enumerate(scalars)]
        references += reference(name, list(values), parts)
    contract += entry("by_struct", "parameters: {shape: {kind: host_struct}}\n")
    cases += case("by_struct", {"first": True, "last": -3})
    cases += "    structs: {shape: [{uint8: 9}, {uint16: [10, 11, 12]}, {int64: -13}]}\n"
    references += reference(
        "by_struct",
        ["first", "last"],
        ["np.bool_(1)", "np.uint8(9)", "np.uint16(10)", "np.uint16(12)", "np.int64(-13)", "np.int8(-3)"],
    )
    contract += entry("by_pointer", "inputs: [small, flags]\n")
    cases += case(
        "by_pointer",
        {"last": -2},
        "small: {shape: [8], dtype: int8, values: arange}\nflags: {shape: [8], dtype: bool, values: ones}\n",
    )
    references += reference("by_pointer", ["last"], ["np.int8(3)", "np.bool_(1)", "np.int16(-2)"])
    contract += entry("by_const")
    cases += case("by_const", {"number": -7, "flag": True, "last": -3})
    references += reference("by_const", [], ["np.int16(-7)", "np.bool_(1)", "np.int8(-3)"])
    for name, target, numpy in (("template_half", "half, -5", "np.float16"), ("template_short", "int16_t, -5", "np.int16")):
        contract += entry(name, f"source_entry_name: by_template\nbind_target: by_template<{target}>\n")
        cases += case(name, {"value": 3, "last": True})
        references += reference(name, [], ["np.int32(-5)", f"{numpy}(3)", "np.bool_(1)"])
    contract += entry("inside", "source_entry_name: deep::inside\n")
    cases += case("inside", {"value": 77})
    references += reference("inside", [], ["np.uint8(77)"])

    folder = workspace.root / "ops/family"
    folder.mkdir()
    for file, text in {"family.asc": source, "contract.yaml": contract, "cases.yaml": cases, "reference.py": references}.items():
        (folder / file).write_text(text)
    (folder / "SConscript").write_text(
        'operator(name="family", srcs=["family.asc"], contract="contract.yaml", archs=["dav-2201"], cases="cases.yaml")\n'
    )
    run = workspace.scons("compare", "ops/family")
    assert run.status == 0, run.output
    assert f"({len(FAMILY) + 6} cases; max abs err 0)" in run.output
