"""Inputs that adaptation by patterns turns into code that no compiler takes: a compiler takes ours, and measures its structs."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from skrules.adapt.adaptation import adapt
from skrules.contract.check import resolve
from skrules.contract.load import load
from skrules.source.kernels import read
from skrules.toolchain.hostcc import Driver

# The file includes its header too late, and only under a condition.
SOURCE = """\
using namespace AscendC;
template <typename... A> __aicore__ inline void run(A...) {}
template <typename T, typename... A> __aicore__ inline void typed(A...) {}

__global__ __vector__ void small(GM_ADDR x, char c, half h, short s, __gm__ uint8_t *p, int n) { run(x, c, h, s, p, n); }
struct TakenArgs { int a; };
__global__ __vector__ void taken(GM_ADDR args, int sysArgs) { run(args, sysArgs, AscendC::GetBlockNum()); }

/* __global__ __vector__ void hidden(GM_ADDR x) {} */
__global__ __launch_bounds__(64 * 4) __vector__ void bounds(GM_ADDR x) { run(x); }
__attribute__((aligned(512))) __global__ __cube__ void attribute(GM_ADDR x) { run(x); }
__global__ __vector__ void array(GM_ADDR x, const int dims[4]) { run(x, dims); }
__global__ __vector__ void spoken(GM_ADDR x, /* in, fp16 */ GM_ADDR z // result
) { run(x, z); }
__global__ __vector__ void literals(GM_ADDR x) { run(R"x(a " } b)x", "}", '}', x); }
extern "C" {
__global__ __vector__ void plain(GM_ADDR x) { run(x); }
void other();
}

__aicore__ inline void overloaded(int a) { run(a); }
__global__ __vector__ void overloaded(GM_ADDR x) { overloaded(1); run(x); }
#if WIDE
__global__ __vector__ void branched(GM_ADDR x) { run(x, "wide"); }
#else
__global__ __cube__ void branched(GM_ADDR x) { run(x, "narrow"); }
#endif
#define DEF(name, T) __global__ __vector__ void name(GM_ADDR x, T v) { typed<T>(x, v); }
DEF(macro_half, half)
DEF(macro_float, float)

__global__ __vector__ void qualified(GM_ADDR x) { run(x, ::AscendC::GetBlockNum()); }
__global__ __vector__ void mentioned(GM_ADDR x) { /* TPipe pipe; */ run("TPipe pipe;", x); }
__global__ __vector__ void nested(GM_ADDR x) { { TPipe pipe; run("}", &pipe); } run(x); }
__global__ __vector__ void early(GM_ADDR x) { TPipe pipe; if (x == nullptr) return; return run(&pipe); }
__global__ __vector__ void several(GM_ADDR x) { TPipe a{}; TPipe b, c; run(&a, &b, &c, x); }
class Op {
public:
    __aicore__ void Run() {}
    TPipe pipe;
};
__global__ __vector__ void member(GM_ADDR x) { Op op; op.Run(); run(x); }

__global__ __vector__ void tick(uint32_t x) { run(x); }
template <typename T> __global__ __vector__ void generic(GM_ADDR x, T s) { typed<T>(x, s); }
#ifdef WIDE
#include "kernel_operator.h"
#endif
"""
CONTRACT = """entries:
  small: {inputs: [p], outputs: [x]}
  array: {inputs: [dims], outputs: [x]}
  spoken: {inputs: [x], outputs: [z]}
  generic_half: {bind_target: generic<half>, inputs: [x], outputs: [x]}
  generic_float: {bind_target: generic<float>, inputs: [x], outputs: [x]}
"""
# A launch puts every argument at max(4, its alignment).
LAYOUT = """
static_assert(offsetof(SmallArgs, c) == 8 && offsetof(SmallArgs, h) == 12 && offsetof(SmallArgs, s) == 16);
static_assert(offsetof(SmallArgs, p) == 24 && offsetof(SmallArgs, n) == 32 && sizeof(SmallArgs) == 40);
static_assert(offsetof(MacroHalfArgs, v) == 8 && offsetof(GenericArgs<half>, s) == 8 && offsetof(GenericArgs<float>, s) == 8);
"""


def adapted() -> str:
    unit = read(SOURCE.encode(), "k.asc")
    source = adapt(unit, resolve(unit, load(CONTRACT.encode(), "c.yaml")))
    assert source.status == "completed", [str(finding) for finding in source.findings]
    assert len(source.entries) == len({entry.bind_line for entry in source.entries}) == 21
    return source.text().decode()


@pytest.mark.parametrize("defines", [[], ["-DWIDE=1"]])
def test_adapted_text_compiles(defines: list[str], tmp_path: Path) -> None:
    driver = Driver(os.environ)
    (tmp_path / "k.cpp").write_text(adapted() + LAYOUT)
    options = ["-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-D__NPU_ARCH__=2201", *defines]
    command = [*driver.compiler.command, *driver.flags(), *options, *driver.headers(tmp_path), str(tmp_path / "k.cpp")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stderr) == (0, "")
