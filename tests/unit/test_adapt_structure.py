"""Brackets and `#if` branches of the tokens that mean something."""

from __future__ import annotations

import pytest

from skrules.adapt.structure import Structure, exclusive, finding, structure, tokens_in
from skrules.source import read
from skrules.source.model import Span


def code_of(text: str) -> Structure:
    return structure(read(text.encode(), "k.asc").tokens)


def test_brackets_match_through_comments_and_branches() -> None:
    code = code_of("f(a[1], /* ( */ {})\n#if A\n(\n#else\n(\n#endif\n")
    assert not code.balanced
    assert [(code.text(at), code.text(other)) for at, other in enumerate(code.partner) if other > at] == [
        ("(", ")"),
        ("[", "]"),
        ("{", "}"),
    ]
    assert code_of("{\n#if A\n(x)\n#else\n[y]\n#endif\n}").balanced


@pytest.mark.parametrize("text", ["(", ")", "(]", "#if A\n", "{\n#if A\n}\n#else\n}\n#endif\n"])
def test_what_is_not_balanced(text: str) -> None:
    assert not code_of(text).balanced


def test_branches() -> None:
    code = code_of("a\n#if A\nb\n#ifdef B\nc\n#endif\n#elif C\nd\n#else\ne\n#endif\nf")
    at = {name: code.branches[code.texts.index(name)] for name in "abcdef"}
    assert (at["a"], at["f"]) == ((), ())
    assert [branch.index for name in "bde" for branch in at[name]] == [0, 1, 2]
    assert at["d"][0].lines == ("#if A", "#elif C")
    assert at["c"][0] == at["b"][0]
    assert exclusive(at["c"], at["d"])
    assert not exclusive(at["b"], at["c"])
    assert not exclusive(at["a"], at["d"])


def test_outside_of_the_code_is_empty() -> None:
    code = code_of("a")
    assert (code.text(-1), code.text(1), code.is_name(-1), code.is_name(0)) == ("", "", False, True)


def test_tokens_and_findings_at_their_place() -> None:
    unit = read(b"int a;\n  int b;\n", "k.asc")
    assert [token.text for token in tokens_in(unit, Span(start=9, end=15)) if token.text.strip()] == ["int", "b", ";"]
    at = finding(unit, 13, "rule", "said").at
    assert (at.file, at.line, at.column) == ("k.asc", 2, 7)
