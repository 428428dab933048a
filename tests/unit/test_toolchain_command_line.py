"""hostcc understands what bisheng understands."""

from __future__ import annotations

from pathlib import Path

import pytest

from skrules.errors import UsageError
from skrules.toolchain.command_line import angled_folders, codegen_options, include_folders, parse

COMPILE = ["-x", "asc", "--npu-arch=dav-2201", "-c", "k.cpp", "-o", "k.o"]


def test_a_kernel_compilation():
    work = parse(
        [*COMPILE, "-MD", "-MT", "out.o", "-MF", "k.d", "-Iinc", "-I", "inc2", "-iquote", "q", "-DA=1", "-D", "B", "-O2"]
    )
    assert (work.arch, work.compile_only, work.asc, work.cpp, work.output) == ("dav-2201", True, ["k.cpp"], [], "k.o")
    assert (work.depfile, work.target) == ("k.d", "out.o")
    assert work.options == ["-Iinc", "-Iinc2", "-iquote", "q", "-DA=1", "-DB", "-O2"]


def test_an_asc_file_needs_no_language():
    assert parse(["--npu-arch=dav-2201", "-c", "k.asc", "-o", "k.o"]).asc == ["k.asc"]


def test_plain_cpp_is_not_asc():
    work = parse(["-c", "main.cpp", "-o", "main.o"])
    assert (work.asc, work.cpp) == ([], ["main.cpp"])


def test_a_link_keeps_the_order_of_objects_and_libraries():
    work = parse(
        ["--shared", "-fPIC", "a.o", "d.cpp", "b.so", "-o", "m.so", "-Lx", "-la", "b.a", "-l", "c", "-Wl,-rpath,$ORIGIN/../lib"]
    )
    assert work.linking == ["-shared", "a.o", "b.so", "-Lx", "-la", "b.a", "-lc", "-Wl,-rpath,$ORIGIN/../lib"]
    assert work.options == ["-fPIC"]
    assert (work.cpp, work.compile_only) == (["d.cpp"], False)


def test_device_options_mean_nothing_here():
    device = [
        "--cce-auto-sync",
        "--cce-auto-sync-log=x",
        "-mllvm",
        "-cce-aicore-stack-size=0x8000",
        "--npu-soc=X",
        "--enable-simt",
    ]
    assert parse([*COMPILE, *device, "-g"]).options == ["-g"]


def test_sections_for_one_side():
    sections = ["-Xaicore-start", "-O0", "-DDEVICE", "-Xaicore-end", "-Xhost-start", "-Wall", "-Xhost-end"]
    assert parse([*COMPILE, *sections]).options == ["-DDEVICE", "-Wall"]


def test_response_files(tmp_path):
    inner = tmp_path / "inner"
    inner.write_text("-DB='x y'\n-O2")
    outer = tmp_path / "outer"
    outer.write_text(f'-DA="1 2" @{inner}')
    assert parse([*COMPILE, f"@{outer}"]).options == ["-DA=1 2", "-DB=x y", "-O2"]


def test_a_response_file_that_includes_itself(tmp_path):
    loop = tmp_path / "loop"
    loop.write_text(f"@{loop}")
    with pytest.raises(UsageError, match="includes itself"):
        parse([*COMPILE, f"@{loop}"])


def test_a_broken_response_file(tmp_path):
    broken = tmp_path / "broken"
    broken.write_text("-DA='")
    with pytest.raises(UsageError, match="No closing quotation"):
        parse([*COMPILE, f"@{broken}"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "-o is missing"),
        (["-c", "a.cpp"], "-o is missing"),
        (["a.o", "-o"], "'-o' needs a value"),
        (["-c", "-o", "a.o"], "exactly one source, not 0"),
        (["-c", "a.cpp", "b.cpp", "-o", "a.o"], "exactly one source, not 2"),
        (["-x", "asc", "-c", "a.cpp", "-o", "a.o"], "--npu-arch is missing"),
        (["-lib", "a.asc", "-o", "a.a"], "static libraries"),
    ],
)
def test_what_cannot_be_carried_out(arguments, message):
    with pytest.raises(UsageError, match=message):
        parse(arguments)


def test_options_that_a_precompiled_header_depends_on():
    assert codegen_options(["-O2", "-DA", "-Iq", "-include", "-x.h", "-g", "-std=c++20"]) == ["-O2", "-g", "-std=c++20"]


def test_folders_that_are_searched_whatever_the_form():
    options = ["-isystem", "sys", "-I", "two", "-Ione", "-iquotenear", "-idirafter", "last"]
    assert angled_folders(options) == [Path("two"), Path("one"), Path("sys"), Path("last")]
    assert include_folders(options) == [Path("near"), *angled_folders(options)]
    assert parse(["-c", *options, "a.cpp", "-o", "a.o"]).options == [
        "-isystem",
        "sys",
        "-Itwo",
        "-Ione",
        "-iquotenear",
        "-idirafter",
        "last",
    ]
