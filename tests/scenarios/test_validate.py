"""Rules in a build and beside it: a blocker ends one operator, findings are listed each time, settings decide."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

BOUND = """
struct ShiftArgs {
    GM_ADDR x;
    GM_ADDR y;
    float factor;
    uint32_t length;
    MEMBER
};
__sk__ __vector__ void shift_sk(const ShiftArgs *args) { Run(args->x, args->y, args->factor, args->length); }
SK_BIND(shift, 4, shift_sk);
"""
PLACE = "ops/shift/shift.asc"
ARCH = "ARCH=dav-2201"


@pytest.fixture
def workspace(bisheng_workspace):
    """The small workspace, whose operator `shift` is bound by hand."""
    path = bisheng_workspace.root / PLACE
    path.write_text(path.read_text() + BOUND)
    return bisheng_workspace


def member(workspace, text, old="MEMBER"):
    workspace.edit(PLACE, old, text)


def settings(workspace, text):
    (workspace.root / "validate.yaml").write_text(text)
    (workspace.root / "SConstruct").write_text(
        'from skrules.scons import Workspace\n\nWorkspace(packages=["ops"], validate="validate.yaml")\n'
    )


def skrules(workspace, *words):
    return subprocess.run(
        [sys.executable, "-c", "import sys; from skrules.cli import main; sys.exit(main())", *words],
        cwd=workspace.root,
        env=workspace.environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_a_blocker_ends_its_operator_and_no_other(workspace):
    member(workspace, "bool flag;")
    run = workspace.scons("-k", ARCH)
    assert run.status == 5
    assert "ops/shift/shift.asc:" in run.output
    assert "[sk.args-struct-alignas]" in run.output
    assert "ASC dav-2201 //ops/scale" in run.actions
    assert not any(action.startswith("ASC") and action.endswith("//ops/shift") for action in run.actions)

    member(workspace, "alignas(4) bool flag;", "bool flag;")
    assert workspace.scons(ARCH).actions == ["ADAPT //ops/shift", "ASC dav-2201 //ops/shift"]
    assert workspace.scons(ARCH).actions == []


def test_findings_are_listed_each_time_and_only_what_changed_is_looked_at(workspace):
    member(workspace, "// skrules: allow(sk.args-struct-alignas) there is none\n    uint32_t more;")
    first = workspace.scons("validate")
    assert first.status == 0
    assert first.actions == ["VALIDATE //ops/scale", "VALIDATE //ops/shift"]
    note = "nothing here is against sk.args-struct-alignas: the comment can go [allow.unused]"
    assert note in first.output

    again = workspace.scons("validate")
    assert (again.status, again.actions) == (0, [])
    assert note in again.output
    assert "nothing to do" in again.output

    document = json.loads((workspace.root / "build/bisheng/validate/ops/shift/findings.json").read_text())
    told = [(each["rule_id"], each["severity"], each["file"]) for each in document["findings"]]
    assert ("allow.unused", "note", PLACE) in told

    workspace.edit("ops/scale/scale.asc", "length", "length ")
    changed = workspace.scons("validate")
    assert changed.actions == ["VALIDATE //ops/scale"]
    assert note in changed.output


def test_a_blocker_in_the_list(workspace):
    member(workspace, "bool flag;")
    run = workspace.scons("validate", "-k")
    assert run.status == 5
    assert "[sk.args-struct-alignas]" in run.output
    folder = workspace.root / "build/bisheng/validate/ops/shift"
    assert sorted(path.name for path in folder.iterdir() if path.suffix == ".json") == ["findings.failed.json"]
    assert workspace.scons("validate", "-k").status == 5

    member(workspace, "alignas(4) bool flag;", "bool flag;")
    assert workspace.scons("validate").status == 0
    assert sorted(path.name for path in folder.iterdir() if path.suffix == ".json") == ["findings.json"]


def test_settings_decide_and_are_followed(workspace):
    member(workspace, "bool flag;")
    settings(workspace, "severity: {sk.args-struct-alignas: warning}\n")
    run = workspace.scons(ARCH)
    assert run.status == 0, run.output
    assert "warning: ops/shift/shift.asc:" in run.output
    assert workspace.scons(ARCH).actions == []

    settings(workspace, "severity: {sk.args-struct-alignas: off}\n")
    silent = workspace.scons(ARCH)
    assert silent.actions == ["ADAPT //ops/scale", "ADAPT //ops/shift"]  # and nothing is compiled again
    assert "sk.args-struct-alignas" not in silent.output

    settings(workspace, "severity: {sk.args-struct-align: off}\n")
    wrong = workspace.scons(ARCH)
    assert wrong.status == 2
    assert "validate.yaml:1:12: there is no rule 'sk.args-struct-align'" in wrong.output
    assert "did you mean 'sk.args-struct-alignas'?" in wrong.output


def test_a_baseline_knows_what_was_there(workspace):
    member(workspace, "bool flag;")
    settings(workspace, "baseline: known.json\n")
    missing = workspace.scons("validate")
    assert missing.status == 2
    assert "'known.json', which is not there" in missing.output

    written = skrules(workspace, "write-baseline")
    assert written.returncode == 0, written.stderr
    assert written.stdout.startswith("known.json: ")
    assert workspace.scons("validate").status == 0
    assert workspace.scons(ARCH).status == 0

    workspace.edit(PLACE, "\nstruct ShiftArgs", "\n\n// further down\nstruct ShiftArgs")
    assert workspace.scons("validate").status == 0
    member(workspace, "bool flag;\n    int8_t more;", "bool flag;")
    new = workspace.scons("validate", "-k")
    assert new.status == 5
    assert "'more' of ShiftArgs" in new.output
    assert "'flag' of ShiftArgs" not in new.output


RULE = """from skrules.findings import Severity
from skrules.validate.rule import Rule


def check(subject):
    for file in subject.files:
        for code, index in file.uses("shift_sk"):
            yield RULE.finding(file.at(code.tokens[index].start), "SAID")
            return


RULE = Rule(
    id="house.names",
    severity=Severity.WARNING,
    category="sk",
    title="names",
    explanation="So we agreed.",
    source="the house",
    bad="void shift_sk();",
    good="void f();",
    check=check,
)
"""


def test_a_rule_of_the_workspace_and_a_change_of_it(workspace):
    member(workspace, "")
    (workspace.root / "tools").mkdir()
    rule = workspace.root / "tools/names.py"
    rule.write_text(RULE.replace("SAID", "said once"))
    settings(workspace, "rules: [tools/names.py]\n")
    assert "said once [house.names]" in workspace.scons(ARCH).output
    assert workspace.scons(ARCH).actions == []
    rule.write_text(RULE.replace("SAID", "said twice"))
    changed = workspace.scons(ARCH)
    assert "said twice [house.names]" in changed.output
    assert changed.actions == ["ADAPT //ops/scale", "ADAPT //ops/shift"]
