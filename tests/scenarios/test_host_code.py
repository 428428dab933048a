"""Kernels with host code beside them, as samples have it: it is compiled with them, and dropped at the link."""

from __future__ import annotations

import ctypes
import os
import subprocess

import pytest

from skrules.arch_file import load_archs
from skrules.toolchain.base import Link
from skrules.toolchain.host import HostToolchain

COMPARE = ("compare", "ops/scale", "ARCH=dav-2201")
# What a sample brings along: a program, and functions of files that nobody lists in `srcs`.
PROGRAM = """
#include <cstdio>
#include <vector>
std::vector<float> ReadInput(const char *name);
namespace trial { bool Verify(const std::vector<float> &values); }
template <class T> int Report(const T &values) { return trial::Verify(values) ? 0 : 1; }
int Trial(const char *name) { return Report(ReadInput(name)); }
struct Stream { virtual ~Stream() = default; virtual int run() { return Trial("x.bin"); } };
extern "C" int RunTrial() { Stream stream; return stream.run(); }
int main(int argc, char *argv[]) { std::printf("%s\\n", argv[argc - 1]); return RunTrial(); }
"""


@pytest.fixture
def with_program(workspace):
    path = workspace.root / "ops/scale/scale.asc"
    path.write_text(path.read_text() + PROGRAM)
    return workspace


def test_a_source_with_a_program_passes_as_a_super_kernel_too(with_program):
    run = with_program.scons(*COMPARE)
    assert run.status == 0, run.output
    assert "1 result: 1 passed" in run.output
    program = with_program.root / "build/host/compare/dav-2201/ops/scale/compare"
    symbols = subprocess.run(["nm", "-C", str(program)], capture_output=True, text=True, check=True).stdout
    assert "TwinRegistrar" in symbols and "skrules_launch_scale" in symbols
    assert "Trial" not in symbols and "skrules_main_" not in symbols


def test_a_module_of_it_can_be_loaded(with_program, monkeypatch):
    assert with_program.scons(*COMPARE).status == 0
    monkeypatch.chdir(with_program.root)
    (with_program.root / "init.cpp").write_text(
        "struct skrules_code;\n"
        'extern "C" const skrules_code skrules_code_scale;\n'
        'extern "C" __attribute__((visibility("default"))) const void *code() { return &skrules_code_scale; }\n'
    )
    toolchain = HostToolchain(environ={**os.environ, **with_program.environment}, why="tests")
    request = Link(
        kind="module",
        inputs=("build/host/obj/dav-2201/ops/scale/scale.o", "init.cpp"),
        output="build/host/op/scale.so",
        arch=load_archs().arch("dav-2201"),
        rpath_origin=("../lib",),
    )
    for command in toolchain.link(request):
        subprocess.run(command, env=dict(toolchain.environment()), check=True)
    # As Python loads modules: every symbol must be there at once.
    loaded = ctypes.CDLL(str(with_program.root / request.output), mode=os.RTLD_NOW | os.RTLD_LOCAL)
    assert loaded.code() != 0
    symbols = subprocess.run(["nm", "-C", request.output], capture_output=True, text=True, check=True).stdout
    assert "TwinRegistrar" in symbols and "Trial" not in symbols


SECOND = """#include "kernel_operator.h"
__global__ __vector__ void second() {}
int Missing();
int main() { return Missing(); }
"""


def test_two_programs_in_one_operator_do_not_meet(with_program):
    (with_program.root / "ops/scale/second.asc").write_text(SECOND)
    with_program.edit("ops/scale/SConscript", '"scale.asc"', '"scale.asc", "second.asc"')
    contract = with_program.root / "ops/scale/contract.yaml"
    contract.write_text(contract.read_text() + "  second: {launch: {block_dim: 1}}\n")
    run = with_program.scons(*COMPARE)
    assert "LINK dav-2201 //ops/scale" in run.actions, run.output
    assert "multiple definition" not in run.output
    assert (with_program.root / "build/host/compare/dav-2201/ops/scale/compare").exists(), run.output


def test_what_a_kernel_itself_needs_must_be_there(workspace):
    workspace.edit("ops/scale/scale.asc", '#include "../common', 'float Factor(float factor);\n#include "../common')
    workspace.edit("ops/scale/scale.asc", "Muls(b, a, factor,", "Muls(b, a, Factor(factor),")
    run = workspace.scons(*COMPARE)
    assert run.status != 0 and "undefined reference to `Factor(float)'" in run.output
