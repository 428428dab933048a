"""Kernels under an `#if`: their launchers follow them, and an entry without a kernel says why."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from test_binding_launcher import LANGUAGE, entry, parameter

from skrules.adapt.splice import splice
from skrules.binding import templates
from skrules.binding.launcher import render_launchers
from skrules.binding.presence import absence_of, marker_of, presence_marks
from skrules.contract.entry import Entry
from skrules.source.kernels import read
from skrules.source.model import SourceUnit

MAIN = """
#include <cstdio>
int main() { std::printf("%s\\n", skrules_code_k.absent ? skrules_code_k.absent : "here"); }
"""


def unit_of(text: str) -> SourceUnit:
    return read(text.encode(), "k.asc")


def entry_of(unit: SourceUnit, index: int = 0) -> Entry:
    kernel = unit.kernels[index]
    return replace(entry(kernel.name, parameter("x", "GM_ADDR")), kernel=kernel, bind_target=kernel.qualified_name)


def marked(unit: SourceUnit, *entries: Entry) -> str:
    return splice(unit, presence_marks(unit, entries), generated=None)


def said(tmp_path: Path, text: str, *options: str) -> str:
    """Compile a file with its marks and launchers, run it, and return what it says of kernel `k`."""
    if shutil.which("g++") is None:
        pytest.skip("no g++")
    unit = unit_of(text)
    one = entry_of(unit)
    launchers = render_launchers([one]).replace("<<<blocks, nullptr, stream>>>", "")
    source = "#define __global__\n#define __vector__\n" + LANGUAGE + marked(unit, one) + launchers + MAIN
    path = tmp_path / "k.cpp"
    path.write_text(source)
    program = tmp_path / "k"
    command = [
        "g++",
        "-std=c++17",
        "-Wall",
        "-Wextra",
        "-Wno-unused-function",
        "-Wno-unused-parameter",
        "-Werror",
        f"-I{templates.directory()}",
    ]
    done = subprocess.run([*command, *options, str(path), "-o", str(program)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout.strip()


def test_a_kernel_under_no_condition_has_no_marker() -> None:
    unit = unit_of("__global__ __vector__ void k(GM_ADDR x) {}\n")
    assert marker_of(entry_of(unit)) == ""
    assert presence_marks(unit, [entry_of(unit)]) == ()
    assert "#ifndef" not in render_launchers([entry_of(unit)])


UNDER = "#ifdef FAST\n__global__ __vector__ void k(GM_ADDR x) { (void)x; }\n#endif\n"


def test_a_marker_stands_behind_its_kernel() -> None:
    unit = unit_of(UNDER)
    assert marked(unit, entry_of(unit)) == UNDER.replace("#endif", "\n#define SKRULES_KERNEL_k 1\n#endif")


def test_an_entry_is_there_or_says_why_not(tmp_path: Path) -> None:
    assert said(tmp_path, UNDER, "-DFAST") == "here"
    assert said(tmp_path, UNDER) == "its kernel stands under '#ifdef FAST', which does not hold in this build"


TWINS = """#if defined(FAST)
__global__ __vector__ void k(GM_ADDR x) { (void)x; }
#elif defined(SLOW)
__global__ __vector__ void k(GM_ADDR x) { *x = 1; }
#endif
"""


@pytest.mark.parametrize(("options", "state"), [(("-DFAST",), "here"), (("-DSLOW",), "here"), ((), "its kernel stands under")])
def test_each_twin_marks_its_branch(tmp_path: Path, options: tuple[str, ...], state: str) -> None:
    assert said(tmp_path, TWINS, *options).startswith(state)


def test_a_guard_that_is_defined_by_the_end_of_the_file_holds(tmp_path: Path) -> None:
    guarded = "#ifndef GUARD\n#define GUARD\n__global__ __vector__ void k(GM_ADDR x) { (void)x; }  // the end\n#endif"
    assert said(tmp_path, guarded) == "here"


def test_a_kernel_that_ends_inside_a_line(tmp_path: Path) -> None:
    assert said(tmp_path, "#if 1\n__global__ __vector__ void k(GM_ADDR x) { (void)x; } void other() {}\n#endif\n") == "here"


def test_a_kernel_of_a_macro_is_marked_behind_its_use(tmp_path: Path) -> None:
    text = "#define KERNEL(name) __global__ __vector__ void name(GM_ADDR x) { (void)x; }\n#ifdef FAST\nKERNEL(k)\n#endif\n"
    assert said(tmp_path, text, "-DFAST") == "here"
    assert said(tmp_path, text) == "its kernel stands under '#ifdef FAST', which does not hold in this build"


def test_conditions_are_named_from_the_outside() -> None:
    unit = unit_of("#if A\n#ifdef B\n#else\n__global__ __vector__ void k(GM_ADDR x) {}\n#endif\n#endif\n")
    assert absence_of(entry_of(unit)) == (
        "its kernel stands under '#if A' and '#ifdef B / #else', which does not hold in this build"
    )


def test_a_type_that_goes_with_the_kernel_breaks_nothing(tmp_path: Path) -> None:
    text = UNDER.replace("__global__", "using Small = uint8_t;\n__global__", 1)
    unit = unit_of(text)
    one = replace(entry_of(unit), parameters=(parameter("x", "Small *"),))
    launchers = render_launchers([one]).replace("<<<blocks, nullptr, stream>>>", "")
    path = tmp_path / "k.cpp"
    path.write_text(LANGUAGE + marked(unit, one) + launchers)
    done = subprocess.run(
        ["g++", "-std=c++17", "-fsyntax-only", f"-I{templates.directory()}", str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
