"""The host toolchain's command lines, and what decides how code is made."""

from __future__ import annotations

import sys

import pytest

from skrules import resources
from skrules.arch import Arch
from skrules.arch_file import load_archs
from skrules.toolchain.arch_header import render_arch_table
from skrules.toolchain.base import CompileCpp, CompileKernel, Link
from skrules.toolchain.cxx import machine_flags
from skrules.toolchain.host import HostToolchain

HOSTCC = (sys.executable, "-P", "-m", "skrules.toolchain.hostcc")
X86 = "fpu sse4_2 ssse3 popcnt cx16"


@pytest.fixture(scope="module")
def table():
    return load_archs()


@pytest.fixture(scope="module")
def arch(table) -> Arch:
    return table.arch("dav-3510")


@pytest.fixture
def toolchain(tmp_path):
    compiler = tmp_path / "bin" / "g++"
    compiler.parent.mkdir()
    compiler.write_text('#!/bin/sh\necho "gcc version 1.2.3" >&2\necho "Target: x86_64-test" >&2\n')
    compiler.chmod(0o755)
    return HostToolchain(environ={"PATH": str(compiler.parent), "HOME": "/home/x", "SECRET": "1", "CXX": ""}, why="a test")


def test_a_kernel(toolchain, arch):
    request = CompileKernel(
        source="gen/k.asc",
        output="obj/k.o",
        depfile="obj/k.d",
        arch=arch,
        quote_dirs=("ops/k",),
        include_dirs=("inc",),
        defines=("A=1",),
        options=("-O2",),
    )
    assert toolchain.compile_kernel(request) == (
        (
            *HOSTCC,
            *("-x", "asc", "--npu-arch=dav-3510", "-c", "-fPIC", "-std=c++17"),
            *("-ffunction-sections", "-fdata-sections", "-fvisibility=hidden"),
            *("-DA=1", "-iquote", "ops/k", "-Iinc", "-O2"),
            *("gen/k.asc", "-o", "obj/k.o", "-MD", "-MF", "obj/k.d", "-MT", "obj/k.o"),
        ),
    )


def test_plain_cpp(toolchain):
    request = CompileCpp(source="r.cpp", output="r.o", include_dirs=("/torch",), options=("-std=c++20",))
    assert toolchain.compile_cpp(request) == (
        (*HOSTCC, "-c", "-fPIC", "-std=c++17", "-I/torch", "-std=c++20", "r.cpp", "-o", "r.o"),
    )


def test_a_module(toolchain, arch):
    request = Link(
        kind="module",
        inputs=("obj/k.o", "gen/d.cpp"),
        output="build/host/op/m.so",
        arch=arch,
        library_dirs=("/torch/lib",),
        libraries=("torch",),
        rpath_origin=("../lib",),
        include_dirs=("inc",),
        defines=("B",),
    )
    assert toolchain.link(request) == (
        (
            *HOSTCC,
            *(
                "-shared",
                "-fPIC",
                "-Wl,--gc-sections",
                "--npu-arch=dav-3510",
                "-DB",
                "-Iinc",
                "obj/k.o",
                "gen/d.cpp",
                "-o",
                "build/host/op/m.so",
            ),
            *("-L/torch/lib", "-Lbuild/host/lib", "-ltorch", "-lskrules_host", "-Wl,-rpath,$ORIGIN/../lib"),
        ),
    )


def test_a_program_with_the_runtime_among_its_inputs(toolchain, arch):
    inputs = ("k.o", *toolchain.module_inputs("build/host"))
    (command,) = toolchain.link(Link(kind="program", inputs=inputs, output="build/host/compare/add/run", arch=arch))
    assert "-shared" not in command
    assert "-lskrules_host" not in command
    assert command[-1] == "-Wl,-rpath,$ORIGIN/../../lib"


def test_nothing_of_the_users_environment_but_where_the_cache_is(toolchain, tmp_path):
    environment = toolchain.environment()
    assert environment["CXX"] == str(tmp_path / "bin" / "g++")
    assert environment["PATH"] == f"{tmp_path / 'bin'}:/usr/bin:/bin"
    assert environment["PYTHONPATH"] == str(resources.package().parent)
    assert environment["HOME"] == "/home/x"
    assert "SECRET" not in environment


@pytest.mark.parametrize(
    ("machine", "cpu", "flags"),
    [
        ("x86_64", f"{X86} avx f16c avx512f", ("-march=x86-64-v2", "-mf16c")),
        ("x86_64", X86, ("-march=x86-64-v2",)),
        ("x86_64", f"{X86} f16c", ("-march=x86-64-v2",)),
        ("x86_64", "fpu sse2", ()),
        ("x86_64", "", ()),
        ("aarch64", f"{X86} avx f16c", ()),
    ],
)
def test_code_for_this_cpu_only_where_it_can_run(machine, cpu, flags):
    assert machine_flags(machine, cpu) == flags


def test_the_arch_table_as_a_header(table):
    text = render_arch_table(table)
    assert '    {2201, "dav-2201", 196608, 524288, 65536, 65536, 131072, 1024, 2048, 24, 48},\n' in text
    assert '    {3510, "dav-3510", 253952, 524288, 65536, 65536, 262144, 4096, 4096, 36, 72},\n' in text
    assert "@" not in text


def test_a_program_on_the_emulated_device_knows_its_arch_and_what_was_asked_for(toolchain, arch):
    toolchain = HostToolchain(environ={**toolchain.environ, "SKRULES_HOST_RACE": "1", "SKRULES_HOST_ARCH": "2201"}, why="a test")
    asked = {"SKRULES_HOST_ARCH": "3510", "SKRULES_HOST_RACE": "1"}
    assert toolchain.device_environment(arch) == {**toolchain.environment(), **asked}
    assert not asked.keys() & toolchain.environment().keys()
