"""Brackets and `#if` branches of the tokens that mean something, and text with canonical blanks."""

from __future__ import annotations

import time

import pytest

from skrules.source.code import Code, code_of, join
from skrules.source.matching import exclusive
from skrules.source.tokens import tokenize


def code(text: str) -> Code:
    return code_of(tokenize(text))


def pairs(found: Code) -> list[str]:
    """Return what stands between the brackets of each pair, opening ones in order."""
    return ["".join(found.texts[at + 1 : other]) for at, other in sorted(found.pairs.items()) if other > at]


def test_brackets_match_through_comments_and_branches() -> None:
    found = code("f(a[1], /* ( */ {})\n#if A\n(\n#else\n(\n#endif\n")
    assert not found.balanced
    assert [(found.text(at), found.text(found.partner(at))) for at in range(len(found)) if found.partner(at) > at] == [
        ("(", ")"),
        ("[", "]"),
        ("{", "}"),
    ]
    assert code("{\n#if A\n(x)\n#else\n[y]\n#endif\n}").balanced


def test_angles_are_brackets_only_as_arguments() -> None:
    assert pairs(code("f<a<b>>(c);")) == ["a<b>", "b", "c"]
    assert pairs(code("k<<<1, 2>>>(c);")) == ["1,2", "c"]
    assert pairs(code("a < b; c > d;")) == []
    found = code("f<a>(b)")
    assert (found.pairs[1], found.partner(1), found.partner(4)) == (3, -1, 6)


def test_what_only_one_branch_closes_has_no_partner() -> None:
    found = code("#if A\nif (a) {\n#else\nif (b) {\n#endif\n}\n{}")
    opening = found.texts.index("{")
    assert not found.balanced
    assert (found.text(found.pairs[opening]), found.partner(opening)) == ("}", -1)
    assert found.partner(len(found) - 2) == len(found) - 1


@pytest.mark.parametrize("text", ["(", ")", "(]", "{(}", "#if A\n", "{\n#if A\n}\n#else\n}\n#endif\n", "#if 0\n}\n#endif"])
def test_what_is_not_balanced(text: str) -> None:
    assert not code(text).balanced


def test_a_hidden_branch_is_matched_on_its_own() -> None:
    found = code("{\n#if 0\n} f(a)\n#endif\n}")
    assert found.pairs[0] == len(found) - 1
    assert "a" in pairs(found)
    found = code("{\n#ifdef A\n#error no A\n}\n#else\n}\n#endif\n")
    assert found.text(found.pairs[0] - 1) == "#else"


def test_branches() -> None:
    found = code("a\n#if A\nb\n#ifdef B\nc\n#endif\n#elif C\nd\n#else\ne\n#endif\nf")
    at = {name: found.branches(found.texts.index(name)) for name in "abcdef"}
    assert (at["a"], at["f"]) == ((), ())
    assert [branch.index for name in "bde" for branch in at[name]] == [0, 1, 2]
    assert at["d"][0].lines == ("#if A", "#elif C")
    assert at["c"][0] == at["b"][0]
    assert exclusive(at["c"], at["d"])
    assert not exclusive(at["b"], at["c"])
    assert not exclusive(at["a"], at["d"])


def test_outside_of_the_code_is_empty() -> None:
    found = code("a")
    assert (found.text(-1), found.text(1), found.kind(1)) == ("", "", None)
    assert (found.is_identifier(-1), found.is_identifier(0), found.partner(-1), found.branches(-1)) == (False, True, -1, ())
    assert (found.index(0), found.index(1)) == (0, 1)


def test_layouts_join_to_one_text() -> None:
    texts = {join(each, 0, len(each)) for each in map(code, ("const T<a>*p", "const  T < a > * p", "const/**/T<\na>* p"))}
    assert texts == {"const T<a>* p"}


@pytest.mark.parametrize(
    "text",
    [
        "#if A\n" * 20_000,
        "#if A\n" + "#elif B\n" * 20_000 + "#endif",
        "(" * 50_000 + "}" * 50_000,
        "f<" * 50_000 + ";",
        "#if 1\n{\n#else\n}\n#endif\n" * 5_000,
    ],
    ids=["deep", "wide", "crossed", "angles", "many"],
)
def test_the_time_is_linear(text: str) -> None:
    tokens = tokenize(text)
    start = time.process_time()
    code_of(tokens)
    assert time.process_time() - start < 3
