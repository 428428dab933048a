"""Includes of other packages, and which of them a dependency declares."""

from __future__ import annotations

from skrules.rules.includes import undeclared_includes
from skrules.rules.workspace import load_workspace
from tests.unit.small_workspace import write_workspace

COMMON = ("ops/common/tiling.h", "ops/common/math.h")


def undeclared(root, label, read):
    return [str(each) for each in undeclared_includes(load_workspace(root, ["ops"]), label, read)]


def test_what_deps_name_is_declared(tmp_path):
    assert undeclared(write_workspace(tmp_path), "//ops/add", COMMON) == []


def test_what_they_do_not_name_is_told_with_what_to_write(tmp_path):
    told = undeclared(write_workspace(tmp_path), "//ops/scale", ["ops/scale/own.h", "ops/common/math.h", "ops/common/math.h"])
    assert told == [
        'warning: //ops/scale includes ops/common/math.h, which no deps names\n    hint: deps=["//ops/common"]',
    ]


def test_a_dependency_of_a_dependency_is_declared(tmp_path):
    more = {
        "ops/far/SConscript": 'headers(name="far", hdrs=["far.h"], deps=["//ops/common"])\n',
        "ops/far/far.h": "",
        "ops/third/SConscript": 'operator(name="third", srcs=["third.asc"], archs=["dav-2201"], deps=["//ops/far"])\n',
        "ops/third/third.asc": "",
    }
    assert undeclared(write_workspace(tmp_path, **more), "//ops/third", ["ops/far/far.h", *COMMON]) == []


def test_what_lies_in_no_package_or_in_a_folder_of_the_own_one_is_nobodys(tmp_path):
    root = write_workspace(tmp_path, **{"ops/scale/inner/x.h": "", "include/x.h": ""})
    assert undeclared(root, "//ops/scale", ["ops/scale/inner/x.h", "include/x.h", "ops/extra/far.h", "x.h"]) == []


def test_what_no_package_declares_is_not_asked(tmp_path):
    assert undeclared(write_workspace(tmp_path), "//skrules:compare", COMMON) == []
