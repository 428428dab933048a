"""An operator made from each template passes its comparison at once, plain and as SuperKernel, on both archs."""

from __future__ import annotations

import shutil

import pytest

from skrules.cli import main
from skrules.scaffold.template import template_paths


@pytest.fixture
def new_workspace(workspace):
    """A workspace without operators."""
    shutil.rmtree(workspace.root / "ops")
    (workspace.root / "ops").mkdir()
    return workspace


def test_an_operator_of_every_template_passes_at_once(new_workspace):
    for template in template_paths():
        words = ["--template", template, "--package", str(new_workspace.root / "ops")]
        assert main(["new", "op", f"my_{template}", *words]) == 0
    run = new_workspace.scons("-k", "compare")
    assert run.status == 0, run.output
    for template in template_paths():
        assert run.actions.count(f"COMPARE dav-2201 //ops/my_{template}") == 1
        assert run.actions.count(f"COMPARE dav-3510 //ops/my_{template}") == 1
    assert f"{2 * len(template_paths())} results: {2 * len(template_paths())} passed" in run.output
