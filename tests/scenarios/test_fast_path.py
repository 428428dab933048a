"""The run that looks at `stat` alone does exactly what the run does that looks at everything, whatever was edited."""

from __future__ import annotations

import pytest

from tests.data.moving_workspace import WAYS, MovingWorkspace, prepare

# What a plain build does not rest on: comparisons do.
_WITHOUT_EFFECT = {"cases", "reference", "package that is gone"}


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """Two workspaces in which the same was done and is done."""
    found = []
    for name in ("fast", "thorough"):
        workspace = MovingWorkspace(tmp_path_factory.mktemp(name))
        prepare(workspace)
        ran = workspace.scons()
        assert ran.status == 0, ran.output
        assert len(ran.steps) == 6
        found.append(workspace)
    return found


@pytest.mark.parametrize("way", WAYS)
def test_both_ways_do_the_same(pair, way):
    fast, thorough = pair
    assert fast.scons().steps == []
    assert "toolchain: bisheng" in fast.scons().output
    for workspace in pair:
        WAYS[way](workspace)
    quick, slow = fast.scons(), thorough.scons("--no-fast-path")
    assert (quick.status, slow.status) == (0, 0), quick.output
    assert quick.steps == slow.steps
    assert bool(slow.steps) == (way not in _WITHOUT_EFFECT)
    assert fast.scons().steps == []
    assert fast.scons("--no-fast-path").steps == []


def test_the_fast_path_is_one(pair):
    """A run that imports no rules has looked at nothing but `stat`."""
    fast, _ = pair
    fast.scons()
    (fast.skrules / "skrules/rules/opening.py").rename(fast.skrules / "skrules/rules/opening.py.away")
    try:
        # A folder of skrules holds other names now: that must be noticed, and then the rules are needed.
        assert fast.scons().status != 0
    finally:
        (fast.skrules / "skrules/rules/opening.py.away").rename(fast.skrules / "skrules/rules/opening.py")
    assert fast.scons().steps == []
