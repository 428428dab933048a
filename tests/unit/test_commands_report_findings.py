"""`skrules report-findings`: what was found, in the format that is asked for."""

from __future__ import annotations

import json

import pytest

from skrules.cli import main
from skrules.errors import Location
from skrules.findings import Finding, Fix, Severity
from skrules.report.formats import Report, render

FOUND = Finding(
    rule="sk.some-rule",
    severity=Severity.WARNING,
    at=Location(file="a.asc", line=1, column=5),
    message="wrong",
    hint="do it",
    fix=Fix(kind="rename-symbol", file="a.asc", old_value="x", new_value="y", digest="0" * 64),
)
OTHER = Finding(rule="compat.b", severity=Severity.BLOCKER, at=Location(file="b.asc"), message="worse")


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, found in {"v/a/findings.json": [FOUND], "v/b/findings.failed.json": [OTHER, FOUND], "v/x.json": [1]}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(render(found, "json", Report()) if found != [1] else "?")
    (tmp_path / "a.asc").write_text("int x;\n")
    return tmp_path


def test_a_folder_is_looked_through_and_each_finding_told_once(capsys):
    assert main(["report-findings", "v"]) == 0
    assert capsys.readouterr().out == (
        "warning: a.asc:1:5: wrong [sk.some-rule]\n    1 | int x;\n      |     ^\n  do it\n"
        "blocker: b.asc: worse [compat.b]\n1 blocker, 1 warning\n"
    )


def test_what_is_read_is_what_was_written(capsys):
    assert main(["report-findings", "v/a/findings.json", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["findings"] == json.loads(render([FOUND], "json", Report()))["findings"]


def test_a_file_gets_what_standard_output_would(place, capsys):
    assert main(["report-findings", "v", "--format", "sarif", "--output", "out/found.sarif"]) == 0
    assert capsys.readouterr().out == ""
    document = json.loads((place / "out" / "found.sarif").read_bytes())
    assert [result["ruleId"] for result in document["runs"][0]["results"]] == ["sk.some-rule", "compat.b"]


def test_rules_of_every_room_are_explained(place, capsys):
    found = [
        Finding(rule=rule, severity=Severity.NOTE, at=OTHER.at, message="m")
        for rule in ("codegen.no-kernel", "sk.bind-max-splits")
    ]
    (place / "f.json").write_text(render(found, "json", Report()))
    assert main(["report-findings", "f.json", "--format", "sarif"]) == 0
    rules = json.loads(capsys.readouterr().out)["runs"][0]["tool"]["driver"]["rules"]
    assert all(rule["shortDescription"]["text"] and rule["fullDescription"]["text"] for rule in rules)
    assert [rule["properties"]["tags"] for rule in rules] == [["codegen"], ["spec"]]


def test_files_lie_where_they_are_said_to(place, capsys, monkeypatch):
    monkeypatch.chdir(place / "v")
    assert main(["report-findings", "a", "--root", ".."]) == 0
    assert "    1 | int x;" in capsys.readouterr().out


def test_findings_of_the_public_tool_have_no_places(place, capsys):
    item = {"finding_id": "x", "rule_id": "sk.r", "severity": "blocker", "message": "m", "actionable_by": ["human"]}
    (place / "f.json").write_text(json.dumps({"findings": [item]}))
    assert main(["report-findings", "f.json", "--format", "github"]) == 0
    assert capsys.readouterr().out == "::error title=sk.r::m\n"


@pytest.mark.parametrize(
    "text",
    [
        *("", "[]", "{}", '{"findings": 1}', '{"findings": [1]}', '{"findings": [{}]}', "[" * 100_000),
        *(
            '{"findings": [{"rule_id": "a", "message": "m", "severity": "bad"}]}',
            '{"findings": [{"rule_id": 1, "message": "m"}]}',
        ),
        '{"findings": [{"rule_id": "a", "message": "m", "severity": []}]}',
    ],
)
def test_what_is_no_file_of_findings_is_a_usage_error(place, text, capsys):
    (place / "f.json").write_text(text)
    assert main(["report-findings", "f.json"]) == 2
    assert capsys.readouterr().err.startswith("error: f.json: ")


def test_places_that_are_none_are_not_believed(place, capsys):
    item = {"rule_id": "a", "message": "m", "severity": "note", "file": 3, "line": True, "column": "x", "remediation_hint": []}
    (place / "f.json").write_text(json.dumps({"findings": [item | {"actionable_by": ["codegen.apply-remediation"]}]}))
    assert main(["report-findings", "f.json"]) == 0
    assert capsys.readouterr().out == "note: m [a]\n1 note\n"


def test_where_nothing_was_found_yet_is_a_usage_error(place, capsys):
    (place / "empty").mkdir()
    assert main(["report-findings", "empty"]) == 2
    assert main(["report-findings", "missing.json"]) == 2
    assert main(["report-findings", "v", "--output", "a.asc/x"]) == 2
    assert "cannot write" in capsys.readouterr().err


@pytest.mark.parametrize("actors", [5, "codegen.apply-remediation", {"codegen.apply-remediation": 1}, None])
def test_what_is_no_list_of_actors_has_no_fix(place, capsys, actors):
    document = json.loads((place / "v/a/findings.json").read_text())
    document["findings"][0]["actionable_by"] = actors
    (place / "one.json").write_text(json.dumps(document))
    assert main(["report-findings", "one.json", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["findings"][0]["actionable_by"] == ["human"]
