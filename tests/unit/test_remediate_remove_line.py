"""`remove-line-containing` removes whole lines, unless that would change the meaning of others."""

from __future__ import annotations

import pytest

from skrules.findings import Fix
from skrules.remediate.kind import Refused
from skrules.remediate.remove_line import RemoveLineContaining


def without(text, old="KILL"):
    return RemoveLineContaining().apply(text, Fix(kind="remove-line-containing", file="a.asc", old_value=old))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a;\nKILL;\nb;\n", "a;\nb;\n"),
        ("KILL;\n", ""),
        ("a;\nKILL", "a;\n"),
        ("KILL;\nKILL2;\nb;", "b;"),
        ("a;\r\nKILL;\r\nb;\r\n", "a;\r\nb;\r\n"),
        ("a;\rKILL;\rb;\r", "a;\rb;\r"),
        ("// KILL\na;", "a;"),
        ("{ KILL; }\n", ""),
        ("/* a\n KILL\n b */\n", "/* a\n b */\n"),  # in the middle of a comment
        ("/* KILL\n*/ a;\n".replace("KILL\n", "KILL */\n/*"), "/**/ a;\n"),
        ("#define A \\\n KILL; \\\n b\n", "#define A \\\n b\n"),
        ("#if 1\nKILL\n#endif\n", "#if 1\n#endif\n"),
        ("a {\nKILL\n", "a {\n"),  # what matched no better before
    ],
)
def test_lines_go_with_their_ends(text, expected):
    assert without(text) == expected
    assert without(expected) == expected


def test_other_texts_stay():
    assert without("kill;\n") == "kill;\n"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("/* KILL\n*/ a;\n", "part_of_a_longer_token"),  # what was a comment would be code
        ("a; /*\nKILL */\nb;\n", "part_of_a_longer_token"),
        ("#define A KILL \\\n b\n", "part_of_a_longer_token"),
        ("#define A \\\n KILL\nb;\n", "part_of_a_longer_token"),
        ("// a \\\nKILL\nb;\n", "part_of_a_longer_token"),
        ('R"(a\nKILL)";\n', "part_of_a_longer_token"),
        ("f() { KILL\n}\n", "brackets_would_not_match"),
        ("#if KILL\n#endif\n", "brackets_would_not_match"),
    ],
)
def test_a_line_that_others_depend_on_stays(text, reason):
    with pytest.raises(Refused) as refused:
        without(text)
    assert refused.value.reason == reason


@pytest.mark.parametrize(
    ("old", "reason"),
    [
        ("", "missing_old_value"),
        (" ", "missing_old_value"),
        ("\n", "missing_old_value"),
        ("a\nb", "invalid_text"),
        ("\0a", "invalid_text"),
    ],
)
def test_what_is_in_every_line_or_in_none_is_refused(old, reason):
    with pytest.raises(Refused) as refused:
        without("a;\n", old)
    assert refused.value.reason == reason
