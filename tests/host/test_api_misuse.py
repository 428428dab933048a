"""Misuse of the device API ends the launch and says what is wrong; correct use beside it does not."""

from __future__ import annotations

import numpy as np
import pytest
from api_program import LaunchError, Program


@pytest.fixture(scope="module")
def program(host_runtime):
    return Program(host_runtime, "misuse.cpp", 2201)


QUEUES = {
    1: "TQue<VECIN,1>::AllocTensor before TPipe::InitBuffer",
    2: "TPipe::InitBuffer: UB overflow: 0 bytes in use + 204800 requested > 196608 (capacity, dav-2201)",
    3: "TPipe::InitBuffer: 0 buffers of 32 bytes",
    4: "TQue<VECIN,1>::DeQue on an empty queue (no EnQue before it): hangs on hardware",
    5: "TQue<VECIN,1>::AllocTensor: all 1 buffer(s) are in use (Alloc without FreeTensor, or InitBuffer num too small)",
    6: "TQue<VECOUT,1>::EnQue: the tensor was not allocated from this queue",
    7: "DataCopy(GM->local): 999 elements = 1998 bytes is not a multiple of 32 (use DataCopyPad)",
    8: "DataCopy(GM->local): src is out of bounds in GM: 2048 bytes at offset 1024 of an allocation of 2048 bytes",
    9: "DataCopy(GM->local): dst needs 2048 bytes at UB+1024 but its buffer ends at UB+2048",
    10: "DataCopy(GM->local): dst address UB+16 is not 32-byte aligned",
    11: "TQue<VECIN,1>::EnQue: the tensor is already enqueued, not allocated",
    12: "TQue<VECIN,1>::FreeTensor: the tensor is still enqueued",
    13: "Add: src0 address UB+6 is not 32-byte aligned",
    14: "Add: dst needs 2050 bytes at UB+2048 but its buffer ends at UB+4096",
    15: "Add: src0 is an empty LocalTensor",
    16: "LocalTensor::SetValue: tensor needs 2 bytes at UB+4096 but its buffer ends at UB+4096",
    17: "Add: src0 lies in L1, it must lie in UB",
    18: "GlobalTensor::GetValue: element is out of bounds in GM",
    19: "GetTPipePtr: no TPipe lives on this core",
    20: "TQue<VECIN,1>::FreeTensor: the tensor is freed twice",
}
OTHERS = {
    1: "TBuf<VECCALC>::Get before TPipe::InitBuffer",
    2: "TBuf<VECCALC>::Get: 514 bytes at offset 0 exceed its buffer of 512 bytes",
    3: "SetFlag<MTE2_V>: event id 9 is none of 0..7",
    4: "WaitFlag<MTE3_V>(EVENT_ID1) with no earlier SetFlag",
    5: "LocalMemAllocator::Alloc: UB overflow: 0 bytes in use + 409600 requested > 196608 (capacity, dav-2201)",
    6: "LocalTensor: UB overflow: address 196600 + 32 bytes > 196608 (capacity)",
    7: "TBufPool::InitBuffer: 0 bytes in use + 2048 requested > 1024 (the pool, in UB)",
    8: "DataCopyPad(GM->UB): 34 bytes of padding on one side, at most 32 are allowed",
    9: "TPipe::ReleaseEventID<V_MTE3>: id 3 was not allocated",
    10: "Trap()",
    11: "Compare: 100 elements = 200 bytes is not a multiple of 256",
    12: "Add: dst needs 768 bytes",
    13: "Cast: round mode 7 is not emulated",
    14: "Add: count -5",
    15: "DataCopy(local->GM): src needs 2048 bytes at UB+32 but its buffer ends at UB+512",
    16: "assertion failed: o.op < 16",
}


@pytest.mark.parametrize(
    ("kernel", "op", "text"), [("queues", *item) for item in QUEUES.items()] + [("others", *item) for item in OTHERS.items()]
)
def test_misuse(program, kernel, op, text):
    data = np.zeros(1024, np.float16)
    with pytest.raises(LaunchError) as error:
        program.run(kernel, data, op=op)
    assert str(error.value).startswith(f"[{kernel} AIV block 0.0 (GetBlockIdx=0)] ") and text in str(error.value)


def test_without_mistake(program):
    data = np.arange(1024).astype(np.float16)
    program.run("queues", data, op=0)
    assert np.array_equal(data, np.arange(1024).astype(np.float16) * 2)


@pytest.mark.parametrize("op", [0, 1, 2])
def test_correct_uses(program, op):
    x = np.arange(24).astype(np.float16)
    y = np.zeros(30, np.float16)
    report = np.zeros(16, np.int32)
    program.run("correct", x, y, report, blocks=4, op=op)
    for row in range(3):
        padded = [-1, -1, *x[row * 8 : row * 8 + 5], -1]
        assert np.array_equal(y[row * 10 : row * 10 + 10], [*(np.array(padded, np.float16) + np.float16(1)), 0, 0])
    assert list(report[:3]) == [4, 196608, 256]
    assert (report[8:] == 4).all(), "four cores added one each"


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        ("Sort32(x, x, 1);", "Sort32 is not emulated by the host toolchain"),
        ("SetDeqScale(static_cast<half>(1));", "SetDeqScale is not emulated by the host toolchain"),
        ("if (TILING_KEY_IS(1)) return;", "tilingKeyIsNotEmulatedByTheHostToolchain"),
        ("} __simd_vf__ void f() {", "VectorRegisterFunctionsAreNotEmulatedByTheHostToolchain"),
        ('} \n#include "lib/matmul_intf.h"\n void f() {', "the high-level Matmul is not emulated by the host toolchain"),
        ("Exp(bytes, bytes, 64);", "Exp does not support this element type on this arch"),
        ("Add(brains, brains, brains, 64);", "Add does not support this element type on this arch"),
    ],
)
def test_what_is_not_emulated_does_not_compile(host_runtime, tmp_path, statement, text):
    source = tmp_path / "kernel.cpp"
    tensors = "AscendC::LocalTensor<half> x; AscendC::LocalTensor<int8_t> bytes; AscendC::LocalTensor<bfloat16_t> brains;"
    source.write_text(f'#include "kernel_operator.h"\nusing namespace AscendC;\nvoid k() {{ {tensors} {statement} }}\n')
    result = host_runtime.compiled(source, "-fsyntax-only", "-D__NPU_ARCH__=2201")
    assert result.returncode and text in result.stderr
    if "brains" in statement:
        assert host_runtime.compiled(source, "-fsyntax-only", "-Wno-unused", "-D__NPU_ARCH__=3510").returncode == 0


@pytest.mark.parametrize("arch", [2201, 3510])
def test_headers_compile_without_warnings(host_runtime, tmp_path, arch):
    source = tmp_path / "all.cpp"
    source.write_text('#include "kernel_operator.h"\n')
    result = host_runtime.compiled(source, "-fsyntax-only", f"-D__NPU_ARCH__={arch}")
    assert result.returncode == 0, result.stderr
