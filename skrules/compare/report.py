"""Verdicts for people, for machines (JSON) and for CI (JUnit XML)."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterable
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from skrules.compare.difference import BitDifference, NumberDifference
from skrules.compare.verdict import NO_REFERENCE, CaseVerdict, Evidence, Status, TensorVerdict, Verdict

SCHEMA_VERSION = 1
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_json(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict as plain data with stable keys. Numbers that JSON does not have are texts: "nan", "inf"."""
    return {
        "schema_version": SCHEMA_VERSION,
        "label": verdict.label,
        "arch": verdict.arch,
        "status": str(verdict.status),
        "reference": verdict.reference,
        "seconds": round(verdict.seconds, 3),
        "messages": list(verdict.messages),
        "left_out": list(verdict.left_out),
        "cases": [_plain(dataclasses.asdict(case)) for case in verdict.cases],
    }


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return str(value) if isinstance(value, Status) else value


def from_json(data: dict[str, Any]) -> Verdict:
    """Return the verdict that `to_json` wrote. Raises ValueError for data of another version."""
    if data.get("schema_version") != SCHEMA_VERSION:
        raise ValueError(f"a verdict of version {data.get('schema_version')}")
    cases = tuple(_case(case) for case in data["cases"])
    messages, left_out = tuple(data["messages"]), tuple(data.get("left_out", ()))
    return Verdict(
        label=data["label"], arch=data["arch"], seconds=data["seconds"], cases=cases, messages=messages, left_out=left_out
    )


def _case(data: dict[str, Any]) -> CaseVerdict:
    tensors = tuple(
        TensorVerdict(
            tensor=each["tensor"],
            dtype=each["dtype"],
            bits=_bits(each["bits"]),
            numbers=tuple(map(_numbers, each["numbers"])),
        )
        for each in data["tensors"]
    )
    changed = {
        "status": Status(data["status"]),
        "tensors": tensors,
        "evidence": Evidence(**data["evidence"]),
        "messages": tuple(data["messages"]),
        "notes": tuple(data["notes"]),
    }
    return CaseVerdict(**{**data, **changed})


def _numbers(data: dict[str, Any]) -> NumberDifference:
    errors = {key: float(data[key]) for key in ("max_abs_error", "max_rel_error")}
    return NumberDifference(**{**data, **errors, "index": _index(data["index"])})


def _bits(data: dict[str, Any]) -> BitDifference:
    return BitDifference(**{**data, **{key: _index(data[key]) for key in ("index", "unwritten_index")}})


def _index(value: list[int] | None) -> tuple[int, ...] | None:
    return None if value is None else tuple(value)


def detail(verdict: Verdict) -> str:
    """Return the figures of a verdict in a few words: "in 0.4s (3 cases; max abs err 0)"."""
    count = sum(1 for case in verdict.cases if case.case)
    facts = [f"{count} case{'' if count == 1 else 's'}"]
    if verdict.left_out:
        facts.append(f"{len(verdict.left_out)} left out")
    if verdict.max_abs_error is not None:
        facts.append(f"max abs err {verdict.max_abs_error:.3g}")
    if any(NO_REFERENCE in case.notes for case in verdict.cases):
        facts.append("no reference")
    return f"in {verdict.seconds:.1f}s ({'; '.join(facts)})"


def human_lines(verdict: Verdict) -> list[str]:
    """Return the lines for the terminal: one that says it all, and below it what failed, was skipped or is worth knowing."""
    word = {Status.PASSED: "PASSED", Status.FAILED: "FAILED"}.get(verdict.status, "SKIPPED")
    messages = [*verdict.messages, *(message for case in verdict.cases for message in case.messages)]
    notes = dict.fromkeys([*verdict.left_out, *(note for case in verdict.cases for note in case.notes)])
    return [
        f"{verdict.label} {verdict.arch} {word} {detail(verdict)}",
        *(f"  {line}" for message in messages for line in message.splitlines()),
        *(f"  note: {note}" for note in notes),
    ]


def junit(verdicts: Iterable[Verdict]) -> str:
    """Return JUnit XML: one test suite for each operator and arch, one test case for each case."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', "<testsuites>"]
    for verdict in verdicts:
        lines += _suite(verdict)
    return "\n".join([*lines, "</testsuites>"]) + "\n"


def _suite(verdict: Verdict) -> list[str]:
    cases = list(verdict.cases)
    if verdict.messages or not cases:
        # What concerns the whole run still needs a place: suites without a test case count as good in most readers.
        status = Status.FAILED if verdict.messages else Status.INSUFFICIENT
        cases.insert(0, CaseVerdict(case="run", entry="", status=status, messages=verdict.messages, notes=("there is no case",)))
    failures = sum(case.status is Status.FAILED for case in cases)
    skipped = sum(case.status in (Status.NO_NPU, Status.INSUFFICIENT) for case in cases)
    lines = [
        f'  <testsuite name={_attribute(f"{verdict.label} {verdict.arch}")} tests="{len(cases)}" '
        f'failures="{failures}" errors="0" skipped="{skipped}" time="{verdict.seconds:.3f}">'
    ]
    for case in cases:
        name = case.case or f"{case.entry}: no case"
        head = f"    <testcase classname={_attribute(f'{verdict.label}.{verdict.arch}')} name={_attribute(name)}"
        if case.status is Status.PASSED:
            lines.append(f"{head}/>")
            continue
        lines.append(f"{head}>")
        if case.status is Status.FAILED:
            first = case.messages[0].splitlines()[0] if case.messages else "failed"
            lines.append(f"      <failure message={_attribute(first)}>{_content(chr(10).join(case.messages))}</failure>")
        else:
            lines.append(f"      <skipped message={_attribute('; '.join([str(case.status), *case.notes]))}/>")
        lines.append("    </testcase>")
    return [*lines, "  </testsuite>"]


def _attribute(text: str) -> str:
    return quoteattr(_NOT_XML.sub("\ufffd", text))


def _content(text: str) -> str:
    return escape(_NOT_XML.sub("\ufffd", text))
