"""The bench itself: a workspace that is always the same, what is read from output, and the arithmetic of the table."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.bench.actions import codegen_seconds, compiles, difference, executed, expected
from tests.bench.measure import Run
from tests.bench.report import Row, data, row, table
from tests.bench.workspace import make_workspace


def files(root):
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_the_same_number_gives_the_same_workspace(tmp_path):
    workspace = make_workspace(tmp_path / "a", 9)
    make_workspace(tmp_path / "b", 9)
    made = files(tmp_path / "a")
    assert made == files(tmp_path / "b")
    assert len(made) == 3 * 9 + 3
    assert workspace.sharing == ("op_0000", "op_0004", "op_0008")
    for name in workspace.operators:
        assert (b'"../common/shared.h"' in made[f"ops/{name}/{name}.asc"]) == (name in workspace.sharing)
        assert (b"//ops/common" in made[f"ops/{name}/SConscript"]) == (name in workspace.sharing)
    assert len({made[f"ops/{name}/{name}.asc"].replace(name.encode(), b"") for name in workspace.operators}) == 9


@pytest.mark.parametrize(
    ("edit", "changed"),
    [
        (lambda workspace, edition: workspace.edit_kernel("op_0001", edition), "ops/op_0001/op_0001.asc"),
        (lambda workspace, edition: workspace.edit_contract("op_0001", edition), "ops/op_0001/contract.yaml"),
        (lambda workspace, edition: workspace.edit_shared(edition), "ops/common/shared.h"),
    ],
)
def test_every_edition_is_another_text_of_one_file(tmp_path, edit, changed):
    workspace = make_workspace(tmp_path, 3)
    seen = [files(tmp_path)]
    for edition in (1, 2, 3):
        edit(workspace, edition)
        seen.append(files(tmp_path))
        assert {name for name in seen[0] if seen[-1][name] != seen[-2][name]} == {changed}
    assert len({made[changed] for made in seen}) == 4


def test_actions_are_read_from_what_scons_prints():
    output = (
        "toolchain: bisheng (/x/bisheng, BISHENG)\n"
        "[ADAPT            ] //ops/op_0001 op_0001.asc\n"
        "[ASC      dav-2201] //ops/op_0001 op_0001.asc\n"
        "[ASC      dav-3510] //ops/op_0001 op_0001.asc\n"
        "3 steps done\n"
    )
    assert executed(output) == expected(["op_0001"], ["op_0001"])
    assert executed("nothing to do\n") == Counter()


def test_what_is_done_twice_or_not_at_all_is_a_difference():
    wanted = expected(["a"], ["a"])
    assert difference(wanted, wanted) == ""
    assert difference(wanted + Counter(["ADAPT //ops/a"]), wanted) == "1 done without need: ADAPT //ops/a"
    assert difference(Counter(), wanted) == "3 not done: ADAPT //ops/a, ASC dav-2201 //ops/a, ASC dav-3510 //ops/a"
    assert "1 not done: ADAPT //ops/a; 1 done without need: ADAPT //ops/b" in difference(expected(["b"]), expected(["a"]))


def test_codegen_is_the_cpu_of_the_steps_that_ran():
    log = (
        '{"event":"start","steps":3}\n'
        '{"event":"step","mnemonic":"ADAPT","result":"run","cpu":0.25}\n'
        '{"event":"step","mnemonic":"ADAPT","result":"failed"}\n'
        '{"event":"step","mnemonic":"ASC","result":"run","cpu":0.5}\n'
        '{"event":"step","mnemonic":"ADAPT","result":"run","cpu":0.5}\n'
    )
    assert codegen_seconds(log) == 0.75


def test_compile_commands_of_peers_are_counted():
    assert compiles("[1/2] cc -x asc --npu-arch=dav-2201 -c\ncc -x asc --npu-arch=dav-3510 -c\ncopy a\n") == 2


def made(**more):
    values = {"operators": 100, "scenario": "kernel edit", "done": 3, "wanted": 3, "peers": {"scons": 4.0, "ninja": 0.05}}
    run = Run(status=0, cpu=0.5, wall=0.6, peak=40_000_000, output="")
    return row(**{"run": run, "problems": [], **values, **more})


def test_ratios_and_what_a_budget_is_about():
    found = made(compile_cpu=0.2, beyond_compile=True, budget=0.4)
    assert (found.ratio("scons"), found.ratio("ninja"), found.ratio("make")) == (0.125, pytest.approx(10), None)
    assert found.judged == pytest.approx(0.3)
    assert not found.over_budget
    assert made(compile_cpu=0.2, codegen_cpu=0.1, beyond_compile=True).judged == pytest.approx(0.3)
    assert made(compile_cpu=0.2, codegen_cpu=0.1, beyond_compile=True, beyond_codegen=True).judged == pytest.approx(0.2)
    assert made(compile_cpu=0.2, budget=0.4).over_budget
    assert not made(compile_cpu=0.2).over_budget
    assert data([found])[0]["ratios"] == {"to_scons": 0.125, "to_ninja": pytest.approx(10)}


def test_the_table_fits_its_width_and_shows_what_is_wrong():
    rows = [
        made(compile_cpu=0.2, beyond_compile=True, budget=0.4),
        made(scenario="null", budget=0.3, done=2500, wanted=0, problems=["x" * 300], peers={"scons": 1234.5, "ninja": 0.001}),
        Row(operators=100, scenario="query rdeps", skipped="no skrules query yet"),
    ]
    lines = table(rows, ["ninja is left out"])
    assert max(map(len, lines)) <= 120
    assert " ".join(lines[2].split()) == "kernel edit 0.50 - 0.60 4.00 0.05 0.12 10 3 40.0 0.30 <= 0.4 ok"
    assert "2500 not 0" in lines[3]
    assert lines[3].endswith("0.50 <= 0.3 OVER")
    assert "skipped: no skrules query yet" in lines[4]
    assert lines[5] == "peak memory         40.0 MB <= 50 MB ok"
    assert lines[-1].startswith("WRONG: null: xxx")
