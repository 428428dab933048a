"""A short run of the randomised test: a few rounds of edits, kills, damage and concurrent builds."""

from __future__ import annotations

import shutil

import pytest

from skrules.binding.detect import find_torch
from tests.rounds.rounds import Rounds

pytestmark = [
    pytest.mark.skipif(find_torch() is not None, reason="modules would be built, which takes long"),
    pytest.mark.skipif(not (shutil.which("cc") or shutil.which("gcc")), reason="a C compiler stands in for bisheng"),
]


def test_disturbed_builds_end_as_clean_ones_do(tmp_path):
    rounds = Rounds(tmp_path / "rounds", seed=1)
    for number in range(1, 6):
        done = list(rounds.run(number))
        assert not [line for line in done if line.startswith("WRONG")], "\n".join(done)


def test_a_wrong_output_would_be_seen(tmp_path):
    rounds = Rounds(tmp_path / "rounds", 0)
    assert not list(rounds.check(1))
    output = tmp_path / "rounds/one/build/bisheng/obj/dav-2201/ops/op_0000/op_0000.o"
    output.write_bytes(output.read_bytes() + b"stale")
    assert rounds.compare() == ["build/bisheng/obj/dav-2201/ops/op_0000/op_0000.o is not what a clean build makes"]
    assert not list(rounds.check(2))
