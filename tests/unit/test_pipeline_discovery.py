"""Which folders are assets, what their operators are, and how they lie in the workspace of a run."""

from __future__ import annotations

import json

import pytest

from skrules.errors import UsageError
from skrules.pipeline import mirror
from skrules.pipeline.build_config import BuildConfig, read_build_config
from skrules.pipeline.contracts import share_contract
from skrules.pipeline.discovery import LAYOUT_REQUIRED, discover
from skrules.pipeline.fixture import cases_of_fixture
from skrules.pipeline.operators import read_operators
from skrules.pipeline.units import duplicates, read_unit
from skrules.rules.workspace import load_workspace

KERNEL = '#include "kernel_operator.h"\n__global__ __vector__ void {}(GM_ADDR x, uint32_t n) {{ (void)x; }}\n'


def operator(root, name, kernel="", text=""):
    folder = root / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name.rpartition('/')[2]}.asc").write_text(text or KERNEL.format(kernel or name.rpartition("/")[2]))
    return folder


def found(root):
    return [path.relative_to(root).as_posix() for path in discover(root, root / "out").assets]


def read(*folders):
    return [each for folder in folders for each in read_operators(folder, folder / "out")]


def placed(root, operators, **given):
    settings = {"archs": ("dav-2201",), "contracts": {}, "cases": {}, "config": BuildConfig(), "leave_out": root / "out"}
    return mirror.plan(operators, **{**settings, **given})


def test_folders_with_kernels_are_assets_and_what_lies_in_them_is_theirs(tmp_path):
    operator(tmp_path, "a")
    operator(tmp_path, "group/b")
    operator(tmp_path, "a/inner")
    operator(tmp_path, "build/gone")
    operator(tmp_path, ".hidden/gone")
    (tmp_path / "group/README.md").write_text("two operators")
    assert found(tmp_path) == ["a", "group/b"]


def test_a_folder_of_op_kernel_is_the_asset_and_not_that(tmp_path):
    operator(tmp_path, "relu/op_kernel")
    assert found(tmp_path) == ["relu"]


def test_sources_without_kernels_are_told(tmp_path):
    operator(tmp_path, "host", text="int main() { return 0; }\n")
    discovered = discover(tmp_path, tmp_path / "out")
    assert not discovered.assets
    assert [(each.path.name, each.reason) for each in discovered.skipped] == [("host", LAYOUT_REQUIRED)]


def test_a_list_says_which(tmp_path):
    operator(tmp_path, "a")
    operator(tmp_path, "b")
    listed = {"default_include": ["b", "a"], "excluded": [{"path": "a", "reason": "old"}]}
    (tmp_path / "operator-assets.json").write_text(json.dumps(listed))
    discovered = discover(tmp_path, tmp_path / "out")
    assert [path.name for path in discovered.assets] == ["b"]
    assert [(each.path.name, each.reason) for each in discovered.skipped] == [("a", "old")]


@pytest.mark.parametrize(
    "document",
    [
        {"includes": ["a"]},
        {"include": "a"},
        {"include": ["../a"]},
        {"include": ["/a"]},
        {"include": ["nowhere"]},
        {"include": ["a"], "default_include": ["a"]},
        {"exclude": [{"reason": "x"}]},
        [],
    ],
)
def test_a_wrong_list_is_an_error(tmp_path, document):
    operator(tmp_path, "a")
    (tmp_path / "operator-assets.json").write_text(json.dumps(document))
    with pytest.raises(UsageError):
        discover(tmp_path, tmp_path / "out")


def test_an_sconscript_says_what_the_operator_is(tmp_path):
    folder = operator(tmp_path, "a")
    (folder / "other.asc").write_text(KERNEL.format("other"))
    (folder / "SConscript").write_text('operator(name="mine", srcs=["a.asc"], archs=["dav-2201"], defines=["X=1"])\n')
    (mine,) = read(folder)
    assert (mine.name, mine.sources, mine.archs, mine.defines) == ("mine", ("a.asc",), ("dav-2201",), ("X=1",))


def test_without_one_it_is_what_lies_there(tmp_path):
    folder = operator(tmp_path, "a-b")
    for name in ("contract.json", "cases.yaml", "reference.py"):
        (folder / name).write_text("")
    (mine,) = read(folder)
    assert (mine.name, mine.contract, mine.cases, mine.reference) == ("a_b", "contract.json", "cases.yaml", "reference.py")
    (folder / "contract.yaml").write_text("")
    with pytest.raises(UsageError, match="keep one"):
        read(folder)


def test_a_workspace_holds_what_includes_need_where_they_look_for_it(tmp_path):
    (tmp_path / "ops/common").mkdir(parents=True)
    (tmp_path / "ops/common/part.h").write_text("#pragma once\n")
    folder = operator(tmp_path / "ops", "a", text='#include "../common/part.h"\n' + KERNEL.format("a"))
    plan = placed(tmp_path, read(folder))
    assert sorted(plan.copies) == ["ops/a/a.asc", "ops/common/part.h"]
    assert [str(each.label) for each in plan.placed] == ["//ops/a"]
    root = tmp_path / "out"
    mirror.write(plan, root)
    (target,) = load_workspace(root, plan.packages).requested
    assert target.attributes == {"name": "a", "srcs": ("ops/a/a.asc",), "archs": ("dav-2201",)}


def test_writing_again_touches_nothing_and_removes_what_is_gone(tmp_path):
    folder = operator(tmp_path / "ops", "a")
    (folder / "old.h").write_text("")
    root = tmp_path / "out"
    mirror.write(placed(tmp_path, read(folder)), root)
    before = {path: path.stat().st_ctime_ns for path in root.rglob("*") if path.is_file()}
    (root / mirror.BUILD).mkdir()
    (root / mirror.BUILD / "kept").write_text("")
    (folder / "old.h").unlink()
    mirror.write(placed(tmp_path, read(folder)), root)
    after = {path: path.stat().st_ctime_ns for path in root.rglob("*") if path.is_file()}
    assert after.items() >= {path: time for path, time in before.items() if path.name != "old.h"}.items()
    assert root / "ops/a/old.h" not in after
    assert root / mirror.BUILD / "kept" in after


def test_a_build_config_is_part_of_the_workspace(tmp_path):
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc/far.h").write_text("")
    (tmp_path / "first.h").write_text("")
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"include_dirs": ["inc"], "force_includes": ["first.h"], "compile_definitions": ["-DX=1", "Y"]}))
    plan = placed(tmp_path, read(operator(tmp_path / "ops", "a")), config=read_build_config(path, ()))
    root = tmp_path / "out"
    mirror.write(plan, root)
    (target,) = load_workspace(root, plan.packages).requested
    assert target.strings("options") == ("-I.config/include/0", "-include", ".config/forced/all.h")
    assert target.strings("defines") == ("X=1", "Y")
    assert (root / ".config/include/0/far.h").is_file()
    assert (root / ".config/forced/all.h").read_text() == '#include "0/first.h"\n'
    assert ".config/include/0/far.h" in plan.placed[0].files


def test_a_folder_that_no_label_can_name_is_refused(tmp_path):
    with pytest.raises(UsageError, match="cannot be a package"):
        placed(tmp_path, read(operator(tmp_path / "my ops", "a"), operator(tmp_path / "ops", "b")))
    (alone,) = placed(tmp_path, read(operator(tmp_path / "my ops", "a"))).placed
    assert str(alone.label) == "//a"


def test_options_of_a_workspace_keep_their_meaning_or_are_refused(tmp_path):
    (tmp_path / "one/inc").mkdir(parents=True)
    (tmp_path / "one/SConstruct").write_text("")
    (tmp_path / "one/inc/far.h").write_text("")
    folder = operator(tmp_path / "one/ops", "a", text='#include "far.h"\n' + KERNEL.format("a"))
    (folder / "SConscript").write_text('operator(name="a", srcs=["a.asc"], archs=["dav-2201"], options=["-Iinc"])\n')
    assert sorted(placed(tmp_path, read(folder)).copies) == ["inc/far.h", "ops/a/a.asc"]
    with pytest.raises(UsageError, match="its own workspace"):
        placed(tmp_path, read(folder, operator(tmp_path / "two", "b")))


def test_kernels_of_one_folder_that_are_not_declared_are_not_built(tmp_path):
    folder = operator(tmp_path / "ops", "a")
    (folder / "other.asc").write_text(KERNEL.format("other"))
    (folder / "part.cpp").write_text("inline int part() { return 1; }\n")
    (folder / "SConscript").write_text('operator(name="a", srcs=["a.asc"], archs=["dav-2201"])\n')
    assert sorted(placed(tmp_path, read(folder)).copies) == ["ops/a/a.asc", "ops/a/part.cpp"]


def test_one_contract_is_divided_among_operators(tmp_path):
    operators = read(operator(tmp_path, "a"), operator(tmp_path, "b"))
    path = tmp_path / "io.yaml"
    path.write_text("schema_version: 1\nentries:\n  a: {outputs: [x]}\n  second: {outputs: [x], bind_target: b}\n")
    given = share_contract(path, operators, [["a"], ["b"]])
    assert {index: sorted(json.loads(data)["entries"]) for index, (_, data) in given.items()} == {0: ["a"], 1: ["second"]}
    assert share_contract(path, operators[:1], [["a", "b"]])[0] == ("io-contract.yaml", path.read_bytes())
    with pytest.raises(UsageError, match="of no kernel"):
        share_contract(path, operators, [["a"], ["c"]])


def test_names_that_two_assets_share_are_found(tmp_path):
    operators = read(operator(tmp_path, "a"), operator(tmp_path, "b", kernel="a"))
    units = [(each.folder.name, each, read_unit(each, None, "")) for each in operators]
    assert duplicates(units) == [{"entry": "a", "assets": ["a", "b"]}]
    assert not duplicates(units[:1])


def test_a_published_fixture_becomes_cases(tmp_path):
    folder = operator(tmp_path / "ops", "a")
    contract = b"schema_version: 1\nentries:\n  a: {outputs: [x], parameters: {x: {kind: tensor, dtype: float16}}}\n"
    (mine,) = read(folder)
    unit = read_unit(mine, contract, "contract.yaml")
    fixture = {
        "parameters": [{"name": "x", "bytes": 64, "fill": 0, "compare": True}, {"name": "n", "kind": "scalar", "value": 32}]
    }
    path = folder / "operator-sk-runtime-fixture.json"
    path.write_text(json.dumps(fixture))
    (case,) = json.loads(cases_of_fixture(path, unit.resolved))["cases"]
    assert case == {
        "name": "a",
        "entry": "a",
        "block_dim": 1,
        "tensors": {"x": {"shape": [32], "dtype": "float16", "initial": 0.0}},
        "scalars": {"n": 32},
    }
    plan = placed(tmp_path, [mine], cases={0: b"cases"})
    assert plan.texts["ops/a/cases.yaml"] == b"cases"
    assert plan.placed[0].operator.cases == "cases.yaml"
    fixture["parameters"][0]["fill"] = 255
    path.write_text(json.dumps(fixture))
    with pytest.raises(UsageError, match="no number in float16"):
        cases_of_fixture(path, unit.resolved)
    with pytest.raises(UsageError, match="one entry"):
        cases_of_fixture(path, ())


def test_files_of_one_folder_are_operators_of_one_package(tmp_path):
    folder = operator(tmp_path / "ops", "a", text='#include "own.h"\n' + KERNEL.format("a"))
    (folder / "b.asc").write_text(KERNEL.format("b"))
    (folder / "own.h").write_text("")
    (folder / "contract.yaml").write_text("of somebody")
    plan = placed(tmp_path, read(folder / "a.asc", folder / "b.asc"))
    assert [str(each.label) for each in plan.placed] == ["//ops/a", "//ops/a:b"]
    assert sorted(plan.copies) == ["ops/a/a.asc", "ops/a/b.asc", "ops/a/own.h"]
    mirror.write(plan, tmp_path / "out")
    assert len(load_workspace(tmp_path / "out", plan.packages).requested) == 2


def test_what_a_workspace_decides_about_rules_comes_with_it(tmp_path):
    root = tmp_path / "one"
    (root / "own").mkdir(parents=True)
    (root / "SConstruct").write_text('Workspace(packages=["ops"], validate="rules.yaml")\n')
    (root / "rules.yaml").write_text("severity: {sk.bind-mask-known: off}\nbaseline: known.json\nrules: [own/extra.py]\n")
    (root / "known.json").write_text("{}")
    (root / "own/extra.py").write_text("")
    folder = operator(root / "ops", "a")
    (folder / "SConscript").write_text('operator(name="a", srcs=["a.asc"], archs=["dav-2201"])\n')
    plan = placed(tmp_path, read(folder))
    assert plan.settings == "rules.yaml"
    assert sorted(plan.decisions) == ["known.json", "own/extra.py", "rules.yaml"]
    assert b"Workspace(packages=['ops'], validate='rules.yaml')" in plan.texts["SConstruct"]
    with pytest.raises(UsageError, match="some of the operators only"):
        placed(tmp_path, read(folder, operator(tmp_path / "two", "b")))
