"""Digests of generators: every room they name exists, and an edit of any of its files shows."""

from __future__ import annotations

import re
import shutil

import pytest

from skrules import resources
from skrules.rules import context
from skrules.toolchain.fingerprint import digest_tree

ROOMS = sorted({*context._CODEGEN, *context._COMPARE})

# What codegen uses without being decided by its code: files are found and written the same, and what a declaration, a toolchain
# or a torch says of itself is among the inputs or in the key.
NOT_DECIDING = {
    *("compiled_shapes", "resources", "engine.absences", "engine.action", "engine.files"),
    *("rules.context", "rules.declaration", "rules.status", "toolchain", "toolchain.base", "toolchain.detect"),
}
IMPORT = re.compile(r"^ *(?:from skrules import (\w+)|(?:from|import) skrules\.([\w.]+))", re.MULTILINE)


def test_an_edit_of_whatever_code_decides_about_codegen_makes_it_run_again():
    package = resources.package()
    files = {path for pattern in context._code_of(context._CODEGEN) for path in package.glob(pattern)}
    rooms = {path.relative_to(package).with_suffix("").as_posix().replace("/", ".").removesuffix(".__init__") for path in files}
    used = {first or second for path in files for first, second in IMPORT.findall(path.read_text())}
    assert used - rooms == NOT_DECIDING


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
