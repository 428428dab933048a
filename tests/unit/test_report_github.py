"""Annotations of GitHub: workflow commands, one a line, that nothing in a finding can break out of."""

from __future__ import annotations

from pathlib import Path

import pytest

from skrules.errors import Location
from skrules.findings import Finding, Severity
from skrules.report.formats import Report, render


def line_of(root=Path(), **changes):
    values = {
        "rule": "sk.some-rule",
        "severity": Severity.BLOCKER,
        "at": Location(file="ops/a.asc", line=3, column=5),
        "message": "wrong",
    }
    return render([Finding(**values | changes)], "github", Report(root=root))


@pytest.mark.parametrize(
    ("severity", "command"), [(Severity.BLOCKER, "error"), (Severity.WARNING, "warning"), (Severity.NOTE, "notice")]
)
def test_severities_become_commands(severity, command):
    assert line_of(severity=severity) == f"::{command} file=ops/a.asc,line=3,col=5,title=sk.some-rule::wrong\n"


def test_a_finding_about_a_file_has_no_line():
    assert line_of(at=Location(file="a.asc")) == "::error file=a.asc,title=sk.some-rule::wrong\n"


def test_the_hint_follows_the_message():
    assert line_of(hint="do\nthis").endswith("::wrong%0Ado%0Athis\n")


def test_what_would_end_a_value_or_a_line_is_escaped():
    at = Location(file="a,b:c%d\r\n::x.asc", line=1)
    assert line_of(at=at, message="50% of\r\n::error::a, b: c") == (
        "::error file=a%2Cb%3Ac%25d%0D%0A%3A%3Ax.asc,line=1,title=sk.some-rule::50%25 of%0D%0A::error::a, b: c\n"
    )


def test_columns_count_characters(tmp_path):
    (tmp_path / "a.asc").write_text("核 x\n", encoding="utf-8")
    assert "col=3," in line_of(tmp_path, at=Location(file="a.asc", line=1, column=5))
