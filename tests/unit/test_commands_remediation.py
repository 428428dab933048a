"""`skrules apply-remediation`: the published JSON in and out, and an exit status that tells."""

from __future__ import annotations

import json

import pytest

from skrules.cli import main

RENAME = {
    "finding_id": "sk.sys-args-api-current:4c97c34652e8",
    "rule_id": "sk.sys-args-api-current",
    "severity": "blocker",
    "category": "spec",
    "actionable_by": ["codegen.apply-remediation"],
    "remediation_hint": {
        "kind": "rename-symbol",
        "target_file": "blk.asc",
        "old_value": "skBlockNum",
        "new_value": "skNumBlocks",
    },
    "evidence": [],
    "message": "an old name",
}
HUMAN = RENAME | {"finding_id": "x:1", "actionable_by": ["human"], "remediation_hint": {"kind": "human-decision"}}


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "op").mkdir()
    (tmp_path / "op" / "blk.asc").write_text("n = a->skBlockNum; // skBlockNum\n")
    return tmp_path


def apply(place, *findings, options=()):
    (place / "findings.json").write_text(json.dumps({"schema_version": 1, "findings": list(findings)}))
    return main(["apply-remediation", "op", "findings.json", *options])


def document(folder):
    return json.loads((folder / "operator-sk-remediation.json").read_bytes())


def test_what_is_applied_is_written_down(place, capsys):
    assert apply(place, RENAME, HUMAN) == 0
    assert (place / "op" / "blk.asc").read_text() == "n = a->skNumBlocks; // skBlockNum\n"
    assert document(place / "op") == {
        "status": "completed",
        "asset_dir": str(place / "op"),
        "findings_path": "findings.json",
        "summary": {"applied": 1, "escalated": 1, "failed": 0, "skipped": 0},
        "results": [
            {
                "finding_id": "sk.sys-args-api-current:4c97c34652e8",
                "status": "applied",
                "reason": "rename-symbol",
                "diff_summary": "size 33 -> 34",
                "file": "blk.asc",
            },
            {"finding_id": "x:1", "status": "escalated", "reason": "not_auto_remediable", "diff_summary": "", "file": ""},
        ],
    }
    assert capsys.readouterr().err == (
        "fixed: blk.asc: rename-symbol [sk.sys-args-api-current:4c97c34652e8]\n1 finding left to people\n"
    )


def test_a_second_run_has_nothing_left_to_do(place, capsys):
    apply(place, RENAME)
    capsys.readouterr()
    assert apply(place, RENAME) == 0
    assert document(place / "op")["summary"] == {"applied": 0, "escalated": 0, "failed": 0, "skipped": 1}
    assert capsys.readouterr().err == "nothing left to do\n"


def test_one_that_fails_does_not_keep_others_back_and_is_told(place, capsys):
    lost = RENAME | {"finding_id": "y:1", "remediation_hint": RENAME["remediation_hint"] | {"target_file": "../blk.asc"}}
    assert apply(place, lost, RENAME, options=["--output-dir", "out"]) == 1
    made = document(place / "out")
    assert made["status"] == "incomplete"
    assert [each["reason"] for each in made["results"]] == ["target_outside_asset", "rename-symbol"]
    assert not (place / "op" / "operator-sk-remediation.json").exists()
    assert "failed: ../blk.asc: target_outside_asset [y:1]\n" in capsys.readouterr().err


def test_a_dry_run_prints_a_diff_and_writes_nothing(place, capfdbinary):
    assert apply(place, RENAME, options=["--dry-run", "--output-dir", "out"]) == 0
    said = capfdbinary.readouterr()
    assert b"+n = a->skNumBlocks; // skBlockNum\n" in said.out
    assert said.err.startswith(b"would fix: blk.asc: rename-symbol")
    assert [path.name for path in sorted(place.rglob("*"))] == ["findings.json", "op", "blk.asc"]
    assert "skNumBlocks" not in (place / "op" / "blk.asc").read_text()


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "1", "null", "{}", '{"findings": {}}', '{"findings": [1]}', "[" * 100_000, '{"findings": [NaN]}', "\xff"],
)
def test_what_is_no_findings_file_is_a_usage_error(place, text, capsys):
    (place / "findings.json").write_bytes(text.encode("latin-1"))
    assert main(["apply-remediation", "op", "findings.json"]) == 2
    assert capsys.readouterr().err.startswith("error: findings.json: ")
    assert [path.name for path in (place / "op").iterdir()] == ["blk.asc"]


@pytest.mark.parametrize("words", [("op", "missing.json"), ("missing", "findings.json"), ("op/blk.asc", "findings.json")])
def test_what_is_not_there_is_a_usage_error(place, words, capsys):
    (place / "findings.json").write_text('{"findings": []}')
    assert main(["apply-remediation", *words]) == 2
    assert capsys.readouterr().err.startswith("error: ")


@pytest.mark.parametrize(
    ("changes", "status", "reason"),
    [
        ({"actionable_by": "codegen.apply-remediation"}, "escalated", "not_auto_remediable"),
        ({"actionable_by": None}, "escalated", "not_auto_remediable"),
        ({"remediation_hint": None}, "escalated", "not_auto_remediable"),
        ({"remediation_hint": {"kind": "human-decision"}}, "escalated", "not_auto_remediable"),
        ({"remediation_hint": {"kind": ["rename-symbol"]}}, "escalated", "not_auto_remediable"),
        ({"remediation_hint": {"kind": "rename-symbol"}}, "failed", "missing_target_file"),
        ({"remediation_hint": {"kind": "rename-symbol", "target_file": 3}}, "failed", "invalid_hint:target_file"),
        ({"remediation_hint": {"kind": "rename-symbol", "target_file": "blk.asc"}}, "failed", "missing_old_value"),
        ({"remediation_hint": {"kind": "replace-pattern", "target_file": "blk.asc"}}, "failed", "missing_pattern"),
        (
            {"remediation_hint": {"kind": "remove-line-containing", "target_file": "blk.asc", "old_value": ""}},
            "failed",
            "missing_old_value",
        ),
    ],
)
def test_what_a_finding_lacks_is_told_of_it(place, changes, status, reason):
    apply(place, RENAME | changes)
    (result,) = document(place / "op")["results"]
    assert (result["status"], result["reason"]) == (status, reason)


def test_a_folder_that_another_run_writes_into_is_left_alone(place, capsys):
    from skrules.commands.files import OutputFolder

    with OutputFolder(place / "op"):
        assert apply(place, RENAME) == 2
        assert apply(place, RENAME, options=["--output-dir", "out"]) == 2
    assert "another run" in capsys.readouterr().err
    assert "skNumBlocks" not in (place / "op" / "blk.asc").read_text()
