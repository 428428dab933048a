"""What people do all day: type in a subfolder, move headers about, remove an operator, name folders as they like."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys

import pytest


def scons_in(workspace, folder, *words):
    """Run scons where somebody stands in `folder` of the workspace."""
    done = subprocess.run(
        [sys.executable, "-m", "SCons", "-Q", *words],
        cwd=workspace.root / folder,
        env=workspace.environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    return done.returncode, done.stdout + done.stderr


def objects(workspace):
    return sorted(path.parent.name for path in (workspace.root / "build").rglob("*.o"))


@pytest.mark.parametrize(
    ("folder", "words", "built"),
    [
        pytest.param("ops/scale", ("-u",), ["scale"], id="its-package"),
        pytest.param("ops", ("-u", "shift"), ["shift"], id="a-label-from-there"),
        pytest.param("ops/scale", ("-u", "//ops/shift"), ["shift"], id="a-whole-label"),
        pytest.param("ops/scale", ("-D",), ["scale", "shift"], id="everything"),
    ],
)
def test_scons_up_from_a_subfolder(bisheng_workspace, folder, words, built):
    status, output = scons_in(bisheng_workspace, folder, *words, "ARCH=dav-2201")
    assert status == 0, output
    assert objects(bisheng_workspace) == built


@pytest.mark.parametrize("name", ["two words", "it's", 'quo"te', "d$ollar", "häuser 漢", "a#b:c"])
def test_a_workspace_anywhere(bisheng_workspace, name):
    bisheng_workspace.root = bisheng_workspace.root.rename(bisheng_workspace.root.with_name(name))
    words = ("ops/scale", "ARCH=dav-2201")
    assert bisheng_workspace.scons(*words).status == 0
    bisheng_workspace.edit("ops/common/part.h", "#pragma once", "#pragma once\n// edited")
    assert bisheng_workspace.scons(*words).actions == ["ADAPT //ops/scale", "ASC dav-2201 //ops/scale"]


def test_a_header_that_is_a_link_is_followed(bisheng_workspace, tmp_path):
    words = ("ops/scale", "ARCH=dav-2201")
    header, outside = bisheng_workspace.root / "ops/common/part.h", tmp_path / "part.h"
    header.rename(outside)
    header.symlink_to(outside)
    assert bisheng_workspace.scons(*words).status == 0
    outside.write_text(outside.read_text() + "// edited\n")
    assert "ASC dav-2201 //ops/scale" in bisheng_workspace.scons(*words).actions


def test_a_header_that_shadows_another_is_seen(bisheng_workspace):
    words = ("ops/scale", "ARCH=dav-2201")
    bisheng_workspace.edit("ops/scale/scale.asc", "../common/part.h", "part.h")
    bisheng_workspace.edit("ops/scale/SConscript", 'name="scale",', 'name="scale",\n    options=["-Iops/common"],')
    assert bisheng_workspace.scons(*words).status == 0
    nearer = bisheng_workspace.root / "ops/scale/part.h"
    nearer.write_text((bisheng_workspace.root / "ops/common/part.h").read_text() + "// nearer\n")
    assert "ASC dav-2201 //ops/scale" in bisheng_workspace.scons(*words).actions
    assert bisheng_workspace.scons(*words).actions == []
    nearer.unlink()
    assert "ASC dav-2201 //ops/scale" in bisheng_workspace.scons(*words).actions


def test_clean_removes_what_nobody_declares_any_more(bisheng_workspace):
    assert bisheng_workspace.scons("ARCH=dav-2201").status == 0
    (bisheng_workspace.root / "ops/shift/SConscript").unlink()
    assert bisheng_workspace.scons("-c", "ops/scale").status == 0
    assert objects(bisheng_workspace) == ["shift"]
    assert bisheng_workspace.scons("-c").status == 0
    assert not (bisheng_workspace.root / "build/bisheng").exists()


def test_a_dry_run_makes_no_folder_and_reports_no_results(bisheng_workspace):
    before = sorted(bisheng_workspace.root.rglob("*"))
    run = bisheng_workspace.scons("-n", "compare", "ops/scale")
    assert run.status == 0
    assert "NO STATUS" not in run.output
    assert sorted(bisheng_workspace.root.rglob("*")) == before


@pytest.mark.parametrize(
    ("text", "part"),
    [
        pytest.param("exit()", "a declaration must not exit", id="exit"),
        pytest.param('operator(name="scale", srcs=["scale.asc"], archs=[])', "archs is empty", id="no-arch"),
        pytest.param('operator(name="scale", srcs=["scale.asc"], archs=["dav-1"])', "unknown arch 'dav-1'", id="unknown-arch"),
    ],
)
def test_a_declaration_that_says_nothing_useful_is_an_error_with_its_place(bisheng_workspace, text, part):
    (bisheng_workspace.root / "ops/scale/SConscript").write_text(text)
    run = bisheng_workspace.scons()
    assert run.status != 0
    assert f"error: ops/scale/SConscript:1: {part}" in run.output
    assert run.actions == []


@pytest.mark.parametrize(
    "words", [("BUILD=ops",), ("BUILD=SConstruct/x",), ("BUILD=/tmp/x",), ("ARCH=dav-2201", "ARCH=dav-3510")]
)
def test_requests_that_cannot_be_meant(bisheng_workspace, words):
    run = bisheng_workspace.scons(*words)
    assert run.status == 2
    assert run.output.startswith("error: ")
    assert "Traceback" not in run.output and "File " not in run.output


def test_a_result_that_cannot_be_written_says_which(bisheng_workspace):
    folder = bisheng_workspace.root / "build/bisheng/gen/ops/scale/scale.asc"
    folder.mkdir(parents=True)
    run = bisheng_workspace.scons("ops/scale", "ARCH=dav-2201")
    assert run.status != 0
    assert "gen/ops/scale/scale.asc" in run.output
    assert "Traceback" not in run.output


@pytest.mark.parametrize("words", [(), ("-k",)])
def test_a_failed_verdict_of_an_earlier_run_is_not_told_again(bisheng_workspace, words):
    old = bisheng_workspace.root / "build/bisheng/compare/dav-2201/ops/scale/verdict.failed.json"
    old.parent.mkdir(parents=True)
    old.write_text('{"status": "failed", "summary": "of yesterday"}')
    bisheng_workspace.edit("ops/scale/contract.yaml", "outputs: [y]", "outputs: []")
    run = bisheng_workspace.scons("compare", "ops/scale", "ARCH=dav-2201", *words)
    assert "NO STATUS" in run.output
    assert "of yesterday" not in run.output


def test_a_header_that_only_has_include_asks_for(bisheng_workspace):
    words = ("ops/scale", "ARCH=dav-2201")
    asked = '#if __has_include("fast.h")\n#include "fast.h"\n#endif\n#include "kernel_operator.h"'
    bisheng_workspace.edit("ops/scale/scale.asc", '#include "kernel_operator.h"', asked)
    assert bisheng_workspace.scons(*words).status == 0
    assert bisheng_workspace.scons(*words).actions == []
    both = ["ADAPT //ops/scale", "ASC dav-2201 //ops/scale"]
    # What is there now, and a file that takes the name of a header of the toolkit.
    for name in ("fast.h", "kernel_operator.h"):
        header = bisheng_workspace.root / "ops/scale" / name
        header.write_text("// here\n")
        assert bisheng_workspace.scons(*words).actions == both
        assert bisheng_workspace.scons(*words).actions == []
        header.unlink()
        assert bisheng_workspace.scons("--no-fast-path", *words).actions == both


def test_a_file_is_built_and_cleaned_alone(bisheng_workspace):
    results = bisheng_workspace.root / "build/bisheng"
    assert bisheng_workspace.scons().status == 0
    file = "build/bisheng/obj/dav-2201/ops/scale/scale.o"
    assert bisheng_workspace.scons(file).actions == []
    bisheng_workspace.edit("ops/scale/scale.asc", "uint32_t length) {", "uint32_t length) {\n    // edited")
    # The manifest says which operator is to be looked at, not that all of it was asked for.
    assert bisheng_workspace.scons(file).actions == ["ADAPT //ops/scale", "ASC dav-2201 //ops/scale"]
    assert bisheng_workspace.scons("-c", file).status == 0
    left = sorted(str(path.relative_to(results)) for path in results.glob("obj/*/ops/*/*.o"))
    assert left == [
        f"obj/{place}.o" for place in ("dav-2201/ops/shift/shift", "dav-3510/ops/scale/scale", "dav-3510/ops/shift/shift")
    ]
    mixed = bisheng_workspace.scons(file, "compare")
    assert (mixed.status, mixed.actions) == (2, [])
    assert f"'{file}' is a file, and 'compare' is none" in mixed.output


@pytest.mark.parametrize("name", ["obj/dav-2201/ops/scale/scale.o", "gen/ops/scale/descriptor.cpp"])
def test_a_pipe_in_the_place_of_a_result_is_not_waited_for(bisheng_workspace, name):
    words = ("ops/scale", "ARCH=dav-2201")
    assert bisheng_workspace.scons(*words).status == 0
    place = bisheng_workspace.root / "build/bisheng" / name
    place.unlink()
    os.mkfifo(place)
    run = bisheng_workspace.scons(*words)
    assert (run.status, len(run.actions)) == (0, 1)
    assert place.is_file()


def test_nobody_need_listen(bisheng_workspace):
    command = shlex.join([sys.executable, "-m", "SCons", "-Q", "ARCH=dav-2201"])
    run = subprocess.run(
        ["sh", "-c", f"exec {command} >&-"],
        cwd=bisheng_workspace.root,
        env=bisheng_workspace.environment,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        timeout=100,
    )
    assert (run.returncode, run.stderr) == (0, "")
    assert bisheng_workspace.scons("ARCH=dav-2201").actions == []
