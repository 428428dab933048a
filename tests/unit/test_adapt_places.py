"""The tokens of a span, and findings at an offset."""

from __future__ import annotations

from skrules.adapt.places import finding, tokens_in
from skrules.source.kernels import read
from skrules.source.model import Span


def test_tokens_and_findings_at_their_place() -> None:
    unit = read(b"int a;\n  int b;\n", "k.asc")
    assert [token.text for token in tokens_in(unit, Span(start=9, end=15)) if token.text.strip()] == ["int", "b", ";"]
    at = finding(unit, 13, "rule", "said").at
    assert (at.file, at.line, at.column) == ("k.asc", 2, 7)


def test_what_is_wrong_in_a_macro_is_said_at_its_use() -> None:
    unit = read(b"#define K(n) __global__ __vector__ void n(GM_ADDR x) {}\n\nK(a)\n", "k.asc")
    expansion = unit.kernels[0].expansion
    assert expansion is not None
    assert (finding(expansion, 9, "rule", "said").at.line, finding(expansion, 9, "rule", "said").at.column) == (3, 1)
