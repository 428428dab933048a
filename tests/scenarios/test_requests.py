"""What people type, and what they are told when it cannot be done."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("words", "status", "part"),
    [
        (["ops/scal"], 2, "did you mean '//ops/scale'?"),
        (["compar"], 2, "did you mean 'compare'?"),
        (["ARHC=dav-2201"], 2, "did you mean 'ARCH'?"),
        (["ARCH=dav-9999"], 4, "dav-2201"),
        (["TOOLCHAIN=gcc"], 2, "auto, host, bisheng"),
        (["build/nothing"], 2, "nothing builds 'build/nothing'"),
        (["../outside"], 2, "is not a label"),
    ],
)
def test_wrong_requests(bisheng_workspace, words, status, part):
    run = bisheng_workspace.scons(*words)
    assert run.status == status, run.output
    assert part in run.output
    assert run.actions == []
    assert "Traceback" not in run.output


def test_an_arch_that_an_operator_does_not_declare_is_reported(bisheng_workspace):
    bisheng_workspace.edit("ops/scale/SConscript", '["dav-2201", "dav-3510"]', '["dav-2201"]')
    run = bisheng_workspace.scons("ARCH=dav-3510")
    assert run.status == 0
    assert "//ops/scale is not built for dav-3510: it declares dav-2201" in run.output
    assert run.actions == ["ADAPT //ops/shift", "ASC dav-3510 //ops/shift"]
    run = bisheng_workspace.scons("ops/scale", "ARCH=dav-3510")
    assert run.status == 2
    assert "no requested operator declares dav-3510" in run.output


def test_a_failing_operator_stops_nobody_else(bisheng_workspace):
    bisheng_workspace.edit("ops/scale/contract.yaml", "outputs: [y]", "outputs: []")
    run = bisheng_workspace.scons("-k")
    assert run.status == 2
    assert run.actions.count("ASC dav-2201 //ops/shift") == 1
    assert "ASC dav-2201 //ops/scale" not in run.actions
    assert "failed: 1 step\n  //ops/scale (ADAPT)  error: ops/scale/contract.yaml:3:3: " in run.output
    assert not list((bisheng_workspace.root / "build/bisheng/gen/ops/scale").glob("*"))


def test_needs_human_has_its_exit_status_and_says_what_to_write(bisheng_workspace):
    bisheng_workspace.edit("ops/scale/SConscript", 'contract="contract.yaml",', "")
    run = bisheng_workspace.scons()
    assert run.status == 5
    assert "codegen.pybind-return-tensor-unresolved" in run.output
    assert "ops/scale/scale.asc:6" in run.output
    # The file is there; what is missing is the attribute that names it.
    assert "name it in ops/scale/SConscript:1: contract='contract.yaml'" in run.output


def test_help_lists_verbs_and_variables(bisheng_workspace):
    run = bisheng_workspace.scons("-h")
    assert run.status == 0
    for word in ("compare", "ARCH=", "TOOLCHAIN=auto"):
        assert word in run.output


def test_a_dry_run_shows_the_actions_and_does_nothing(bisheng_workspace):
    run = bisheng_workspace.scons("-n", "ops/scale", "ARCH=dav-2201")
    assert run.actions == ["ADAPT //ops/scale", "ASC dav-2201 //ops/scale"]
    assert not (bisheng_workspace.root / "build/bisheng").exists()
