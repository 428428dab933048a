"""Findings of an existing tree that are known: they are not told again, and new ones are.

A finding is known again by its rule, its file, what its line says and how many such lines come before it, never by the
number of the line: whatever is added above it, and however the line is laid out, it stays the same finding.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from skrules.errors import Location, UsageError
from skrules.findings import Finding
from skrules.source.model import SourceUnit

_VERSION = 1


class Known(NamedTuple):
    """What is remembered of a finding. `digest` is that of the tokens of its line, `occurrence` counts equal ones from 0."""

    rule: str
    file: str
    digest: str
    occurrence: int


def keys_of(findings: Iterable[Finding], units: Mapping[str, SourceUnit]) -> list[Known]:
    """Return what each finding is known by, in their order; `units` are the files that were read, by path."""
    lines: dict[str, dict[int, str]] = {}
    seen: Counter[tuple[str, str, str]] = Counter()
    keys = []
    for finding in findings:
        file = finding.at.file
        if file not in lines:
            lines[file] = _lines(units[file]) if file in units else {}
        # Of a file that is no C++, or of no line, the message says which finding it is.
        text = lines[file].get(finding.at.line) or finding.message
        digest = hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:16]
        keys.append(Known(finding.rule, file, digest, seen[finding.rule, file, digest]))
        seen[finding.rule, file, digest] += 1
    return keys


def _lines(unit: SourceUnit) -> dict[int, str]:
    """Return the tokens of code by the line on which they begin, comments and blanks left out."""
    found: dict[int, list[str]] = {}
    for token, text in zip(unit.code.tokens, unit.code.texts, strict=True):
        found.setdefault(unit.lines.position(token.start)[0], []).append(" ".join(text.split()))
    return {line: " ".join(texts) for line, texts in found.items()}


def load_baseline(data: bytes, path: str) -> frozenset[Known]:
    """Read a baseline. Raises UsageError for a file that is none."""
    at = Location(file=path)
    hint = "skrules write-baseline makes one"
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"not a baseline: {error}", at=at, hint=hint) from error
    items = document.get("findings") if isinstance(document, dict) else None
    if not isinstance(items, list) or document.get("schema_version") != _VERSION:
        raise UsageError(f"not a baseline of version {_VERSION}", at=at, hint=hint)
    return frozenset(_known(item, at) for item in items)


def _known(item: object, at: Location) -> Known:
    kinds = {"rule": str, "file": str, "digest": str, "occurrence": int}
    if not isinstance(item, dict) or item.keys() != kinds.keys() or any(type(item[key]) is not kinds[key] for key in kinds):
        raise UsageError(f"a finding of the baseline has other than {', '.join(kinds)}", at=at)
    return Known(**item)


def baseline_bytes(known: Iterable[Known]) -> bytes:
    """Return the file that holds these findings: the same bytes for the same findings, a line for each."""
    lines = ",\n".join(f"    {json.dumps(each._asdict())}" for each in sorted(set(known)))
    return f'{{\n  "schema_version": {_VERSION},\n  "findings": [\n{lines}\n  ]\n}}\n'.encode()
