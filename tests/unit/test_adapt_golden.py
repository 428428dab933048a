"""Whole files through the adaptation: `NAME.in.asc` with `NAME.yaml` gives `NAME.asc`, byte for byte."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from skrules.adapt.adaptation import AdaptedSource, adapt
from skrules.contract.check import resolve
from skrules.contract.load import load
from skrules.findings import blockers
from skrules.source.kernels import read
from skrules.source.model import SourceUnit

GOLDEN = Path(__file__).parents[1] / "golden" / "adapt"
CASES = sorted(path.name.removesuffix(".in.asc") for path in GOLDEN.glob("*.in.asc"))
_BLOCK = re.compile(rb"(?:\r\n|\n)// skrules: SuperKernel binding of .*?// skrules: end of [^\r\n]*(?:\r\n|\n)", re.DOTALL)
_INCLUDE = re.compile(rb'#include "kernel_operator.h"  // added by skrules(?:\r\n|\n)')
_MARKER = re.compile(rb'#line (\d+) "([^"\r\n]*)"(?:\r\n|\n)')


def adapted(case: str) -> AdaptedSource:
    data = (GOLDEN / f"{case}.in.asc").read_bytes()
    contract = load((GOLDEN / f"{case}.yaml").read_bytes(), f"{case}.yaml")
    unit = read(data, f"ops/{case}/{case}.asc")
    return adapt(unit, resolve(unit, contract))


def original_preserved(unit: SourceUnit, text: bytes) -> bool:
    """Tell whether the file is the original once the generated fragments, found by their own marks, are taken out."""
    return _INCLUDE.sub(b"", _BLOCK.sub(b"", text)) == unit.text.encode("latin-1")


@pytest.mark.parametrize("case", CASES)
def test_golden(case: str, check_golden: Callable[[Path, bytes], None]) -> None:
    source = adapted(case)
    assert not blockers(source.findings)
    assert source.status == "completed"
    check_golden(GOLDEN / f"{case}.asc", source.text())


@pytest.mark.parametrize("case", CASES)
def test_original_bytes_stay(case: str) -> None:
    source = adapted(case)
    assert original_preserved(source.unit, source.text())


@pytest.mark.parametrize("case", CASES)
def test_line_markers_name_every_line(case: str) -> None:
    """Follow the markers like a compiler: original lines must keep their number and name, generated ones name their file."""
    source = adapted(case)
    original = source.unit.text.encode("latin-1").splitlines(keepends=True)
    marked = source.text(line_markers=True, generated="gen/out.asc").removeprefix(b"\xef\xbb\xbf").splitlines(keepends=True)
    assert b"".join(line for line in marked if not _MARKER.fullmatch(line)) == source.text().removeprefix(b"\xef\xbb\xbf")
    seen: list[int] = []
    name, number = b"", 0
    for physical, line in enumerate(marked, start=1):
        marker = _MARKER.fullmatch(line)
        if marker:
            number, name = int(marker[1]), marker[2]
            assert name in (b"gen/out.asc", source.unit.path.encode())
            assert name != b"gen/out.asc" or number == physical + 1
            continue
        if name == source.unit.path.encode() and b"added by skrules" not in line:
            assert (
                original[number - 1].removeprefix(b"\xef\xbb\xbf").strip().endswith(line.strip())
                or line.strip() in original[number - 1]
            )
            seen.append(number)
        number += 1
    assert set(seen) == set(range(1, len(original) + 1))


def test_adaptation_is_deterministic() -> None:
    assert [adapted(case).text() for case in CASES] == [adapted(case).text() for case in CASES]
