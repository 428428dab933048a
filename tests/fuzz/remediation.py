"""Findings files for `skrules apply-remediation`: an error, or files that are whole; nothing outside, nothing left to do."""

from __future__ import annotations

import contextlib
import io
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from unittest import mock

from hypothesis import strategies as st

from skrules.cli import main
from skrules.errors import SkrulesError
from skrules.remediate import replace_pattern
from skrules.remediate.document import read_requests
from skrules.remediate.remediation import remediate
from tests.fuzz.mutations import mutated

_SOURCE = (
    b'// licence\n\n#pragma once\n#include "a.h" // skBlockNum\n#if A\n#include <b>\n#endif\n#define A(x) x + \\\n  skBlockNum\n'
    b'/* skBlockNum\n */\nstatic int n(int skBlockNum) { return "skBlockNum" + skBlockNum; }\n// sk-arch: dav-2201\n'
)
_FILES = st.sampled_from(
    ("a.asc", "sub/b.h", "./a.asc", "link.asc", "out.asc", "../outside.asc", "missing", "sub", "folder/outside.asc", "/etc/hosts")
)
_OLD = st.sampled_from(
    (
        *("skBlockNum", "A", "x", "", " ", "int", "#endif", "licence", "sk-arch: dav-2201", "{", "//"),
        *("(a+)+$", "(", ".", "^", r"\b", r"(\w+) "),
    )
)
_NEW = st.sampled_from(
    (
        *("skNumBlocks", "A", "x", "", '#include "k.h"', "#include <b>", "核", "sk-arch: dav-3510", "}"),
        *(r"\1 \1", r"\2", r"\q", r"\g<0>\g<0>"),
    )
)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
_HINT = st.fixed_dictionaries(
    {
        "kind": st.sampled_from(["rename-symbol", "remove-line-containing", "add-include", "replace-pattern", "other"]),
        "target_file": _FILES | st.text(max_size=10) | _JSON,
    },
    optional={
        "old_value": _OLD | st.text(max_size=6) | _JSON,
        "new_value": _NEW | st.text(max_size=6) | _JSON,
        "digest": st.just("0" * 64) | _JSON,
    },
)
_FINDING = st.fixed_dictionaries(
    {"actionable_by": st.just(["codegen.apply-remediation"]) | _JSON, "remediation_hint": _HINT | _JSON},
    optional={"finding_id": st.text(max_size=5) | _JSON},
)
_GOOD = json.dumps(
    {
        "findings": [
            {
                "finding_id": "a:1",
                "actionable_by": ["codegen.apply-remediation"],
                "remediation_hint": {"kind": kind, "target_file": file, "old_value": old, "new_value": new},
            }
            for kind, file, old, new in (
                ("rename-symbol", "a.asc", "skBlockNum", "skNumBlocks"),
                ("replace-pattern", "sub/b.h", "sk-arch: dav-2201", "sk-arch: dav-3510"),
                ("add-include", "a.asc", "", '#include "k.h"'),
            )
        ]
    }
).encode()
_DOCUMENT = st.builds(lambda findings: json.dumps({"findings": findings}).encode(), st.lists(_FINDING, max_size=5)) | mutated(
    [_GOOD]
)
INPUTS = st.tuples(mutated([_SOURCE]), mutated([_SOURCE]), _DOCUMENT)


def check(given: tuple[bytes, bytes, bytes]) -> str:
    """Apply one findings file to a tree with two sources and links; return what became of it."""
    first, second, document = given
    with tempfile.TemporaryDirectory() as name, mock.patch.object(replace_pattern, "_SECONDS", 0.1):
        place = Path(name)
        tree = _make(place, first, second)
        before = _contents(place)
        expected = before | _expected(tree, document)
        status, said = _run(place)
        assert status in (0, 1, 2), said
        assert _contents(place) == expected, "other bytes than those of a dry run"
        if status == 2:
            assert expected == before, said
            assert said.startswith("error: ")
            return "refused"
        report = json.loads((place / "report" / "operator-sk-remediation.json").read_bytes())
        assert (status == 1) == (report["summary"]["failed"] > 0)
        again, said = _run(place)
        assert "fixed: " not in said, said
        assert again == status or again == 1
        assert _contents(place) == expected, "a second run has found something to do"
        return "edited" if expected != before else "left alone"


def _make(place: Path, first: bytes, second: bytes) -> Path:
    tree = place / "tree"
    (tree / "sub").mkdir(parents=True)
    (tree / "a.asc").write_bytes(first)
    (tree / "sub" / "b.h").write_bytes(second)
    (place / "outside.asc").write_bytes(_SOURCE)
    (tree / "link.asc").symlink_to("sub/b.h")
    (tree / "out.asc").symlink_to("../outside.asc")
    (tree / "folder").symlink_to("..")
    return tree


def _expected(tree: Path, document: bytes) -> Mapping[str, Any]:
    (tree.parent / "findings.json").write_bytes(document)
    try:
        requests = read_requests(document, "findings.json")
    except SkrulesError:
        return {}
    changes = remediate(tree, requests, dry_run=True).changes
    return {f"tree/{change.file}": change.after for change in changes}


def _run(place: Path) -> tuple[int, str]:
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        status = main(
            ["apply-remediation", str(place / "tree"), str(place / "findings.json"), "--output-dir", str(place / "report")]
        )
    return status, said.getvalue()


def _contents(place: Path) -> dict[str, Any]:
    """Return every file below a folder: its bytes, or where a link leads. What the command reports, and reads, is left out."""
    found: dict[str, Any] = {}
    for here, below, names in os.walk(place):
        for name in (*below, *names):
            path = Path(here) / name
            key = path.relative_to(place).as_posix()
            if path.is_symlink():
                found[key] = str(path.readlink())
            elif path.is_file() and key != "findings.json" and not key.startswith("report/"):
                found[key] = path.read_bytes()
    return found
