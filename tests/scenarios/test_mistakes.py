"""Mistakes in SuperKernel code must not pass: each makes `scons compare` fail with words that name it.

The sources are hand-edited after adaptation, as somebody might do who maintains the SK form of a kernel.
"""

from __future__ import annotations

import json

import pytest

from skrules.cli import main

COMPARE = ("compare", "ops/scale", "ARCH=dav-2201")


@pytest.fixture
def adapted(workspace):
    """The workspace with `scale` in its SuperKernel form: what skrules made of it, now the user's own source."""
    source, contract = (workspace.root / "ops/scale" / name for name in ("scale.asc", "contract.yaml"))
    bound = workspace.root / "bound.asc"
    assert main(["adapt", str(source), "--contract", str(contract), "-o", str(bound)]) == 0
    bound.replace(source)
    return workspace


def test_the_sk_form_itself_passes_and_stays_as_it_is(adapted):
    run = adapted.scons(*COMPARE)
    assert run.status == 0, run.output
    assert "1 result: 1 passed" in run.output
    generated = (adapted.root / "build/host/gen/ops/scale/scale.asc").read_bytes()
    assert (adapted.root / "ops/scale/scale.asc").read_bytes() in generated


@pytest.mark.parametrize(
    ("old", "new", "part"),
    [
        pytest.param("GM_ADDR x;\n    GM_ADDR y;", "GM_ADDR y;\n    GM_ADDR x;", "SK run never wrote", id="args-fields-swapped"),
        pytest.param("static_cast<int64_t>(sysArgs->skNumBlocks)", "AscendC::GetBlockNum()", "differs", id="block-number-left"),
        pytest.param(
            "float factor = args->factor;",
            "float factor = args->factor + 1;",
            "differs from the plain run",
            id="twin-computes-else",
        ),
        pytest.param("uint32_t length = args->length;", "uint32_t length = 0;", "SK run never wrote", id="twin-writes-nothing"),
    ],
)
def test_a_mistake_in_the_twin_fails_and_is_named(adapted, old, new, part):
    path = adapted.root / "ops/scale/scale.asc"
    before, twin = path.read_text().split("struct ScaleArgs", 1)
    assert old in twin
    path.write_text(before + "struct ScaleArgs" + twin.replace(old, new, 1))
    run = adapted.scons(*COMPARE)
    assert run.status == 3, run.output
    assert "//ops/scale case 'small': 'y'" in run.output
    assert part in run.output
    assert "1 result: 0 passed, 1 failed" in run.output
    folder = adapted.root / "build/host/compare/dav-2201/ops/scale"
    assert not (folder / "verdict.json").exists()
    assert json.loads((folder / "verdict.failed.json").read_text())["status"] == "failed"


def test_a_failed_result_is_not_cached(adapted):
    path = adapted.root / "ops/scale/scale.asc"
    good = path.read_text()
    assert adapted.scons(*COMPARE).status == 0
    path.write_text(good.replace("float factor = args->factor;", "float factor = 0;"))
    assert adapted.scons(*COMPARE).status == 3
    again = adapted.scons(*COMPARE)
    assert (again.status, again.actions) == (3, ["COMPARE dav-2201 //ops/scale"])
    path.write_text(good)
    run = adapted.scons(*COMPARE)
    assert run.status == 0
    assert "PASSED" in run.output and "(cached)" not in run.output
    assert "(cached) PASSED" in adapted.scons(*COMPARE).output


def test_an_args_struct_that_lacks_a_field_does_not_compile(adapted):
    adapted.edit("ops/scale/scale.asc", "    float factor;\n    uint32_t length;\n};", "};")
    adapted.edit("ops/scale/scale.asc", "float factor = args->factor;", "float factor = 1.5f;")
    adapted.edit("ops/scale/scale.asc", "uint32_t length = args->length;", "uint32_t length = 1024;")
    run = adapted.scons(*COMPARE)
    assert run.status == 1
    assert "Args struct" in run.output
    assert "1 result: 0 passed, 1 no status" in run.output


def test_sync_all_with_fewer_blocks_than_the_super_kernel_is_a_deadlock_that_says_who_waits(workspace):
    workspace.edit("ops/scale/scale.asc", "    AscendC::TPipe pipe;", "    AscendC::SyncAll();\n    AscendC::TPipe pipe;")
    run = workspace.scons(*COMPARE)
    assert run.status == 3, run.output
    assert "deadlock" in run.output
    assert "waits for" in run.output and "SyncAll" in run.output
    assert "//ops/scale case 'small': execute failed" in run.output


def test_a_kernel_that_writes_nothing_fails(workspace):
    workspace.edit("ops/scale/scale.asc", "AscendC::DataCopy(target, b, count);", "")
    run = workspace.scons(*COMPARE)
    assert run.status == 3, run.output
    assert "1024 of 1024 elements are never written" in run.output


def test_a_wrong_kernel_differs_from_its_reference(workspace):
    workspace.edit("ops/scale/scale.asc", "AscendC::Muls(", "AscendC::Adds(")
    run = workspace.scons(*COMPARE)
    assert run.status == 3, run.output
    assert "the plain run differs from the reference" in run.output


def test_no_case_is_not_passed(workspace):
    (workspace.root / "ops/scale/cases.yaml").write_text("schema_version: 1\ncases: []\n")
    run = workspace.scons(*COMPARE)
    assert run.status == 3, run.output
    assert "1 result: 0 passed, 1 skipped" in run.output


def test_a_verdict_of_before_is_not_that_of_a_kernel_that_does_not_compile(workspace):
    assert workspace.scons(*COMPARE).status == 0
    workspace.edit("ops/scale/scale.asc", "AscendC::Muls(", "AscendC::NoSuchThing(")
    run = workspace.scons(*COMPARE)
    assert run.status == 1
    assert "NO STATUS" in run.output
    assert "1 result: 0 passed, 1 no status" in run.output
