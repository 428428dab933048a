"""The guide page on validation: its commands, its settings, its comments and its rule are what the product takes."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from skrules.cli import main
from skrules.findings import Severity
from skrules.rules.request import read_request
from skrules.source.kernels import read
from skrules.validate.registry import load_rules, rule_named
from skrules.validate.settings import load_settings
from skrules.validate.subject import Subject, SubjectFile
from skrules.validate.suppression import read_suppressions

PAGE = (Path(__file__).parents[2] / "docs" / "validation.md").read_text()
RULES = load_rules()


def block(beginning: str) -> str:
    """Return the indented block that begins so."""
    match = re.search(rf"^    {re.escape(beginning)}.*\n(?:(?:    .*)?\n)*?(?=\S)", PAGE, re.M)
    assert match, beginning
    return re.sub("^    ", "", match[0], flags=re.M)


@pytest.mark.parametrize("line", re.findall(r"^    scons (.*?)(?: *#.*)?$", PAGE, re.M))
def test_its_builds(line):
    words = [word for word in line.split() if not word.startswith("-")]
    assert read_request(words, {}).verbs == ("validate",)


@pytest.mark.parametrize("line", re.findall(r"^    skrules (.*)$", PAGE, re.M))
def test_its_commands(line, tmp_path, monkeypatch, capsys):
    (tmp_path / "kernels/scale").mkdir(parents=True)
    kernel = '#include "kernel_operator.h"\n__global__ __vector__ void scale(GM_ADDR x) { Scale(x); }\n'
    (tmp_path / "kernels/scale/scale.asc").write_text(kernel)
    monkeypatch.chdir(tmp_path)
    assert main(shlex.split(line)) == 0
    capsys.readouterr()


def test_its_settings():
    settings = load_settings(block("severity:").encode(), "validate.yaml")
    settings.check([rule.id for rule in RULES])
    assert settings.severity == {"sk.raw-block-variable": Severity.BLOCKER, "includes.kernel-operator-h": None}
    assert settings.baseline == "validate-baseline.json"
    assert settings.rules == ("tools/no_printf.py",)


def test_its_comments():
    found = read_suppressions(read(block("SK_BIND(").encode(), "a.asc"))
    assert [each.line for each in found] == [1, 4]
    assert all(each.reason for each in found)
    assert {name for each in found for name in each.rules} <= {rule.id for rule in RULES}


def test_its_rule(tmp_path, monkeypatch, capsys):
    (tmp_path / "SConstruct").write_text('Workspace(packages=["ops"], validate="validate.yaml")\n')
    (tmp_path / "validate.yaml").write_text("rules: [no_printf.py]\n")
    (tmp_path / "no_printf.py").write_text(block("from skrules.findings"))
    (tmp_path / "ops").mkdir()
    monkeypatch.chdir(tmp_path / "ops")
    own = rule_named("team.no-printf", load_rules([tmp_path / "no_printf.py"]))
    for text, lines in ((own.bad, [1]), (own.good, []), ("void f() {\n    PRINTF(1);\n}\n", [2])):
        file = SubjectFile(unit=read(text.encode(), "a.asc"), is_header=False)
        assert [finding.at.line for finding in own.check(Subject(files=(file,)))] == lines

    assert main(["explain", "team.no-printf"]) == 0
    assert capsys.readouterr().out.startswith("team.no-printf: no kernel prints\n")
    assert main(["explain", "team.no-print"]) == 2
    assert "did you mean 'team.no-printf'?" in capsys.readouterr().err


@pytest.mark.parametrize("name", re.findall(r"`((?:sk|allow|includes|compat)\.[a-z-]+)`|explain ([a-z.-]+)", PAGE))
def test_its_rules_exist(name):
    assert rule_named("".join(name), RULES)
