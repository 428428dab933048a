"""Every command line of the bisheng toolchain is one that a bisheng with documented options alone accepts."""

from __future__ import annotations

import importlib.util
import subprocess
from pathlib import Path

import pytest

from skrules.arch import Arch
from skrules.arch_file import load_archs
from skrules.engine.depfile import read_depfile
from skrules.toolchain.base import CompileCpp, CompileKernel, Link
from skrules.toolchain.bisheng import PROGRAM_LIBRARIES
from skrules.toolchain.detect import select

_SPEC = importlib.util.spec_from_file_location("bisheng_stand_in", Path(__file__).parents[1] / "data" / "bisheng_stand_in.py")
assert _SPEC is not None
assert _SPEC.loader is not None
stand_in = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(stand_in)


@pytest.fixture(scope="module")
def arch() -> Arch:
    return load_archs().arch("dav-2201")


@pytest.fixture
def cann(tmp_path):
    home = tmp_path / "cann"
    (home / "include").mkdir(parents=True)
    (home / "version.info").write_text("Version=9.0.0\n")
    stand_in.install(home / "bin")
    return home


@pytest.fixture
def toolchain(cann, tmp_path):
    environ = {
        "ASCEND_HOME_PATH": str(cann),
        "PATH": "",
        "SKRULES_CACHE": str(tmp_path / "cache"),
        "SECRET": "1",
        "LD_LIBRARY_PATH": f"{cann}/lib64",
    }
    return select("bisheng", environ, machine="x86_64")


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    root = tmp_path / "ws"
    for name, text in {"k.asc": '#include "t.h"\n', "common/t.h": "1\n", "d.cpp": "2\n", "a.o": "3\n"}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    (root / "out").mkdir()
    monkeypatch.chdir(root)
    return root


def run(toolchain, commands):
    for command in commands:
        done = subprocess.run(command, env=dict(toolchain.environment()), capture_output=True, text=True, check=False)
        assert done.returncode == 0, (done.stderr, command)


def kernel(arch: Arch, **more) -> CompileKernel:
    return CompileKernel(source="k.asc", output="out/k.o", depfile="out/k.d", arch=arch, quote_dirs=("common",), **more)


@pytest.mark.usefixtures("workspace")
def test_a_kernel(toolchain, arch, cann):
    commands = toolchain.compile_kernel(kernel(arch, defines=("A=1",), include_dirs=("inc",), options=("-O2",)))
    run(toolchain, commands)
    assert commands == (
        (
            *(str(cann / "bin" / "bisheng"), "-x", "asc", "--npu-arch=dav-2201", "-c", "-fPIC", "-std=c++17", "-O3"),
            *("-DA=1", "-iquote", "common", "-Iinc", "-O2", "-o", "out/k.o", "k.asc", "-MD", "-MT", "out/k.o", "-MF", "out/k.d"),
        ),
    )
    assert read_depfile(Path("out/k.d").read_text())[:2] == ("k.asc", "common/t.h")
    assert stand_in.read_log(cann / "bin" / "bisheng") == [list(commands[0][1:])]


@pytest.mark.usefixtures("workspace")
def test_the_object_depends_on_what_was_read(toolchain, arch):
    run(toolchain, toolchain.compile_kernel(kernel(arch)))
    before = Path("out/k.o").read_text()
    Path("common/t.h").write_text("other\n")
    run(toolchain, toolchain.compile_kernel(kernel(arch)))
    assert Path("out/k.o").read_text() != before


@pytest.mark.usefixtures("workspace")
def test_plain_cpp_is_told_where_the_toolkit_is(toolchain, cann):
    commands = toolchain.compile_cpp(CompileCpp(source="d.cpp", output="out/d.o", depfile="out/d.d", options=("-std=c++20",)))
    run(toolchain, commands)
    assert f"-I{cann / 'include'}" in commands[0]
    assert "-x" not in commands[0]


@pytest.mark.usefixtures("workspace")
def test_a_module_with_its_descriptor(toolchain, arch):
    request = Link(
        kind="module",
        inputs=("a.o", "d.cpp"),
        output="out/m.so",
        arch=arch,
        library_dirs=("/torch/lib",),
        libraries=("torch", "c10"),
        rpath_origin=("../lib",),
        defines=("_GLIBCXX_USE_CXX11_ABI=1",),
    )
    commands = toolchain.link(request)
    run(toolchain, commands)
    words = commands[0]
    assert {"-shared", "-fPIC", "--npu-arch=dav-2201", "-D_GLIBCXX_USE_CXX11_ABI=1", "-Wl,-rpath,$ORIGIN/../lib"} <= set(words)
    assert words.index("a.o") < words.index("-ltorch") < words.index("-lc10")
    assert not any(f"-l{name}" in words for name in PROGRAM_LIBRARIES)


@pytest.mark.usefixtures("workspace")
def test_a_program_links_the_super_kernel_runtime(toolchain, arch, cann):
    commands = toolchain.link(Link(kind="program", inputs=("a.o",), output="out/compare", arch=arch))
    run(toolchain, commands)
    words = commands[0]
    assert "-shared" not in words
    assert [word for word in words if word.startswith("-l")] == [f"-l{name}" for name in PROGRAM_LIBRARIES]
    assert "-Wl,--allow-shlib-undefined" in words
    assert f"-L{cann / 'lib64'}" in words


def test_nothing_of_the_users_environment_but_cann(toolchain, cann):
    environment = toolchain.environment()
    assert environment == {
        "ASCEND_HOME_PATH": str(cann),
        "LD_LIBRARY_PATH": f"{cann}/lib64",
        "PATH": f"{cann / 'bin'}:/usr/bin:/bin",
        "LANG": "C",
        "LC_ALL": "C",
        "SOURCE_DATE_EPOCH": "0",
    }


def test_the_key_holds_no_path(toolchain, tmp_path):
    assert toolchain.key()["toolkit"] == "9.0.0"
    assert not any(str(tmp_path) in value for value in toolchain.key().values())


def test_there_is_nothing_to_share(toolchain, arch):
    assert toolchain.support((arch,), "build/bisheng") == ()
    assert toolchain.module_inputs("build/bisheng") == ()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-x", "asc", "-c", "-fPIC", "k.asc", "-o", "out/k.o"], "--npu-arch is missing"),
        (["k.asc", "-x", "asc", "--npu-arch=dav-2201", "-c", "-fPIC", "-o", "out/k.o"], "must stand before the source"),
        (["-x", "asc", "--npu-arch=dav-9", "-c", "-fPIC", "k.asc", "-o", "out/k.o"], "unsupported npu-arch"),
        (["-shared", "-fPIC", "--npu-arch=dav-2201", "-lm", "a.o", "-o", "out/m.so"], "stands before the inputs"),
        (["-shared", "--npu-arch=dav-2201", "a.o", "-o", "out/m.so"], "-shared needs -fPIC"),
        (["-c", "-fPIC", "d.cpp", "-MD", "-o", "out/d.o"], "go together"),
        (["-c", "-fPIC", "d.cpp", "-fno-such", "-o", "out/d.o"], "unknown argument"),
        (["-c", "-fPIC", "none.cpp", "-o", "out/d.o"], "no such file"),
    ],
)
@pytest.mark.usefixtures("workspace")
def test_the_stand_in_is_strict(cann, arguments, message):
    done = subprocess.run([cann / "bin" / "bisheng", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert message in done.stderr


def test_a_program_on_a_device_finds_the_drivers_libraries(cann, tmp_path, arch):
    libraries = f"/usr/local/Ascend/driver/lib64:{cann}/lib64"
    environ = {
        "ASCEND_HOME_PATH": str(cann),
        "PATH": "",
        "SKRULES_CACHE": str(tmp_path / "cache"),
        "SECRET": "1",
        "LD_LIBRARY_PATH": libraries,
        "ASCEND_RT_VISIBLE_DEVICES": "3",
    }
    toolchain = select("bisheng", environ, machine="x86_64")
    compiling, running = toolchain.environment(), toolchain.device_environment(arch)
    assert running == {**compiling, "LD_LIBRARY_PATH": libraries, "ASCEND_RT_VISIBLE_DEVICES": "3"}
    assert compiling["LD_LIBRARY_PATH"] == f"{cann}/lib64"
    assert "ASCEND_RT_VISIBLE_DEVICES" not in compiling
