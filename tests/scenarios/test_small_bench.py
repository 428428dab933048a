"""The bench runs: with two operators, every tool once. Leave it out with -m "not bench"."""

from __future__ import annotations

import json
import shutil

import pytest

from skrules.binding.detect import find_torch
from tests.bench.__main__ import main
from tests.bench.scenarios import BUILDS

pytestmark = [
    pytest.mark.bench,
    pytest.mark.skipif(find_torch() is not None, reason="the bench needs a Python without torch"),
    pytest.mark.skipif(not (shutil.which("cc") or shutil.which("gcc")), reason="the bench needs a C compiler"),
]


def test_a_small_bench_runs_and_every_count_is_right(tmp_path, capsys):
    report = tmp_path / "bench.json"
    only = [word for scenario in BUILDS for word in ("--only", scenario.name)]
    status = main(["--ops", "2", "--rounds", "1", "--folder", str(tmp_path / "bench"), "--json", str(report), *only])
    output = capsys.readouterr().out
    assert status == 0, output
    rows = {row["scenario"]: row for row in json.loads(report.read_text())}
    assert list(rows) == [scenario.name for scenario in BUILDS]
    counts = {name: row["done"] for name, row in rows.items()}
    assert (counts["cold"], counts["null"], counts["kernel edit"], counts["contract edit"]) == (6, 0, 3, 1)
    assert rows["kernel edit"]["peers"]["scons"] > 0
