"""The published envelope of findings, and ids that outlive edits elsewhere in the file."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from skrules.errors import Location, UsageError
from skrules.findings import Finding, Fix, Severity
from skrules.report.formats import Report, render
from skrules.report.rules import RuleText

RENAME = Finding(
    rule="sk.sys-args-api-current",
    severity=Severity.BLOCKER,
    at=Location(file="blk.asc", line=7, column=3),
    message="old name",
    hint="the new one",
    fix=Fix(kind="rename-symbol", file="blk.asc", old_value="skBlockNum", new_value="skNumBlocks"),
)
PLAIN = replace(RENAME, rule="sk.bind-mask-known", message="unknown mask", fix=None, severity=Severity.WARNING)


def findings_of(*findings, **report):
    return json.loads(render(findings, "json", Report(**report)))["findings"]


def test_a_finding_that_a_program_can_settle_has_the_published_fields_and_its_place():
    # The id is the one that the public tool gives this finding.
    assert findings_of(RENAME) == [
        {
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
            "evidence": ["file=blk.asc", "line=7", "column=3"],
            "message": "old name",
            "file": "blk.asc",
            "line": 7,
            "column": 3,
            "hint": "the new one",
        }
    ]


def test_what_is_left_to_people_says_so():
    (document,) = findings_of(PLAIN)
    assert document["actionable_by"] == ["human"]
    assert document["remediation_hint"] == {"kind": "human-decision", "text": "the new one"}


def test_the_digest_of_the_file_goes_with_the_fix():
    (document,) = findings_of(replace(RENAME, fix=replace(RENAME.fix, digest="ab" * 32)))
    assert document["remediation_hint"]["digest"] == "ab" * 32


def test_the_envelope():
    document = json.loads(render([], "json", Report(stage="pre-adapt", iteration=2, metadata={"compat": {"target": "x"}})))
    assert document == {
        "schema_version": 1,
        "skill_source": "operator-validate",
        "stage": "pre-adapt",
        "iteration_index": 2,
        "findings": [],
        "metadata": {"compat": {"target": "x"}},
    }
    assert "metadata" not in json.loads(render([], "json", Report()))


def test_an_id_does_not_change_with_the_line_but_with_what_it_is_about():
    (one,) = findings_of(PLAIN)
    (moved,) = findings_of(replace(PLAIN, at=replace(PLAIN.at, line=90, column=1)))
    (other,) = findings_of(replace(PLAIN, message="another mask"))
    assert one["finding_id"] == moved["finding_id"] != other["finding_id"]


def test_findings_that_say_the_same_of_one_file_have_ids_of_their_own():
    names = [each["finding_id"] for each in findings_of(PLAIN, replace(PLAIN, at=replace(PLAIN.at, line=8)), RENAME, RENAME)]
    assert len(set(names)) == 4
    assert names[2].endswith(":4c97c34652e8")


def test_findings_of_contracts_are_named_by_their_message():
    finding = replace(PLAIN, rule="contract.asset-layout", message="unit 'a' has no entry_name: give it one, and then go on")
    same = replace(finding, at=replace(finding.at, line=1))
    first, second = findings_of(finding, same)
    assert first["finding_id"] == "contract.asset-layout:unit__a__has_no_entry_name__give_it_one__and_the"
    assert second["finding_id"] == first["finding_id"] + ".2"
    assert (first["category"], first["evidence"]) == ("contract", [finding.message])


@pytest.mark.parametrize(
    ("rule", "category"),
    [
        ("sk.bind-mask-known", "spec"),
        ("includes.kernel-operator-h", "spec"),
        ("compat.arch-alias-mismatch", "compat"),
        ("contract.build-context", "contract"),
        ("codegen.no-kernel", "codegen"),
    ],
)
def test_categories_follow_from_ids_unless_the_rule_has_one(rule, category):
    (document,) = findings_of(replace(PLAIN, rule=rule))
    assert document["category"] == category
    (document,) = findings_of(replace(PLAIN, rule=rule), rules={rule: RuleText("title", category="own")})
    assert document["category"] == "own"


def test_an_unknown_format_is_an_error_with_those_there_are():
    with pytest.raises(UsageError, match="allowed: text, json, sarif, github"):
        render([], "xml", Report())
