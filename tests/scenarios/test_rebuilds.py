"""Exact rebuilds: after each edit, the list of actions is asserted, no more and no less.

A stand-in `bisheng` keeps these quick; the graph is the same for every toolchain.
"""

from __future__ import annotations

import os
import shutil
import sys

import pytest

from skrules import resources
from tests.data import bisheng_stand_in

ARCHS = ("dav-2201", "dav-3510")


def adapt(*operators):
    return [f"ADAPT //ops/{name}" for name in operators]


def compiles(*operators, archs=ARCHS):
    return [f"ASC {arch} //ops/{name}" for name in operators for arch in archs]


@pytest.fixture
def built(bisheng_workspace):
    run = bisheng_workspace.scons()
    assert run.status == 0, run.output
    assert run.actions == sorted(adapt("scale", "shift") + compiles("scale", "shift"))
    return bisheng_workspace


def test_nothing_changed(built):
    run = built.scons()
    assert (run.status, run.actions) == (0, [])


def test_a_touched_file_is_no_change(built):
    for path in (built.root / "ops").rglob("*"):
        os.utime(path, (2_000_000_000, 2_000_000_000))
    assert built.scons().actions == []


def test_a_kernel_edit_compiles_that_kernel_for_its_archs(built):
    built.edit("ops/scale/scale.asc", "float factor, uint32_t length) {", "float factor, uint32_t length) {\n    // edited")
    assert built.scons().actions == sorted(adapt("scale") + compiles("scale"))
    assert built.scons().actions == []


def test_a_contract_edit_in_meaning_changes_the_table_only(built):
    built.edit("ops/scale/contract.yaml", "block_dim: 4", "block_dim: 2")
    before = (built.root / "build/bisheng/gen/ops/scale/descriptor.cpp").read_text()
    assert built.scons().actions == adapt("scale")
    assert (built.root / "build/bisheng/gen/ops/scale/descriptor.cpp").read_text() != before


def test_a_contract_edit_in_what_the_kernel_becomes_compiles_it(built):
    built.edit("ops/scale/contract.yaml", "outputs: [y]", "outputs: [y]\n    sk: {num_splits: 2}")
    assert built.scons().actions == sorted(adapt("scale") + compiles("scale"))


def test_compile_options_of_the_contract_compile_the_kernel(built):
    built.edit("ops/scale/contract.yaml", "outputs: [y]", "outputs: [y]\n    compile: {defines: [FAST=1]}")
    assert built.scons().actions == sorted(adapt("scale") + compiles("scale"))


def test_a_comment_in_a_contract_changes_nothing_else(built):
    built.edit("ops/scale/contract.yaml", "schema_version: 1", "# a comment\nschema_version: 1")
    assert built.scons().actions == adapt("scale")
    assert built.scons().actions == []


def test_a_shared_header_reads_and_compiles_all_that_include_it(built):
    # Codegen reads headers too: what a kernel calls may stand there.
    built.edit("ops/common/part.h", "#pragma once", "#pragma once\n// edited")
    assert built.scons().actions == sorted(adapt("scale", "shift") + compiles("scale", "shift"))
    assert built.scons().actions == []


def test_a_header_that_is_no_longer_included_is_no_longer_a_dependency(built):
    built.edit(
        "ops/scale/scale.asc",
        '#include "../common/part.h"',
        "__aicore__ inline uint32_t PartOf(uint32_t, uint32_t, uint32_t, uint32_t);",
    )
    assert built.scons().actions == sorted(adapt("scale") + compiles("scale"))
    built.edit("ops/common/part.h", "#pragma once", "#pragma once\n// edited")
    assert built.scons().actions == sorted(adapt("shift") + compiles("shift"))


def test_an_added_arch_compiles_for_that_arch(bisheng_workspace):
    for name in ("scale", "shift"):
        bisheng_workspace.edit(f"ops/{name}/SConscript", '["dav-2201", "dav-3510"]', '["dav-2201"]')
    assert bisheng_workspace.scons().actions == sorted(adapt("scale", "shift") + compiles("scale", "shift", archs=["dav-2201"]))
    bisheng_workspace.edit("ops/scale/SConscript", '["dav-2201"]', '["dav-2201", "dav-3510"]')
    # The rules are asked again: what products support differs.
    assert bisheng_workspace.scons().actions == sorted(adapt("scale") + compiles("scale", archs=["dav-3510"]))


def test_a_compiler_flag_compiles_its_operator(built):
    # Codegen runs too: options say where headers are, and it reads headers.
    built.edit("ops/scale/SConscript", 'name="scale",', 'name="scale",\n    options=["-g"],')
    assert built.scons().actions == sorted(adapt("scale") + compiles("scale"))


def test_a_header_found_through_an_include_folder_is_read_and_compiled(built):
    built.edit("ops/scale/scale.asc", '"../common/part.h"', '"part.h"')
    built.edit("ops/scale/SConscript", 'name="scale",', 'name="scale",\n    options=["-Iops/common"],')
    assert built.scons().actions == sorted(adapt("scale") + compiles("scale"))
    built.edit("ops/common/part.h", "#pragma once", "#pragma once\n// edited")
    assert built.scons().actions == sorted(adapt("scale", "shift") + compiles("scale", "shift"))


def test_one_label_builds_that_operator_only(bisheng_workspace):
    run = bisheng_workspace.scons("ops/scale", "ARCH=dav-2201")
    assert run.actions == sorted(adapt("scale") + compiles("scale", archs=["dav-2201"]))
    assert bisheng_workspace.scons("//ops/scale", "ARCH=dav-2201").actions == []


def test_compare_compiles_its_program_once_and_links_it_for_each_operator(bisheng_workspace):
    # The stand-in's programs do not run, so the verdicts fail; what is linked shows all the same.
    run = bisheng_workspace.scons("compare", "-k", "ARCH=dav-2201")
    assert run.status != 0
    assert "ASC dav-2201 //skrules:compare" in run.actions
    assert [line for line in run.actions if line.startswith("LINK")] == ["LINK dav-2201 //ops/scale", "LINK dav-2201 //ops/shift"]


@pytest.fixture
def own_skrules(bisheng_workspace, tmp_path):
    """A copy of skrules itself, so that its generators can be edited."""
    copy = tmp_path / "skrules-source"
    shutil.copytree(resources.package(), copy / "skrules", ignore=shutil.ignore_patterns("__pycache__", "_data"))
    shutil.copytree(resources.templates(), copy / "templates")
    shutil.copytree(resources.toolchains(), copy / "toolchains")
    bisheng_workspace.environment["PYTHONPATH"] = str(copy)
    bisheng_workspace.generator = copy
    run = bisheng_workspace.scons()
    assert run.status == 0, run.output
    return bisheng_workspace


def test_generator_code_runs_codegen_and_what_comes_out_differently(own_skrules):
    path = own_skrules.generator / "skrules/adapt/bind.py"
    path.write_text(path.read_text() + "\n# edited\n")
    assert own_skrules.scons().actions == adapt("scale", "shift")


def test_a_template_change_compiles_what_it_changes(own_skrules):
    path = own_skrules.generator / "templates/adapt/binding.j2"
    path.write_text(path.read_text().replace("do not edit", "do not edit by hand"))
    assert own_skrules.scons().actions == sorted(adapt("scale", "shift") + compiles("scale", "shift"))


def test_another_compiler_compiles_everything(built):
    built.bisheng.write_text(built.bisheng.read_text() + "\n# another version\n")
    assert built.scons().actions == sorted(compiles("scale", "shift"))


def test_clean_removes_all_results(built):
    assert built.scons("-c").status == 0
    left = [path.name for path in (built.root / "build").rglob("*") if path.is_file()]
    assert left == ["lock"]


def test_the_documented_command_lines_reach_bisheng(built):
    commands = bisheng_stand_in.read_log(built.bisheng)
    compiled = [argv for argv in commands if "-c" in argv]
    assert len(compiled) == 4
    for argv in compiled:
        assert argv[argv.index("-x") + 1] == "asc"
        assert sum(word.startswith("--npu-arch=dav-") for word in argv) == 1
    assert not list((built.root / "build").rglob("*skrules_host*"))
    assert sys.executable not in {word for argv in commands for word in argv[1:]}
