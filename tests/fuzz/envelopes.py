"""Files of findings for `skrules report-findings`: an error with the file's name, or a report in every format."""

from __future__ import annotations

import json

from hypothesis import strategies as st

from skrules.errors import Location, UsageError
from skrules.findings import Finding, Fix, Severity
from skrules.report.formats import FORMATS, Report, render
from skrules.report.published import read_envelope
from tests.fuzz.findings import schema
from tests.fuzz.mutations import mutated

_GOOD = render(
    [
        Finding(
            rule="sk.a",
            severity=Severity.BLOCKER,
            at=Location(file="a.asc", line=3, column=4),
            message="wrong",
            hint="do it",
            fix=Fix(kind="rename-symbol", file="a.asc", old_value="x", new_value="y"),
        ),
        Finding(rule="contract.b", severity=Severity.NOTE, at=Location(file="b.asc"), message="核"),
    ],
    "json",
    Report(),
).encode()

INPUTS = mutated([_GOOD]) | st.binary(max_size=100)


def check(data: bytes) -> str:
    """Read one file and tell what is in it."""
    try:
        findings = read_envelope(data, "found.json")
    except UsageError as error:
        assert str(error).startswith("error: found.json: "), error
        return "refused"
    made = {name: render(findings, name, Report()) for name in FORMATS}
    assert len(json.loads(made["json"])["findings"]) == len(findings)
    assert not list(schema().iter_errors(json.loads(made["sarif"])))
    assert read_envelope(made["json"].encode(), "again.json") == findings
    return "read"
