"""`replace-pattern` replaces matches once, and refuses expressions that no text is safe from."""

from __future__ import annotations

import time

import pytest

from skrules.findings import Fix
from skrules.remediate import replace_pattern
from skrules.remediate.kind import Refused
from skrules.remediate.replace_pattern import ReplacePattern


def replaced(text, old, new):
    return ReplacePattern().apply(text, Fix(kind="replace-pattern", file="a.asc", old_value=old, new_value=new))


@pytest.mark.parametrize(
    ("text", "old", "new", "expected"),
    [
        ("// sk-arch: A\n", "sk-arch: A", "sk-arch: B", "// sk-arch: B\n"),
        ("// sk-arch: a1\n", "sk-arch: a1", "sk-arch: a12", "// sk-arch: a12\n"),
        ("f(a, b); f(c, d);", r"f\((\w), (\w)\)", r"f(\2, \1, 0)", "f(b, a, 0); f(d, c, 0);"),
        ("x xx", "x", "yx", "yx yxyx"),
        ("a\r\nb", r"a\r\n", "", "b"),
        ("a", "b", "c", "a"),
    ],
)
def test_matches_are_replaced_and_not_once_more(text, old, new, expected):
    made = replaced(text, old, new)
    assert made == expected
    assert replaced(made, old, new) == made


def test_expressions_speak_of_characters():
    text = "核函数 x".encode().decode("latin-1")
    assert replaced(text, "^.{3} ", "") == "x"
    assert replaced(text, "[核]", "K") == "K" + "函数 x".encode().decode("latin-1")


def test_bytes_that_are_no_text_survive():
    assert replaced("\xc4\xe3 a", "a", "b") == "\xc4\xe3 b"


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("", "b", "missing_pattern"),
        (" ", "b", "missing_pattern"),
        ("a*", "b", "empty_match"),
        ("(?=a)", "b", "empty_match"),
        (r"\b", "b", "empty_match"),
        ("^", "b", "empty_match"),
        ("(", "b", "invalid_regex:"),
        ("a{99999999999999999999}", "b", "invalid_regex:"),
        ("a", r"\q", "invalid_replacement:"),
        ("a", r"\1", "invalid_replacement:"),
        ("a", r"\g<x>", "invalid_replacement:"),
        ("a", "\ud800", "invalid_text"),
        ("\ud800", "a", "invalid_text"),
    ],
)
def test_what_is_no_expression_or_matches_nothing_is_refused(old, new, reason):
    with pytest.raises(Refused) as refused:
        replaced("a b", old, new)
    assert refused.value.reason.startswith(reason)


def test_an_expression_that_never_ends_is_ended(monkeypatch):
    monkeypatch.setattr(replace_pattern, "_SECONDS", 0.2)
    started = time.monotonic()
    with pytest.raises(Refused) as refused:
        replaced("a" * 60 + "b", "(a+)+$", "c")
    assert refused.value.reason == "took_too_long"
    assert time.monotonic() - started < 5


def test_a_result_may_not_grow_without_bounds(monkeypatch):
    monkeypatch.setattr(replace_pattern, "_LARGEST", 1000)
    with pytest.raises(Refused) as refused:
        replaced("a" * 100, "a", "b" * 100)
    assert refused.value.reason == "result_too_large"
