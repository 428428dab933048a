"""Twenty operators of which three fail: the others are built, the three are told, and mending builds what was mended."""

from __future__ import annotations

import shutil

import pytest

BROKEN = ("op_03", "op_11", "op_17")


@pytest.fixture
def twenty(bisheng_workspace):
    root = bisheng_workspace.root
    model = root / "ops/shift"
    for number in range(20):
        name = f"op_{number:02}"
        folder = root / "ops" / name
        folder.mkdir()
        for path in model.iterdir():
            text = path.read_text().replace("shift", name)
            (folder / path.name.replace("shift", name)).write_text(text)
    shutil.rmtree(model)
    shutil.rmtree(root / "ops/scale")
    return bisheng_workspace


def built(workspace):
    return sorted(path.stem for path in workspace.root.glob("build/bisheng/obj/dav-2201/ops/*/*.o"))


def test_seventeen_are_built_three_are_told_and_mending_builds_those(twenty):
    for name in BROKEN:
        twenty.edit(f"ops/{name}/{name}.asc", "#include", "#error stand-in\n#include")
    run = twenty.scons("-k", "ARCH=dav-2201")
    assert run.status == 1, run.output
    assert built(twenty) == [name for name in (f"op_{number:02}" for number in range(20)) if name not in BROKEN]
    told = run.output.partition("failed: 3 steps\n")[2].splitlines()[:3]
    assert sorted(line.split()[0] for line in told) == [f"//ops/{name}" for name in BROKEN]
    assert all("#error stand-in" in line for line in told), told
    assert len([action for action in run.actions if action.startswith("ASC")]) == 20

    for name in BROKEN:
        twenty.edit(f"ops/{name}/{name}.asc", "#error stand-in\n#include", "#include")
    mended = twenty.scons("-k", "ARCH=dav-2201")
    assert mended.status == 0, mended.output
    assert mended.actions == sorted(f"{step} //ops/{name}" for name in BROKEN for step in ("ADAPT", "ASC dav-2201"))
    assert len(built(twenty)) == 20
    assert twenty.scons("ARCH=dav-2201").actions == []


def test_an_operator_with_a_wrong_contract_stops_nobody_and_its_status_is_the_graver(twenty):
    twenty.edit("ops/op_03/op_03.asc", "#include", "#error stand-in\n#include")
    (twenty.root / "ops/op_17/contract.yaml").write_text("entries: {op_17: {inputs: [nothing]}}\n")
    run = twenty.scons("-k", "ARCH=dav-2201")
    assert run.status == 2, run.output
    assert len(built(twenty)) == 18
    assert "//ops/op_17 (ADAPT)  error: ops/op_17/contract.yaml:1:" in run.output
