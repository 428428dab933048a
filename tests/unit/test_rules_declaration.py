"""SConscript files as declarations."""

from __future__ import annotations

import os

import pytest

from skrules.errors import UsageError
from skrules.label import Label
from skrules.rules.declaration import read_package
from skrules.rules.workspace import find_packages, load_workspace

GOOD = 'operator(name="add", srcs=["add.asc"], contract="contract.yaml", archs=["dav-2201"], deps=["//ops/common"])\n'


@pytest.fixture
def root(tmp_path):
    for package, files in {"ops/add": ["add.asc", "contract.yaml"], "ops/common": ["tiling.h"]}.items():
        (tmp_path / package).mkdir(parents=True)
        for name in files:
            (tmp_path / package / name).write_text("")
    (tmp_path / "ops/common/SConscript").write_text('headers(name="common", hdrs=glob("*.h"))\n')
    return tmp_path


def read(root, text):
    (root / "ops/add/SConscript").write_text(text)
    return read_package(root, "ops/add")


def test_an_operator(root):
    (target,) = read(root, GOOD)
    assert target.label == Label(package="ops/add", name="add")
    assert target.strings("srcs") == ("ops/add/add.asc",)
    assert target.file("contract") == "ops/add/contract.yaml"
    assert target.file("cases") == ""
    assert target.labels("deps") == (Label(package="ops/common", name="common"),)
    assert str(target.at) == "ops/add/SConscript:1"


@pytest.mark.parametrize(
    ("text", "place", "part"),
    [
        ('operator(name="add", srcs=["add.asc"], arch=["dav-2201"])', ":1", "did you mean 'archs'?"),
        ('\noperator(name="add")', ":2", "needs srcs, archs"),
        ('operator("add")', ":1", "keyword attributes only"),
        ('operator(name="add-x", srcs=["add.asc"], archs=["a"])', ":1", "C identifier"),
        ('operator(name="add", srcs="add.asc", archs=["a"])', ":1", "hint: srcs=['add.asc']"),
        ('operator(name="add", srcs=[], archs=["a"])', ":1", "srcs is empty"),
        ('operator(name="add", srcs=[3], archs=["a"])', ":1", "not a string"),
        ('operator(name="add", srcs=["add.asc", "add.asc"], archs=["a"])', ":1", "twice"),
        ('operator(name="add", srcs=["ad.asc"], archs=["a"])', ":1", "did you mean 'add.asc'?"),
        ('operator(name="add", srcs=["add.asc"], contract="contract.yam", archs=["a"])', ":1", "did you mean 'contract.yaml'?"),
        ('operator(name="add", srcs=["../common/tiling.h"], archs=["a"])', ":1", "inside the package"),
        ('operator(name="add", srcs=["/etc/passwd"], archs=["a"])', ":1", "inside the package"),
        ('operator(name="add", srcs=["add.asc"], archs=["a"], deps=["//ops/..."])', ":1", "pattern"),
        ('operator(name="add", srcs=["add.asc"], archs=["a"], deps=["../x"])', ":1", "not a label"),
        ('operator(name="add", srcs=["add.asc", "./add.asc"], archs=["a"])', ":1", "srcs lists 'ops/add/add.asc' twice"),
        ('operator(name="add", srcs=["a\\0b"], archs=["a"])', ":1", "control characters"),
        ('operator(name="add", srcs=["add.asc"], archs=["a"], options=["-D\\0"])', ":1", "control characters"),
        ("\nraise SystemExit(0)", ":2", "must not exit"),
        ("\nraise BaseException('x')", ":2", "BaseException: x"),
        ("operater(name='x')", ":1", "did you mean 'operator'?"),
        ("x = 1 +", ":1:", "invalid syntax"),
        ("\n\n1 / 0", ":3", "ZeroDivisionError"),
        ("glob('/etc/*')", ":1", "inside the package"),
        ('Environment(tools=["x"])', ":1", "declarations only"),
        (GOOD + GOOD, ":2", "declared twice"),
    ],
)
def test_errors_name_the_place(root, text, place, part):
    with pytest.raises(UsageError) as caught:
        read(root, text)
    assert f"error: ops/add/SConscript{place}" in str(caught.value)
    assert part in str(caught.value)


def test_a_contract_that_is_not_written_yet(root):
    (root / "ops/add/contract.yaml").rename(root / "ops/add/cases.yaml")
    with pytest.raises(UsageError, match=r"no file 'ops/add/contract\.yaml'\n  hint: without contract= a build prints one"):
        read(root, GOOD)


def test_a_label_reads_its_package_and_its_dependencies_only(root):
    (root / "ops/add/SConscript").write_text(GOOD)
    (root / "ops/broken").mkdir()
    (root / "ops/broken/SConscript").write_text("syntax error here")
    workspace = load_workspace(root, ["ops"], ["ops/add"])
    assert [str(target.label) for target in workspace.requested] == ["//ops/add"]
    assert {str(label) for label in workspace.targets} == {"//ops/add", "//ops/common"}
    with pytest.raises(UsageError):
        load_workspace(root, ["ops"])


@pytest.mark.parametrize(
    ("deps", "part"),
    [
        ('["//ops/comon"]', "did you mean '//ops/common'?"),
        ('["//ops/mul"]', "which is an operator"),
        ('["//elsewhere"]', "does not exist"),
    ],
)
def test_dependencies_exist_and_are_headers(root, deps, part):
    (root / "ops/add/SConscript").write_text(f'operator(name="add", srcs=["add.asc"], archs=["a"], deps={deps})')
    (root / "ops/mul").mkdir()
    (root / "ops/mul/mul.asc").write_text("")
    (root / "ops/mul/SConscript").write_text('operator(name="mul", srcs=["mul.asc"], archs=["a"])')
    with pytest.raises(UsageError) as caught:
        load_workspace(root, ["ops"])
    assert part in str(caught.value)


def test_operators_of_one_name_are_refused(root):
    (root / "ops/add/SConscript").write_text(GOOD)
    (root / "ops/again").mkdir()
    (root / "ops/again/add.asc").write_text("")
    (root / "ops/again/SConscript").write_text('operator(name="add", srcs=["add.asc"], archs=["a"])')
    with pytest.raises(UsageError) as caught:
        load_workspace(root, ["ops"])
    assert "two operators are called 'add'" in str(caught.value)


def test_a_pattern_without_match_lists_what_there_is(root):
    (root / "ops/add/SConscript").write_text(GOOD)
    with pytest.raises(UsageError) as caught:
        load_workspace(root, ["ops"], ["ops/ad"])
    assert "did you mean '//ops/add'?" in str(caught.value)


def test_a_folder_without_declaration_is_told_so(root):
    (root / "ops/add/SConscript").write_text(GOOD)
    (root / "ops/bare").mkdir()
    with pytest.raises(UsageError) as caught:
        load_workspace(root, ["ops"], ["ops/bare"])
    assert "the folder ops/bare holds no SConscript" in str(caught.value)


def test_hidden_folders_hold_no_packages(root):
    (root / "ops/.hidden").mkdir()
    (root / "ops/.hidden/SConscript").write_text("x")
    assert find_packages(root, ["ops"]) == ("ops/common",)
    with pytest.raises(UsageError):
        find_packages(root, ["missing"])


def test_a_folder_that_cannot_be_read_is_not_passed_over(root, monkeypatch):
    scandir = os.scandir

    def refuse(path):
        if str(path).endswith("ops/add"):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(UsageError, match="ops/add: cannot read the folder: Permission denied"):
        find_packages(root, ["ops"])


@pytest.mark.parametrize("name", ["a b", "a\nb", "-a", "\u7b97", "a\udcff"])
def test_a_folder_that_no_label_can_name_is_no_package(tmp_path, name):
    package = f"ops/{name}"
    (tmp_path / package).mkdir(parents=True)
    (tmp_path / package / "SConscript").write_text("")
    with pytest.raises(UsageError, match="no label can name the folder") as error:
        read_package(tmp_path, package)
    assert str(error.value).isascii()
