"""Digests of generators: every room they name exists, and an edit of any of its files shows."""

from __future__ import annotations

import shutil

import pytest

from skrules import resources
from skrules.rules import context
from skrules.toolchain.fingerprint import digest_tree

ROOMS = sorted({*context._CODEGEN, *context._COMPARE})


@pytest.mark.parametrize("room", ROOMS)
def test_every_room_has_code_and_an_edit_of_it_shows(room, tmp_path):
    found = [path for pattern in context._code_of([room]) for path in resources.package().glob(pattern)]
    assert found
    copy = tmp_path / "skrules"
    shutil.copytree(resources.package(), copy, ignore=shutil.ignore_patterns("__pycache__", "_data"))
    before = digest_tree(copy, context._code_of([room]))
    edited = copy / found[-1].relative_to(resources.package())
    edited.write_text(edited.read_text() + "\n# edited\n")
    assert digest_tree(copy, context._code_of([room])) != before
