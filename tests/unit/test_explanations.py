"""Every finding of reading and adaptation is explained, and nothing else is."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from skrules.explanations import load_explanations, render_page

PACKAGE = Path(__file__).parents[2] / "skrules"
PAGE = PACKAGE.parent / "docs" / "explanations.md"
# Where an id is written without its area, because all findings there are of one.
SHORT = ("contract/check.py", "contract/parameters.py", "binding/wrapper.py", "aclgraph/host.py")
ROOMS = ("source", "contract", "adapt", "binding", "aclgraph", "commands", "rules")


def _words(file):
    return {
        node.value
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def told():
    """Return the ids of findings that stand in the code."""
    found = set()
    for file in (file for room in ROOMS for file in (PACKAGE / room).rglob("*.py")):
        found |= {word for word in _words(file) if re.fullmatch(r"(source|codegen)\.[a-z]+(-[a-z0-9]+)*", word)}
    return found - {"codegen.apply-remediation"}  # who acts on a finding, in the public tool's words


def test_every_finding_that_the_code_gives_is_explained():
    assert told() <= set(load_explanations())


def test_nothing_is_explained_that_the_code_does_not_give():
    short = {f"codegen.{word}" for name in SHORT for word in _words(PACKAGE / name)}
    assert set(load_explanations()) <= told() | short


def test_findings_without_their_area_are_explained():
    known = {rule.split(".", 1)[1] for rule in load_explanations()}
    for name in SHORT:
        tree = ast.parse((PACKAGE / name).read_text())
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            called = getattr(call.func, "id", getattr(call.func, "attr", ""))
            if called in ("_blocker", "add"):
                ids = [word.value for word in call.args if isinstance(word, ast.Constant) and isinstance(word.value, str)]
                ids = [word for word in ids if re.fullmatch(r"[a-z]+(-[a-z0-9]+)+", word)]
                assert not ids or ids[0] in known, f"{name}:{call.lineno}"


def test_the_page_says_what_the_table_says(check_golden):
    check_golden(PAGE, render_page(load_explanations().values()).encode())
