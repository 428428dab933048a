"""`skrules validate-operator`, `list-rule-pack` and `explain`: published options, documents and statuses."""

from __future__ import annotations

import json
import os

import pytest

from skrules.cli import main

KERNEL = '#include "kernel_operator.h"\n__global__ __vector__ void k(GM_ADDR x) { Run(x); }\n'
WRONG = KERNEL + "__sk__ __vector__ void k_sk(GM_ADDR x) { Run(x); }\n"
DOCUMENT = "operator-validation-findings.json"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "op").mkdir()
    (tmp_path / "op/k.asc").write_text(KERNEL)
    return tmp_path


def validate(*words):
    return main(["validate-operator", "--asset", "op", "--output-dir", "out", *words])


def document(here):
    return json.loads((here / "out" / DOCUMENT).read_text())


def rules(here):
    return [finding["rule_id"] for finding in document(here)["findings"]]


def test_no_finding(here, capsys):
    assert validate() == 0
    assert document(here)["findings"] == []
    assert document(here)["skill_source"] == "operator-validate"
    assert "No findings." in (here / "out/operator-validation-report.md").read_text()
    assert "blocker" not in capsys.readouterr().out


def test_a_blocker_has_its_place_in_all_documents(here, capsys):
    (here / "op/k.asc").write_text(WRONG)
    assert validate("--stage", "pre-adapt", "--iteration-index", "3") == 1
    made = document(here)
    assert (made["schema_version"], made["stage"], made["iteration_index"]) == (1, "pre-adapt", 3)
    (finding,) = made["findings"]
    assert (finding["rule_id"], finding["severity"], finding["category"]) == ("sk.args-struct-required", "blocker", "spec")
    assert (finding["file"], finding["line"], finding["column"]) == ("k.asc", 3, 29)
    assert "k.asc:3:29" in (here / "out/operator-validation-report.md").read_text()
    assert "k.asc:3:29" in capsys.readouterr().out


@pytest.mark.parametrize("form", ["text", "json", "sarif", "github"])
def test_formats(here, capsys, form):
    (here / "op/k.asc").write_text(WRONG)
    assert validate("--format", form) == 1
    assert "sk.args-struct-required" in capsys.readouterr().out


def test_a_file_of_any_name_is_an_asset(here):
    (here / "op/k.inc").write_text(WRONG)
    assert main(["validate-operator", "--asset", "op/k.inc", "--output-dir", "out"]) == 1
    assert document(here)["findings"][0]["file"] == "k.inc"


def test_which_files_are_looked_at(here):
    for name in ("op/.git/a.cpp", "op/build.c", "op/notes.txt", "op/out/b.cpp"):
        (here / name).parent.mkdir(exist_ok=True)
        (here / name).write_text(WRONG)
    assert main(["validate-operator", "--asset", "op", "--output-dir", "op/out"]) == 0
    (here / "op/sub").mkdir()
    (here / "op/sub/h.hpp").write_text(WRONG)
    assert main(["validate-operator", "--asset", "op", "--output-dir", "op/out"]) == 1


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["--rule-pack", "other"], 2),
        (["--format", "xml"], 2),
        (["--iteration-index", "many"], 2),
        (["--settings", "none.yaml"], 2),
    ],
)
def test_wrong_command_lines(words, status, capsys):
    try:
        found = validate(*words)
    except SystemExit as error:
        found = error.code
    assert found == status
    capsys.readouterr()


def test_no_asset(capsys):
    assert main(["validate-operator", "--asset", "none", "--output-dir", "out"]) == 2
    assert "there is no operator asset 'none'" in capsys.readouterr().err


def test_nothing_to_read(here):
    (here / "op/k.asc").unlink()
    assert validate() == 1
    assert rules(here) == ["validate.spec-pack-error"]
    assert validate("--rule-pack", "compat") == 1
    assert rules(here) == ["validate.compat-pack-error"]


def test_packs(here):
    (here / "op/k.asc").write_text(WRONG)
    assert validate("--rule-pack", "compat") == 0
    assert validate("--rule-pack", "sk") == 0
    assert validate("--rule-pack", "spec") == 1
    assert validate("--rule-pack", "contract") == 1
    severities = {finding["rule_id"]: finding["severity"] for finding in document(here)["findings"]}
    assert severities == {
        "contract.asset-layout": "blocker",
        "contract.build-context": "blocker",
        "contract.verify-context": "warning",
    }


def test_documents_have_all_their_violations_told_with_places(here):
    units = [
        {"unit_id": "a", "entry_name": "k", "kernel_source": "k.asc"},
        {"unit_id": "a", "entry_name": "other", "kernel_source": "k.asc", "support_files": ["gone.h"], "tiling_headers": 3},
        {"unit_id": "c", "entry_name": "k", "kernel_source": "../k.asc", "json_spec": "/etc/passwd"},
        4,
    ]
    layout = {"schema_version": 2, "status": "done", "asset_root": "op", "operator_units": units}
    (here / "layout.json").write_text(json.dumps(layout, indent=1))
    assert validate("--layout", "layout.json") == 1
    messages = [finding["message"] for finding in document(here)["findings"]]
    for part in (
        "schema_version must be 1",
        "unknown status 'done'",
        "two operator units 'a'",
        "k.asc has no kernel 'other'",
        "'gone.h' does not exist",
        "tiling_headers must be a list",
        "must not leave the asset with '..'",
        "'/etc/passwd' must be relative",
        "must be an object, not the number 4",
    ):
        assert any(part in message for message in messages), part
    assert all(finding["file"] == "layout.json" and finding["line"] > 0 for finding in document(here)["findings"])


@pytest.mark.parametrize("text", ["", "[]", "{", '{"a": 1, "a": 2}', "\x00", "[" * 50_000, '{"schema_version": 1e999}'])
def test_documents_that_are_none(here, text):
    (here / "bad.json").write_text(text)
    assert validate("--build-context", "bad.json") == 1
    assert set(rules(here)) == {"contract.build-context"}
    assert validate("--build-context", "missing.json") == 1
    assert document(here)["findings"][0]["message"] == "there is no file 'missing.json'"


def test_a_chip(here, capsys):
    (here / "op/k.asc").write_text(KERNEL.replace("__vector__", "__mix__(1, 2)"))
    assert validate("--target-chip", "ascend-310p") == 1
    block = document(here)["metadata"]["compat"]
    assert (block["overall_verdict"], block["target_chip_known"]) == ("incompatible", True)
    assert block["recorded_cann_versions"] == ["9.1.0"]
    assert {"mix", "sk-bind"} <= set(block["applicable_source_backed_fields"])

    assert validate("--target-chip", "ascend-310p", "--target-cann", "7.0.0") == 0
    block = document(here)["metadata"]["compat"]
    assert (block["overall_verdict"], block["applicable_source_backed_fields"]) == ("not-verified", [])

    capsys.readouterr()
    assert validate("--target-chip", "ascend-910c") == 0
    assert document(here)["metadata"]["compat"]["target_chip_known"] is False
    said = capsys.readouterr().err
    assert "nothing is known of the chip 'ascend-910c'" in said
    assert "ascend-910b (Atlas A2)" in said


def test_settings(here):
    (here / "op/k.asc").write_text(WRONG)
    (here / "v.yaml").write_text("severity: {sk.args-struct-required: note}\n")
    assert validate("--settings", "v.yaml") == 0
    assert document(here)["findings"][0]["severity"] == "note"


OWN_RULE = """
from skrules.findings import Severity
from skrules.validate.rule import Rule
def check(subject):
    {body}
RULE = Rule(id="own.rule", severity=Severity.WARNING, category="sk", title="t", explanation="e", source="s", bad="b", good="g",
            check=check)
"""


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("raise ValueError('no')", "own.py:5: the rule 'own.rule' fails: ValueError: no"),
        ("yield 1 / 0", "own.py:5: the rule 'own.rule' fails: ZeroDivisionError: division by zero"),
        ("raise SystemExit(0)", "own.py:5: the rule 'own.rule' fails: SystemExit: 0"),
        ("return check(subject)", "own.py:5: the rule 'own.rule' fails: RecursionError: maximum recursion depth exceeded"),
        ("return None", "own.py: the rule 'own.rule' fails: TypeError: 'NoneType' object is not iterable"),
        ("return ['wrong']", "own.py: the rule 'own.rule' gives 'wrong', which is no finding"),
    ],
)
def test_faults_of_a_rule_of_ones_own_are_told_as_that(here, capsys, body, said):
    (here / "own.py").write_text(OWN_RULE.format(body=body))
    (here / "v.yaml").write_text("rules: [own.py]\n")
    assert validate("--settings", "v.yaml") == 2
    assert said in capsys.readouterr().err
    assert not (here / "out" / DOCUMENT).exists()


def test_a_rule_that_ends_python_when_it_is_loaded(here, capsys):
    (here / "own.py").write_text("raise SystemExit(0)")
    (here / "v.yaml").write_text("rules: [own.py]\n")
    assert validate("--settings", "v.yaml") == 2
    assert "own.py: the rule cannot be loaded: SystemExit: 0" in capsys.readouterr().err


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_a_file_that_no_rule_can_read_is_not_right(here, encoding):
    text = WRONG if encoding == "utf-16" else f"\ufeff{WRONG}"
    (here / "op/k.asc").write_bytes(text.encode(encoding))
    assert validate() == 1
    (finding,) = document(here)["findings"]
    assert (finding["rule_id"], finding["severity"], finding["file"]) == ("validate.spec-pack-error", "blocker", "k.asc")


def test_a_name_that_is_no_text(here):
    (here / "op/k.asc").unlink()
    (here / "op" / os.fsdecode(b"\xff\xfe.asc")).write_text(WRONG)
    assert validate("--format", "github") == 1
    assert document(here)["findings"][0]["file"] == "\udcff\udcfe.asc"
    assert b"\\udcff\\udcfe.asc:3:" in (here / "out/operator-validation-report.md").read_bytes()


def test_list_rule_pack(capsys):
    assert main(["list-rule-pack", "--rule-pack", "spec"]) == 0
    listed = json.loads(capsys.readouterr().out)["rules"]
    assert len(listed) == 9
    assert listed[0].keys() == {"id", "severity", "description"}
    assert main(["list-rule-pack", "--rule-pack", "compat"]) == 0
    chips = {chip["id"]: chip for chip in json.loads(capsys.readouterr().out)["chips"]}
    assert chips["ascend-910b"]["sk_bind"] == "supported"
    assert chips["ascend-310p"]["mix"] == "not-supported"
    assert "aclrtSetGroup" in chips["ascend-910b"]["unsupported_acl_functions"]


def test_explain(capsys):
    assert main(["explain", "sk.bind-max-splits"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("sk.bind-max-splits: ")
    assert "https://gitcode.com/cann/asc-devkit/" in said
    assert "skrules: allow(sk.bind-max-splits)" in said
    assert main(["explain", "codegen.local-static"]) == 0
    assert capsys.readouterr().out.startswith("codegen.local-static\n")
    assert main(["explain", "sk.bind-max-split"]) == 2
    assert "did you mean 'sk.bind-max-splits'?" in capsys.readouterr().err
