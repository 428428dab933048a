"""hostcc with a real C++ compiler: on a small device API of the test's own, and on the one that ships."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from skrules import resources
from skrules.engine.depfile import read_depfile
from skrules.toolchain import hostcc
from skrules.toolchain.base import CompileKernel, Link
from skrules.toolchain.detect import select
from skrules.toolchain.host import HostToolchain

pytestmark = pytest.mark.skipif(not shutil.which("g++"), reason="no g++")

KERNEL = '#include "kernel_operator.h"\n#include "scale.h"\nextern "C" int value() { return SCALE * fromHeader(); }\n'
COMPILE = ["-x", "asc", "--npu-arch=dav-2201", "-c", "src/k.asc", "-o", "out/k.o", "-MD", "-MF", "out/k.d", "-MT", "out/k.o"]


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A workspace in the current folder, and a toolchain folder with one header, one runtime source and the real arch table."""
    tools = tmp_path / "toolchains"
    write(tools / "host/include/kernel_operator.h", '#pragma once\n#include "skrules_host/arch_table.h"\n' + HEADER)
    write(tools / "host/runtime/runtime.cpp", 'extern "C" int runtimeAnswer() { return 40; }\n')
    shutil.copy(resources.toolchains() / "ascend.yaml", tools)
    monkeypatch.setattr(resources, "toolchains", lambda: tools)
    monkeypatch.setenv("SKRULES_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("CXX", raising=False)
    root = tmp_path / "ws"
    write(root / "src/k.asc", KERNEL)
    write(root / "src/scale.h", "#define SCALE 2\n")
    monkeypatch.chdir(root)
    return tmp_path


LAUNCHER = """\
namespace skhost {
struct Any { template <class... A> Any(A...) {} };
template <class... A> void launch(Any, Any, A...) {}
}
"""
LAUNCH = """\
#define __global__
#define __vector__
__global__ __vector__ void f();
void g(void *stream)
{
    f<<<1, nullptr, stream>>>(); int wrong = "text";
}
"""
HEADER = (
    "namespace skhost { template <class... A> void launch(A...); }\ninline int fromHeader() { return skhost::kArchSpec.arch; }\n"
)


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def load(path: Path) -> ctypes.CDLL:
    return ctypes.CDLL(str(path.resolve()))


def link_and_call(name: str = "out/k.so") -> int:
    assert hostcc.main(["-shared", "-fPIC", "--npu-arch=dav-2201", "out/k.o", "-o", name]) == 0
    return load(Path(name)).value()


def precompiled(root: Path) -> list[Path]:
    return sorted((root / "cache" / "precompiled").glob("*/*.gch"))


@pytest.mark.usefixtures("tree")
def test_compile_link_and_run():
    assert hostcc.main(COMPILE) == 0
    assert link_and_call() == 2 * 2201
    assert read_depfile(Path("out/k.d").read_text()) == ("src/k.asc", "src/scale.h")
    assert Path("out/k.d").read_text().startswith("out/k.o:")
    assert sorted(path.name for path in Path("out").iterdir()) == ["k.d", "k.o", "k.so"]


@pytest.mark.usefixtures("tree")
def test_the_arch_is_that_of_the_command_line():
    assert hostcc.main(["--npu-arch=dav-3510" if word == "--npu-arch=dav-2201" else word for word in COMPILE]) == 0
    assert link_and_call() == 2 * 3510


def test_the_kernel_header_is_precompiled_and_used(tree, capfd):
    assert hostcc.main([*COMPILE, "-H"]) == 0
    (header,) = precompiled(tree)
    assert f"! {header}" in capfd.readouterr().err
    assert read_depfile(Path("out/k.d").read_text()) == ("src/k.asc", "src/scale.h")


def test_a_file_that_includes_something_else_first_gets_the_header_itself(tree, capfd):
    write(Path("src/k.asc"), '#include "scale.h"\n#include <cstdint>\nint before;\n' + KERNEL)
    assert hostcc.main([*COMPILE, "-H"]) == 0
    messages = capfd.readouterr().err
    assert f"! {tree}" not in messages
    assert f".. {tree}/toolchains/host/include/kernel_operator.h" in messages
    assert link_and_call() == 2 * 2201


@pytest.mark.usefixtures("tree")
@pytest.mark.parametrize("first", ['#include "kernel_operator.h"\n', "int before;\n"])
def test_the_kernel_header_may_come_again(first):
    write(Path("src/scale.h"), '#include "kernel_operator.h"\n#include <kernel_operator.h>\n#define SCALE 2\n')
    write(Path("src/k.asc"), first + KERNEL + '#include "kernel_operator.h"\n')
    assert hostcc.main(COMPILE) == 0
    assert link_and_call() == 2 * 2201


def test_a_file_that_includes_no_kernel_header_does_not_get_it(tree, capfd):
    write(Path("src/k.asc"), "int value() { return fromHeader(); }\n")
    assert hostcc.main(COMPILE) == 1
    assert "src/k.asc:1:" in capfd.readouterr().err
    assert precompiled(tree)


def test_definitions_before_the_header_count(tree):
    write(
        tree / "toolchains/host/include/kernel_operator.h", HEADER.replace("skhost::kArchSpec.arch", "FACTOR") + "#pragma once\n"
    )
    write(Path("src/k.asc"), "#define FACTOR 5\n" + KERNEL)
    assert hostcc.main(COMPILE) == 0
    assert link_and_call() == 10
    write(Path("src/k.asc"), KERNEL)
    assert hostcc.main([*COMPILE, "-DFACTOR=7"]) == 0
    assert link_and_call("out/other.so") == 14


def test_a_changed_header_is_seen(tree):
    assert hostcc.main(COMPILE) == 0
    write(tree / "toolchains/host/include/kernel_operator.h", "#pragma once\ninline int fromHeader() { return 1; }\n")
    assert hostcc.main(COMPILE) == 0
    assert link_and_call() == 2
    assert len(precompiled(tree)) == 2


@pytest.mark.usefixtures("tree")
def test_headers_of_the_user_that_count_as_those_of_the_system_are_named():
    # The compiler's short form of the list leaves them out, wherever they lie.
    write(Path("marked/outer.h"), '#pragma GCC system_header\n#include "inner.h"\n')
    write(Path("marked/inner.h"), "inline int inner() { return 1; }\n")
    write(Path("src/a.cpp"), "#include <vector>\n#include <outer.h>\nint outer() { return inner(); }\n")
    assert hostcc.main(["-c", "-isystem", "marked", "src/a.cpp", "-o", "out/a.o", "-MD", "-MF", "out/a.d", "-MT", "out/a.o"]) == 0
    assert read_depfile(Path("out/a.d").read_text()) == ("src/a.cpp", "marked/outer.h", "marked/inner.h")


@pytest.mark.parametrize("damage", ["truncated", "overwritten", "removed"])
def test_a_damaged_precompiled_header_does_no_harm(tree, damage):
    assert hostcc.main(COMPILE) == 0
    (header,) = precompiled(tree)
    size = header.stat().st_size
    if damage == "removed":
        header.unlink()
    else:
        header.write_bytes(b"\0" * (size if damage == "overwritten" else size // 2))
    assert hostcc.main(COMPILE) == 0
    assert link_and_call() == 2 * 2201


def test_a_kernel_header_that_does_not_compile_by_itself(tree):
    write(tree / "toolchains/host/include/kernel_operator.h", "inline int fromHeader() { return NEEDED; }\n")
    write(Path("src/k.asc"), "#define NEEDED 3\n" + KERNEL)
    assert hostcc.main(COMPILE) == 0
    assert link_and_call() == 6
    assert not precompiled(tree)


def test_a_cache_that_cannot_be_written(tree, monkeypatch):
    monkeypatch.setenv("SKRULES_CACHE", str(write(tree / "file", "")))
    assert hostcc.main(COMPILE) == 0
    assert link_and_call() == 2 * 2201
    assert sorted(path.name for path in Path("out").iterdir()) == ["k.d", "k.o", "k.so"]


def test_a_cold_cache_and_four_compilations_at_once(tree):
    status: list[int] = []
    commands = [[word.replace("out/k", f"out/k{number}") for word in COMPILE] for number in range(4)]
    threads = [threading.Thread(target=lambda words=words: status.append(hostcc.main(words))) for words in commands]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert status == [0, 0, 0, 0]
    assert len({Path(f"out/k{number}.o").read_bytes() for number in range(4)}) == 1
    assert len(precompiled(tree)) == 1


@pytest.mark.usefixtures("tree")
def test_messages_name_the_users_line_and_nothing_is_left(capfd):
    write(Path("src/k.asc"), KERNEL + LAUNCH)
    assert hostcc.main(COMPILE) == 1
    assert re.search(r"^src/k\.asc:9:\d+: error: invalid conversion", capfd.readouterr().err, re.M)
    assert list(Path("out").iterdir()) == []


def test_a_file_that_only_launches(tree):
    write(tree / "toolchains/host/include/skrules_host/launch.h", LAUNCHER)
    write(Path("src/k.asc"), LAUNCH.replace(' int wrong = "text";', ""))
    assert hostcc.main(COMPILE) == 0


@pytest.mark.usefixtures("tree")
def test_a_launch_that_cannot_be_read_is_said(capsys):
    write(Path("src/k.asc"), KERNEL + "void g() { nowhere<<<1, nullptr, nullptr>>>(); }\n")
    assert hostcc.main(COMPILE) == 1
    assert "src/k.asc:4:" in capsys.readouterr().err


@pytest.mark.usefixtures("tree")
def test_a_failed_compilation_keeps_the_old_object():
    assert hostcc.main(COMPILE) == 0
    before = Path("out/k.o").read_bytes()
    write(Path("src/k.asc"), "int")
    assert hostcc.main(COMPILE) == 1
    assert Path("out/k.o").read_bytes() == before


@pytest.mark.usefixtures("tree")
def test_a_header_beside_the_output_is_not_that_beside_the_source():
    write(Path("out/scale.h"), "#define SCALE 1000\n")
    assert hostcc.main(COMPILE) == 0
    assert link_and_call() == 2 * 2201


@pytest.mark.usefixtures("tree")
def test_quote_folders_come_after_the_source():
    write(Path("generated/scale.h"), "#define SCALE 1000\n")
    write(Path("generated/extra.h"), "#define EXTRA 1\n")
    write(Path("src/k.asc"), '#include "extra.h"\n' + KERNEL.replace("SCALE *", "SCALE * EXTRA *"))
    assert hostcc.main([*COMPILE, "-iquote", "generated"]) == 0
    assert read_depfile(Path("out/k.d").read_text()) == ("src/k.asc", "generated/extra.h", "src/scale.h")


@pytest.mark.usefixtures("tree")
@pytest.mark.parametrize(
    "text", [b"\xef\xbb\xbf" + KERNEL.encode(), KERNEL.replace("\n", "\r\n").encode(), KERNEL.encode() + b"// \xcc\xed\n"]
)
def test_the_encoding_of_a_source_does_not_matter(text):
    Path("src/k.asc").write_bytes(text)
    assert hostcc.main(COMPILE) == 0
    assert link_and_call() == 2 * 2201


@pytest.mark.usefixtures("tree")
def test_blanks_in_names():
    Path("src").rename('a "b" #c$')
    Path('a "b" #c$/scale.h').rename('a "b" #c$/the scale.h')
    write(Path('a "b" #c$/k.asc'), KERNEL.replace("scale.h", "the scale.h"))
    assert hostcc.main([word.replace("src/", 'a "b" #c$/').replace("out/", "o u t/") for word in COMPILE]) == 0
    assert read_depfile(Path("o u t/k.d").read_text()) == ('a "b" #c$/k.asc', 'a "b" #c$/the scale.h')


def test_the_same_sources_elsewhere_give_the_same_object(tree, monkeypatch):
    assert hostcc.main(COMPILE) == 0
    here = Path("out/k.o").read_bytes()
    shutil.copytree(tree / "ws" / "src", tree / "elsewhere" / "src")
    monkeypatch.chdir(tree / "elsewhere")
    monkeypatch.setenv("SKRULES_CACHE", str(tree / "another cache"))
    assert hostcc.main(COMPILE) == 0
    assert Path("out/k.o").read_bytes() == here
    assert str(tree).encode() not in here


@pytest.mark.usefixtures("tree")
def test_source_to_program_in_one_step():
    write(Path("src/main.asc"), KERNEL + "int main() { return value() == 4402 ? 0 : 1; }\n")
    assert hostcc.main(["src/main.asc", "--npu-arch=dav-2201", "-O2", "-o", "out/main"]) == 0
    assert subprocess.run(["out/main"], check=False).returncode == 0


@pytest.mark.usefixtures("tree")
def test_a_kernel_and_a_table_become_a_module_in_one_step():
    write(Path("generated/factor.h"), "#define FACTOR 3\n")
    write(Path("src/k.asc"), '#include "factor.h"\n' + KERNEL.replace("SCALE", "FACTOR * SCALE"))
    write(Path("src/table.cpp"), 'extern "C" int named() { return ADDED; }\n')
    options = ["-iquote", "generated", "-DADDED=9", "-Wl,-z,defs", "-lm"]
    assert hostcc.main(["-shared", "-fPIC", "--npu-arch=dav-2201", *options, "src/k.asc", "src/table.cpp", "-o", "out/m.so"]) == 0
    module = load(Path("out/m.so"))
    assert (module.value(), module.named()) == (6 * 2201, 9)
    assert [path.name for path in Path("out").iterdir()] == ["m.so"]


@pytest.mark.usefixtures("tree")
@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["-x", "asc", "--npu-arch=dav-9999", "-c", "src/k.asc", "-o", "out/k.o"], 4, "unknown arch 'dav-9999'"),
        (["-x", "asc", "--npu-arch=dav-2201", "-c", "src/none.asc", "-o", "out/k.o"], 2, "cannot read src/none.asc"),
        (["-x", "asc", "-c", "src/k.asc", "-o", "out/k.o"], 2, "--npu-arch is missing"),
    ],
)
def test_errors_of_its_own(words, status, message, capsys):
    assert hostcc.main(words) == status
    assert message in capsys.readouterr().err
    assert not Path("out/k.o").exists()


@pytest.mark.usefixtures("tree")
def test_no_compiler(monkeypatch, capsys):
    monkeypatch.setenv("PATH", "/nowhere")
    assert hostcc.main(COMPILE) == 4
    assert "apt-get install g++" in capsys.readouterr().err


def test_the_runtime_library_is_made_once_and_found_wherever_the_folder_goes(tree, real_arch):
    toolchain = host()
    (action,) = toolchain.support((real_arch,), "build/host")
    assert action.outputs == toolchain.module_inputs("build/host") == ("build/host/lib/libskrules_host.so",)
    root = tree / "ws"
    action.run(root)
    stamp = (root / action.outputs[0]).stat().st_mtime_ns
    action.run(root)
    assert (root / action.outputs[0]).stat().st_mtime_ns == stamp

    write(
        root / "src/k.asc",
        KERNEL.replace("SCALE", "runtimeAnswer() + SCALE").replace("extern", 'extern "C" int runtimeAnswer();\nextern', 1),
    )
    assert hostcc.main(COMPILE) == 0
    request = Link(kind="module", inputs=("out/k.o",), output="build/host/op/k.so", arch=real_arch, rpath_origin=("../lib",))
    (command,) = toolchain.link(request)
    assert hostcc.main(command[4:]) == 0
    dynamic = subprocess.run(["readelf", "-d", "build/host/op/k.so"], capture_output=True, text=True, check=True).stdout
    assert re.search(r"NEEDED.*\[libskrules_host\.so\]", dynamic)
    assert re.search(r"RUNPATH.*\[\$ORIGIN/\.\./lib\]", dynamic)
    (root / "build/host").rename(root / "moved")
    # In a process of its own: this one may have loaded the real library, and the loader goes by its name.
    called = "import ctypes, sys; print(ctypes.CDLL(sys.argv[1]).value())"
    done = subprocess.run([sys.executable, "-c", called, str(root / "moved/op/k.so")], capture_output=True, text=True, check=True)
    assert int(done.stdout) == 40 + 2 * 2201


def test_the_runtime_is_made_without_a_cache_too(tree, real_arch, monkeypatch):
    monkeypatch.setenv("SKRULES_CACHE", str(write(tree / "file", "")))
    (action,) = host().support((real_arch,), "build")
    action.run(tree / "ws")
    assert load(tree / "ws/build/lib/libskrules_host.so").runtimeAnswer() == 40


def test_the_key_knows_what_objects_depend_on(tree):
    before = dict(host().key())
    assert dict(host().key()) == before
    assert not any(str(tree) in value for value in before.values())
    write(tree / "toolchains/host/include/kernel_operator.h", "// another\n")
    assert changed(before) == {"toolkit headers"}
    table = tree / "toolchains/ascend.yaml"
    table.write_text("# a comment\n" + table.read_text())
    assert changed(before) == {"toolkit headers"}
    table.write_text(table.read_text().replace("ub: 196608", "ub: 1024"))
    assert changed(before) == {"toolkit headers", "toolkit archs"}
    write(tree / "toolchains/host/runtime/runtime.cpp", "// only the library depends on it\n")
    assert changed(before) == {"toolkit headers", "toolkit archs"}


def test_the_runtime_key_knows_the_runtime(tree, real_arch):
    (before,) = host().support((real_arch,), "build")
    write(tree / "toolchains/host/runtime/runtime.cpp", "// another\n")
    (after,) = host().support((real_arch,), "build")
    assert before.digest() != after.digest()


def changed(before: dict[str, str]) -> set[str]:
    return {name for name, value in host().key().items() if before[name] != value}


def host() -> HostToolchain:
    toolchain = select("host", os.environ)
    assert isinstance(toolchain, HostToolchain)
    return toolchain


@pytest.fixture(scope="module")
def real_arch():
    from skrules.arch_file import load_archs

    return load_archs().arch("dav-2201")


@pytest.mark.skipif(
    '"skrules_host/sk.h"' not in (resources.toolchains() / "host/include/kernel_operator.h").read_text(),
    reason="the device API does not include launches yet",
)
def test_a_kernel_on_the_real_headers_through_the_command_line(tmp_path, monkeypatch, real_arch):
    monkeypatch.setenv("SKRULES_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "k.asc", REAL_KERNEL)
    toolchain = host()
    for command in toolchain.compile_kernel(CompileKernel(source="k.asc", output="k.o", depfile="k.d", arch=real_arch)):
        done = subprocess.run(command, env=dict(toolchain.environment()), capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
    assert read_depfile(Path("k.d").read_text()) == ("k.asc",)
    symbols = subprocess.run(["nm", "-C", "k.o"], capture_output=True, text=True, check=True).stdout
    assert " T negate\n" in symbols


REAL_KERNEL = """\
#include "kernel_operator.h"

extern "C" __global__ __vector__ void negate(GM_ADDR x, GM_ADDR y, uint32_t count)
{
    AscendC::GlobalTensor<float> from, to;
    from.SetGlobalBuffer((__gm__ float *)x, count);
    to.SetGlobalBuffer((__gm__ float *)y, count);
    AscendC::TPipe pipe;
    AscendC::TQue<AscendC::TPosition::VECIN, 1> in;
    AscendC::TQue<AscendC::TPosition::VECOUT, 1> out;
    pipe.InitBuffer(in, 1, count * sizeof(float));
    pipe.InitBuffer(out, 1, count * sizeof(float));
    AscendC::LocalTensor<float> a = in.AllocTensor<float>();
    AscendC::DataCopy(a, from, count);
    in.EnQue(a);
    a = in.DeQue<float>();
    AscendC::LocalTensor<float> b = out.AllocTensor<float>();
    AscendC::Muls(b, a, -1.0f, count);
    out.EnQue(b);
    in.FreeTensor(a);
    b = out.DeQue<float>();
    AscendC::DataCopy(to, b, count);
    out.FreeTensor(b);
}

void run(uint32_t blocks, void *stream, uint8_t *x, uint8_t *y, uint32_t count)
{
    negate<<<blocks, nullptr, stream>>>(x, y, count);
}
"""
