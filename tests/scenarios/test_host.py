"""The host toolchain: exact lists of actions through to the verdict, and to the Python module where there is torch."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import pytest

COMPARE = ("compare", "ops/scale", "ARCH=dav-2201")
ADAPT = "ADAPT //ops/scale"
ASC, LINK, RUN = (f"{step} dav-2201 //ops/scale" for step in ("ASC", "LINK", "COMPARE"))

# An edit of a kernel that changes its object and not its result.
BARRIER = ("    out.EnQue(b);", "    AscendC::PipeBarrier<PIPE_ALL>();\n    out.EnQue(b);")


def test_a_verdict_is_cached_until_something_it_depends_on_changes(workspace, tmp_path):
    run = workspace.scons(*COMPARE)
    assert run.status == 0, run.output
    assert run.actions == sorted(["RUNTIME //toolchain:host", "ASC dav-2201 //skrules:compare", ADAPT, ASC, LINK, RUN])
    run = workspace.scons(*COMPARE)
    assert run.actions == []
    assert "(cached) PASSED" in run.output

    workspace.edit("ops/scale/contract.yaml", "schema_version: 1", "# a comment\nschema_version: 1")
    assert workspace.scons(*COMPARE).actions == [ADAPT]
    workspace.edit("ops/scale/contract.yaml", "block_dim: 4", "block_dim: 2")
    assert workspace.scons(*COMPARE).actions == sorted([ADAPT, LINK, RUN])
    workspace.edit("ops/scale/reference.py", '"""Numpy', '"""The numpy')
    assert workspace.scons(*COMPARE).actions == [RUN]
    workspace.edit("ops/scale/cases.yaml", "seed: 3", "seed: 4")
    assert workspace.scons(*COMPARE).actions == [RUN]
    # Another spelling of the same: the object comes out equal, and what follows is left alone.
    workspace.edit("ops/scale/scale.asc", "if (count == 0)", "if (count <= 0)")
    assert workspace.scons(*COMPARE).actions == sorted([ADAPT, ASC])
    workspace.edit("ops/scale/scale.asc", *BARRIER)
    assert workspace.scons(*COMPARE).actions == sorted([ADAPT, ASC, LINK, RUN])
    assert workspace.scons(*COMPARE).actions == []
    # Where temporary files lie changes nothing; what the emulation is asked to look for does.
    assert workspace.scons(*COMPARE, TMPDIR=str(tmp_path)).actions == []
    run = workspace.scons(*COMPARE, SKRULES_HOST_RACE="1")
    assert (run.status, run.actions) == (0, [RUN]), run.output


def test_a_race_is_found_when_it_is_looked_for(workspace):
    # The data is there by luck, since the emulation carries out each copy at once; on a device it may not be.
    workspace.edit("ops/scale/scale.asc", "    in.EnQue(a);\n    a = in.DeQue<float>();\n", "")
    assert workspace.scons(*COMPARE).status == 0
    run = workspace.scons(*COMPARE, SKRULES_HOST_RACE="1")
    assert run.status == 3
    assert "MTE2" in run.output and "no SetFlag/WaitFlag" in run.output


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="no torch in this environment: no Python module is built")
def test_modules_are_linked_again_only_for_what_changed(workspace):
    words = ("ops/scale", "ARCH=dav-2201")
    run = workspace.scons(*words)
    assert run.status == 0, run.output
    shared = ["BINDING //toolchain:binding", "PACKAGE //skrules:package", "RUNTIME //toolchain:host"]
    assert run.actions == sorted([*shared, ADAPT, ASC, LINK])
    assert workspace.scons(*words).actions == []
    workspace.edit("ops/scale/contract.yaml", "block_dim: 4", "block_dim: 2")
    assert workspace.scons(*words).actions == sorted([ADAPT, LINK])
    workspace.edit("ops/scale/scale.asc", *BARRIER)
    assert workspace.scons(*words).actions == sorted([ADAPT, ASC, LINK])
    script = """
import op_extension, skrules.hostnpu, torch
module = op_extension.load("scale", "dav-2201")
x, y = torch.arange(1024.0, device="npu"), torch.empty(1024, device="npu")
assert module.run_scale(x, y, 1.5, 1024) is y
assert torch.equal(y, x * 1.5)
print("computed")
"""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=workspace.root / "build/host", capture_output=True, text=True, check=False
    )
    assert done.stdout == "computed\n", done.stderr
