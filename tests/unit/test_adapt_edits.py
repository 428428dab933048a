"""Edits of a text by offsets."""

from __future__ import annotations

import pytest

from skrules.adapt.edits import Edit, apply, indentation, line_start


def test_replacements_and_insertions() -> None:
    edits = [Edit(start=4, end=5, text="X"), Edit(start=0, end=2, text=""), Edit(start=6, end=6, text="!")]
    assert apply("abcdef", edits) == "cdXf!"
    assert apply("abcdef", [Edit(start=2, end=3, text="C")], 1, 4) == "bCd"
    assert apply("abc", []) == "abc"


def test_insertions_at_one_offset_come_by_order_then_text() -> None:
    edits = [Edit(start=1, end=1, order=1, text="a"), Edit(start=1, end=1, text="c"), Edit(start=1, end=1, text="b")]
    assert apply("-+", edits) == "-bca+"


def test_edits_that_overlap_are_an_error() -> None:
    with pytest.raises(AssertionError, match="offset 1"):
        apply("abc", [Edit(start=0, end=2, text=""), Edit(start=1, end=3, text="")])


def test_lines() -> None:
    text = "a\r\n \tb\rc"
    assert [line_start(text, offset) for offset in (0, 1, 4, 5, len(text))] == [0, 0, 3, 3, 7]
    assert (indentation(text, 5), indentation(text, 0), indentation(text, len(text))) == (" \t", "", "")
