"""The one format of errors and their exit codes."""

from __future__ import annotations

import pytest

from skrules import errors
from skrules.errors import Location, UsageError, did_you_mean


def test_the_format():
    error = UsageError(
        "unknown key 'luanch'",
        at=Location(file="ops/add/contract.yaml", line=12, column=7),
        allowed=["launch", "compile"],
        hint=did_you_mean("luanch", ["launch", "compile"]),
        notes=["in entry add"],
    )
    assert str(error).splitlines() == [
        "error: ops/add/contract.yaml:12:7: unknown key 'luanch'",
        "  in entry add",
        "  allowed: launch, compile",
        "  hint: did you mean 'launch'?",
    ]


@pytest.mark.parametrize(
    ("family", "code"),
    [
        (errors.SkrulesError, 70),
        (errors.BuildError, 1),
        (errors.UsageError, 2),
        (errors.TestFailure, 3),
        (errors.ToolchainError, 4),
        (errors.NeedsHuman, 5),
    ],
)
def test_each_family_has_its_exit_code(family, code):
    assert family("x").exit_code == code


def test_locations():
    assert str(Location(file="a")) == "a"
    assert str(Location(file="a", line=3)) == "a:3"
    assert str(Location(file="a", line=3, column=9)) == "a:3:9"


def test_no_suggestion_when_nothing_is_close():
    assert did_you_mean("zzz", ["launch"]) == ""
