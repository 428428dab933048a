"""Causes in words, and what they come from."""

from __future__ import annotations

from skrules.engine.why import Cause, roots, traced

CONTRACT = Cause(kind="contract", what="a.yaml", how="changed")
SOURCE = Cause(kind="source", what="a.asc", how="changed")
GENERATED = Cause(kind="generated", what="gen.asc", how="changed")


def test_a_cause_in_words():
    assert str(CONTRACT) == "contract a.yaml changed"
    assert str(Cause(kind="compiler", what="", how="changed")) == "compiler changed"


def test_a_made_file_is_traced_through_any_number_of_steps():
    (second,) = traced([GENERATED], {"gen.asc": (CONTRACT, SOURCE)})
    assert str(second) == "generated gen.asc changed <- contract a.yaml changed, source a.asc changed"
    (third,) = traced([Cause(kind="object", what="a.o", how="changed")], {"a.o": (second, SOURCE)})
    assert str(third) == "object a.o changed <- contract a.yaml changed, source a.asc changed"
    assert roots((third, CONTRACT)) == ("contract a.yaml changed", "source a.asc changed")


def test_what_nobody_made_stays_as_it_is():
    assert traced([SOURCE], {"gen.asc": (CONTRACT,)}) == (SOURCE,)
