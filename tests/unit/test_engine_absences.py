"""What a compiler asks for in vain, or would read if it were there."""

from __future__ import annotations

import pytest

from skrules.engine.absences import absences, nearest_folders


def ask(root, text, *, come=()):
    (root / "ops/a").mkdir(parents=True, exist_ok=True)
    (root / "ops/a/a.asc").write_text(text)
    return absences(["ops/a/a.asc", "gone.h"], root, ["near"], ["inc"], has_come=lambda name: name in come)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('#include "x.h"', ("ops/a/x.h", "near/x.h", "inc/x.h")),
        ("#  include_next<x/y.h>", ("inc/x/y.h",)),
        ('#if defined(A) && __has_include ( "../b/x.h" )', ("ops/b/x.h", "b/x.h")),
        ("#if __has_include(<x.h>) || __has_include_next(<y.h>)", ("inc/x.h", "inc/y.h")),
        ('#include "/usr/x.h"', ()),
        ('#include "../../../x.h"', ()),
        ("#if __has_include(NAME)", ()),
        ('const char *text = "x.h";', ()),
    ],
)
def test_names_and_places(tmp_path, text, names):
    assert ask(tmp_path, text) == names


def test_what_is_there(tmp_path):
    (tmp_path / "near").mkdir()
    (tmp_path / "near/x.h").write_text("")
    assert ask(tmp_path, '#include "x.h"') == ()
    assert ask(tmp_path, '#include "x.h"', come=["near/x.h"]) == ("ops/a/x.h", "near/x.h")
    assert ask(tmp_path, '#if __has_include("x.h")') == ("ops/a/x.h", "near/x.h")


def test_a_place_that_is_not_there_yet_is_seen_from_above(tmp_path):
    (tmp_path / "ops/a").mkdir(parents=True)
    assert nearest_folders(tmp_path, ["ops/a", "ops/b/c", "x", ""]) == ("ops/a", "ops", ".")
