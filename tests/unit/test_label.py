"""Labels and patterns."""

from __future__ import annotations

import pytest

from skrules.errors import UsageError
from skrules.label import Label, Pattern, is_name, parse_pattern

ADD = Label(package="ops/add_custom", name="add_custom")
OTHER = Label(package="ops/add_custom", name="other")
DEEP = Label(package="ops/math/mul", name="mul")


def test_a_label_is_short_when_its_name_is_that_of_its_folder():
    assert str(ADD) == "//ops/add_custom"
    assert str(OTHER) == "//ops/add_custom:other"


@pytest.mark.parametrize(
    ("text", "matched"),
    [
        ("ops/add_custom", [ADD, OTHER]),
        ("//ops/add_custom", [ADD, OTHER]),
        ("./ops/add_custom/", [ADD, OTHER]),
        ("//ops/add_custom:other", [OTHER]),
        ("//ops/add_custom:all", [ADD, OTHER]),
        ("//ops/...", [ADD, OTHER, DEEP]),
        ("ops/math/...", [DEEP]),
        ("//...", [ADD, OTHER, DEEP]),
        ("...", [ADD, OTHER, DEEP]),
        ("ops/add", []),
    ],
)
def test_patterns(text, matched):
    pattern = parse_pattern(text)
    assert [label for label in (ADD, OTHER, DEEP) if pattern.matches(label)] == matched


def test_a_pattern_is_plain_data():
    assert parse_pattern("ops/...") == Pattern(package="ops", recursive=True)


@pytest.mark.parametrize(
    "text", ["", "/", "//", "/abs/path", "../up", "ops/../x", "ops//x", "ops/add:", "ops/add:a b", "ops/...:x", "a:b:c", "ops/*"]
)
def test_what_is_no_label(text):
    with pytest.raises(UsageError) as caught:
        parse_pattern(text)
    assert caught.value.exit_code == 2
    assert "ops/add_custom" in str(caught.value)


def test_names_are_identifiers():
    assert is_name("add_custom")
    assert not is_name("add-custom")
    assert not is_name("9add")
    assert not is_name("")
    assert not is_name("add\n")
