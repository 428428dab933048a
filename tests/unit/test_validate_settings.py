"""What a workspace decides: severities, a baseline, rules of its own."""

from __future__ import annotations

import subprocess
import sys

import pytest

from skrules.errors import UsageError
from skrules.findings import Severity
from skrules.rules.place import declared_settings
from skrules.source.kernels import read
from skrules.validate.baseline import baseline_bytes, load_baseline
from skrules.validate.examination import examine
from skrules.validate.registry import load_rules
from skrules.validate.settings import DEFAULTS, Settings, load_settings
from skrules.validate.subject import Subject, SubjectFile

RULES = load_rules()
TEXT = """#include "kernel_operator.h"
__global__ __vector__ void scale(GM_ADDR x) { Scale(x); }
struct ScaleArgs { GM_ADDR x; };
__sk__ __vector__ void scale_sk(const ScaleArgs *args) { Scale(args->x); }
SK_BIND(scale, 32, scale_sk);
"""


def examined(text=TEXT, settings=DEFAULTS, baseline=frozenset()):
    unit = read(text.encode(), "a.asc")
    return examine(
        Subject(files=(SubjectFile(unit=unit, is_header=False),)), RULES, settings=settings, baseline=baseline, keyed=True
    )


def test_settings():
    settings = load_settings(b"severity: {sk.bind-mask-known: blocker, allow.unused: off}\nbaseline: known.json\n", "v.yaml")
    assert settings.severity == {"sk.bind-mask-known": Severity.BLOCKER, "allow.unused": None}
    assert settings.baseline == "known.json"
    settings.check([rule.id for rule in RULES])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("severety: {}", "did you mean 'severity'?"),
        ("severity: {sk.bind-mask-known: fatal}", "v.yaml:1:32"),
        ("severity: [sk.bind-mask-known]", "v.yaml:1:11"),
        ("baseline: /known.json", "v.yaml:1:11"),
        ("rules: mine.py", "v.yaml:1:8"),
        ("baseline: 3", "v.yaml:1:11"),
    ],
)
def test_settings_that_are_wrong(text, message):
    with pytest.raises(UsageError) as caught:
        load_settings(text.encode(), "v.yaml")
    assert message in str(caught.value)


def test_a_severity_of_no_rule():
    settings = load_settings(b"severity:\n  sk.bind-mask-knwon: off\n", "v.yaml")
    with pytest.raises(
        UsageError, match=r"v.yaml:2:3: there is no rule 'sk.bind-mask-knwon'\n  hint: did you mean 'sk.bind-mask-known'"
    ):
        settings.check([rule.id for rule in RULES])


@pytest.mark.parametrize("severity", [*Severity, None])
def test_the_severity_is_that_of_the_workspace(severity):
    found = examined(settings=Settings(severity={"sk.bind-mask-known": severity})).findings
    assert [finding.severity for finding in found] == ([severity] if severity else [])


def test_what_a_baseline_knows_is_not_told_however_the_lines_move():
    known = load_baseline(baseline_bytes(examined().keys), "b.json")
    assert len(known) == 1
    assert examined(baseline=known).findings == ()
    assert examined(baseline=known).known == 1
    moved = TEXT.replace("SK_BIND(scale, 32, scale_sk);", "\n// moved\n\n   SK_BIND( scale,32 , scale_sk ) ; // said")
    assert examined(moved, baseline=known).findings == ()


def test_what_is_new_is_told():
    known = frozenset(examined().keys)
    other = TEXT.replace("32", "64")
    assert [finding.rule for finding in examined(other, baseline=known).findings] == ["sk.bind-mask-known"]
    twice = TEXT + "SK_BIND(scale, 32, scale_sk);\n"
    assert [finding.at.line for finding in examined(twice, baseline=known).findings] == [6]


def test_a_baseline_is_the_same_bytes_for_the_same_findings():
    keys = examined(TEXT + "SK_BIND(scale, 64, scale_sk);\n").keys
    assert baseline_bytes(keys) == baseline_bytes(reversed(keys))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"schema_version": 2, "findings": []}',
        '{"schema_version": 1, "findings": {}}',
        '{"schema_version": 1, "findings": [{"rule": "a"}]}',
        '{"schema_version": 1, "findings": [{"rule": "a", "file": "b", "digest": "c", "occurrence": true}]}',
        "[" * 100_000,
    ],
)
def test_no_baseline(text):
    with pytest.raises(UsageError, match=r"^error: b\.json: "):
        load_baseline(text.encode(), "b.json")


RULE = """from skrules.findings import Severity
from skrules.validate.rule import Rule


def check(subject):
    for file in subject.files:
        for code, index in file.uses("PRINTF"):
            yield RULE.finding(file.at(code.tokens[index].start), "PRINTF stays in no kernel")


RULE = Rule(
    id="house.no-printf",
    severity=Severity.WARNING,
    category="sk",
    title="no PRINTF",
    explanation="It is slow.",
    source="the house",
    bad="void f() { PRINTF(); }",
    good="void f() {}",
    check=check,
)
"""


def test_a_rule_of_the_workspace(tmp_path):
    path = tmp_path / "no_printf.py"
    path.write_text(RULE)
    rules = load_rules([path])
    assert "house.no-printf" in [rule.id for rule in rules]
    unit = read(b"void f() { PRINTF(1); } // PRINTF\n", "a.h")
    found = examine(Subject(files=(SubjectFile(unit=unit, is_header=True),)), rules).findings
    assert [(finding.rule, finding.at.column) for finding in found] == [("house.no-printf", 12)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "must have a RULE"),
        ("RULE = 3", "must have a RULE"),
        ("import nothing_of_that_name", "cannot be loaded: ModuleNotFoundError"),
        ("(", "cannot be loaded: SyntaxError"),
        (RULE.replace("house.no-printf", "House"), "'House' is no id"),
        (RULE.replace("house.no-printf", "sk.bind-mask-known"), "is there already"),
        (RULE.replace('category="sk"', 'category="house"'), "unknown category 'house'"),
        (RULE.replace('source="the house"', 'source=" "'), "has no source"),
    ],
)
def test_a_rule_that_is_not_as_it_must_be(tmp_path, text, message):
    path = tmp_path / "own.py"
    path.write_text(text)
    with pytest.raises(UsageError) as caught:
        load_rules([path])
    assert message in str(caught.value)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        ("Workspace(packages=['ops'], validate='tools/validate.yaml')", "tools/validate.yaml"),
        ("Workspace(['ops'], 'validate.yaml')", "validate.yaml"),
        ("Workspace(['ops'])", ""),
        ("", ""),
        ("(", ""),
    ],
)
def test_commands_know_the_settings_that_the_sconstruct_names(tmp_path, text, settings):
    (tmp_path / "SConstruct").write_text(text)
    assert declared_settings(tmp_path) == settings


def test_settings_that_the_sconstruct_computes_are_not_passed_over(tmp_path):
    (tmp_path / "SConstruct").write_text("Workspace(['ops'], validate=NAME + '.yaml')")
    with pytest.raises(UsageError, match="SConstruct:1:29: the settings of validation are computed"):
        declared_settings(tmp_path)


def test_a_run_in_which_nothing_is_to_do_does_not_wait_for_the_rules():
    code = "import sys, skrules.scons.workspace; print(*sorted(name for name in sys.modules if name.startswith('skrules')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "skrules.scons.workspace" in done.stdout.split()
    assert not [
        name for name in done.stdout.split() if "validate" in name or name.startswith(("skrules.source", "skrules.report"))
    ]
