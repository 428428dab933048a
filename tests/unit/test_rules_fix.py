"""Which findings `scons fix` acts on, and in which files."""

from __future__ import annotations

import pytest

from skrules.errors import UsageError
from skrules.remediate import Status
from skrules.rules.fix import find, fix_sources
from skrules.rules.workspace import load_workspace

DECLARATION = 'operator(name="a", srcs=["a.asc"], archs=["dav-2201"], options=["-Iops/inc"])\n'
OLD = "n = args->skBlockNum + SkGetBlockNum() + args->skBlockNum;\n"


@pytest.fixture
def workspace(tmp_path):
    for name, text in {
        "ops/a/SConscript": DECLARATION,
        "ops/a/a.asc": '#include "a.h"\n#include <inc.h>\n' + OLD,
        "ops/a/a.h": "// skBlockNum\n",
        "ops/inc/inc.h": OLD,
        "ops/a/other.h": OLD,
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return load_workspace(tmp_path, ["ops"])


def test_findings_are_told_once_a_name_and_file(workspace):
    found = find(workspace.root, workspace.of_rule("operator"))
    assert [(finding.at.file, finding.at.line, finding.fix.old_value) for finding in found] == [
        ("ops/a/a.asc", 3, "skBlockNum"),
        ("ops/a/a.asc", 3, "SkGetBlockNum"),
        ("ops/inc/inc.h", 1, "skBlockNum"),
        ("ops/inc/inc.h", 1, "SkGetBlockNum"),
    ]


def test_sources_and_what_they_include_are_edited(workspace):
    outcome = fix_sources(workspace, dry_run=True)
    assert [change.file for change in outcome.changes] == ["ops/a/a.asc", "ops/inc/inc.h"]
    outcome = fix_sources(workspace)
    assert [result.status for result in outcome.results] == [Status.APPLIED] * 4
    new = "n = args->skNumBlocks + SkGetNumBlocks() + args->skNumBlocks;\n"
    assert (workspace.root / "ops/inc/inc.h").read_text() == new
    assert (workspace.root / "ops/a/other.h").read_text() == OLD
    assert fix_sources(workspace).results == ()


def test_without_an_operator_there_is_nothing_to_fix(tmp_path):
    (tmp_path / "ops").mkdir()
    (tmp_path / "ops" / "SConscript").write_text("")
    with pytest.raises(UsageError, match="no operator to fix"):
        fix_sources(load_workspace(tmp_path, ["ops"]))
