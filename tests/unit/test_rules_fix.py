"""Which findings `scons fix` acts on, and in which files."""

from __future__ import annotations

import pytest

from skrules.errors import UsageError
from skrules.remediate.remediation import Status
from skrules.rules.fix import fix_sources
from skrules.rules.workspace import load_workspace

KERNEL = 'extern "C" __global__ __vector__ void k(GM_ADDR x, uint32_t n) {}\n'
OLD = "template <typename T> int f(const T *a) { return a->skBlockNum + a->SkGetBlockNum() + a->skBlockNum; }\n"
NEW = "template <typename T> int f(const T *a) { return a->skNumBlocks + a->SkGetNumBlocks() + a->skNumBlocks; }\n"


@pytest.fixture
def workspace(tmp_path):
    declaration = 'operator(name="{0}", srcs=["{0}.asc"], archs=["dav-2201"], options=["-Iops/inc"])\n'
    for name, text in {
        "ops/a/SConscript": declaration.format("a"),
        "ops/a/a.asc": f'#include "kernel_operator.h"\n#include "a.h"\n#include <inc.h>\n{OLD}{KERNEL}',
        "ops/a/a.h": "// skBlockNum\n",
        "ops/a/other.h": OLD,
        "ops/b/SConscript": declaration.format("b"),
        "ops/b/b.asc": f"#include <inc.h>\n{KERNEL}",
        "ops/inc/inc.h": OLD.replace("int f", "int g"),
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return load_workspace(tmp_path, ["ops"])


def test_sources_and_what_they_include_are_edited_once(workspace):
    outcome = fix_sources(workspace, dry_run=True)
    assert [change.file for change in outcome.changes] == ["ops/a/a.asc", "ops/inc/inc.h", "ops/b/b.asc"]
    outcome = fix_sources(workspace)
    applied = [(result.file, result.reason) for result in outcome.results if result.status is Status.APPLIED]
    assert applied == [
        *[("ops/a/a.asc", "rename-symbol"), ("ops/a/a.asc", "rename-symbol")],
        *[("ops/inc/inc.h", "rename-symbol"), ("ops/inc/inc.h", "rename-symbol")],
        ("ops/b/b.asc", "add-include"),
    ]
    assert outcome.count(Status.FAILED) == 0
    assert NEW in (workspace.root / "ops/a/a.asc").read_text()
    assert (workspace.root / "ops/inc/inc.h").read_text() == NEW.replace("int f", "int g")
    assert (workspace.root / "ops/a/other.h").read_text() == OLD
    assert (workspace.root / "ops/b/b.asc").read_text() == f'#include <inc.h>\n#include "kernel_operator.h"\n{KERNEL}'
    again = fix_sources(workspace)
    assert again.changes == ()
    assert not any(result.status in (Status.APPLIED, Status.FAILED) for result in again.results)


def test_what_the_settings_switch_off_is_not_edited(workspace):
    (workspace.root / "validate.yaml").write_text("severity: {includes.kernel-operator-h: off}\n")
    outcome = fix_sources(workspace, settings="validate.yaml", dry_run=True)
    assert [change.file for change in outcome.changes] == ["ops/a/a.asc", "ops/inc/inc.h"]


def test_what_a_comment_allows_is_not_edited(workspace):
    path = workspace.root / "ops/b/b.asc"
    path.write_text(path.read_text().replace(KERNEL, f"// skrules: allow(includes.kernel-operator-h) inc.h does\n{KERNEL}"))
    assert all(change.file != "ops/b/b.asc" for change in fix_sources(workspace, dry_run=True).changes)


def test_without_an_operator_there_is_nothing_to_fix(tmp_path):
    (tmp_path / "ops").mkdir()
    (tmp_path / "ops" / "SConscript").write_text("")
    with pytest.raises(UsageError, match="no operator to fix"):
        fix_sources(load_workspace(tmp_path, ["ops"]))
