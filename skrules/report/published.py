"""The envelope and the findings of the public tool, with the place of each finding added.

Fields: schema_version, skill_source, stage, iteration_index, findings, and metadata where there is any; of a finding
finding_id, rule_id, severity, category, actionable_by, remediation_hint, evidence, message.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from skrules.errors import Location, UsageError
from skrules.findings import Finding, Fix, Severity
from skrules.report.rules import Rules, category_of

SCHEMA_VERSION = 1
REMEDIATION = "codegen.apply-remediation"  # who acts on a finding that can be settled by a program
_HUMAN = "human-decision"
_FIX = {"kind": "kind", "target_file": "file", "old_value": "old_value", "new_value": "new_value", "digest": "digest"}
_SLUG = re.compile(r"[^A-Za-z0-9_.-]")


def envelope(
    findings: Sequence[Finding],
    rules: Rules,
    *,
    source: str = "operator-validate",
    stage: str = "post-adapt",
    iteration: int = 0,
    metadata: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the document of `findings`. `source` is the tool that found them, in the words of the public ones."""
    document: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "skill_source": source,
        "stage": stage,
        "iteration_index": iteration,
        "findings": [
            published(finding, name, category_of(finding.rule, rules))
            for finding, name in zip(findings, finding_ids(findings, rules), strict=True)
        ],
    }
    return document | ({"metadata": dict(metadata)} if metadata else {})


def read_envelope(data: bytes, shown: str) -> tuple[Finding, ...]:
    """Return the findings of a document; `shown` names it in messages. Raises UsageError for what is none.

    Documents of the public tool have no places: their findings are about the file of their fix, or about none.
    """
    at = Location(file=shown)
    return tuple(_finding(item, f"findings[{index}]", at) for index, item in enumerate(read_items(data, shown)))


def read_items(data: bytes, shown: str) -> list[Any]:
    """Return what stands in the list of a document, whatever it is. Raises UsageError where there is no such list."""
    at = Location(file=shown)
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"not JSON: {error}", at=at) from None
    items = document.get("findings") if isinstance(document, dict) else None
    if not isinstance(items, list):
        hint = "scons validate, or skrules validate-operator, writes such a file"
        raise UsageError("no object with a list 'findings'", at=at, hint=hint)
    return items


def _finding(item: Any, name: str, at: Location) -> Finding:
    if not isinstance(item, dict) or not isinstance(item.get("rule_id"), str) or not isinstance(item.get("message"), str):
        raise UsageError(f"{name} is no finding: it has no rule_id, or no message", at=at)
    if item.get("severity") not in list(Severity):
        raise UsageError(f"{name}: unknown severity '{item.get('severity')}'", at=at, allowed=list(Severity))
    hint = item.get("remediation_hint")
    fix = None
    actors = item.get("actionable_by")
    if isinstance(hint, dict) and isinstance(actors, list) and REMEDIATION in actors:
        texts = {key: hint[key] if isinstance(hint.get(key), str) else "" for key in _FIX}
        fix = Fix(**{field: texts[key] for key, field in _FIX.items()})
    line, column = (value if type(value) is int else 0 for value in (item.get("line"), item.get("column")))
    file = item.get("file") or (fix.file if fix else "")
    return Finding(
        rule=item["rule_id"],
        severity=Severity(item["severity"]),
        at=Location(file=file if isinstance(file, str) else "", line=line, column=column),
        message=item["message"],
        hint=item["hint"] if isinstance(item.get("hint"), str) else "",
        fix=fix,
    )


def published(finding: Finding, name: str, category: str) -> dict[str, Any]:
    """Return one finding with the published fields first; `name` is its `finding_id`."""
    fix = finding.fix
    places = [f"file={finding.at.file}", f"line={finding.at.line}", f"column={finding.at.column}"]
    return {
        "finding_id": name,
        "rule_id": finding.rule,
        "severity": str(finding.severity),
        "category": category,
        "actionable_by": [REMEDIATION if fix else "human"],
        "remediation_hint": fix.to_json() if fix else {"kind": _HUMAN, "text": finding.hint},
        "evidence": [finding.message] if category == "contract" else places,
        "message": finding.message,
        "file": finding.at.file,
        "line": finding.at.line,
        "column": finding.at.column,
        "hint": finding.hint,
    }


def finding_ids(findings: Sequence[Finding], rules: Rules) -> list[str]:
    """Return the published id of each finding: its rule, and a digest of rule, file, location and what it is about.

    A finding keeps its id when lines are added above it. The location is therefore no line: it is empty for the first
    finding of one rule about one thing in a file, and counts those after it. Findings of contracts are named by their message.
    """
    seen: Counter[str] = Counter()
    names = []
    for finding in findings:
        category = category_of(finding.rule, rules)
        about = (finding.fix.old_value or finding.fix.new_value) if finding.fix else finding.message
        seen[f"{finding.rule}|{finding.at.file}|{about}"] += 1
        count = seen[f"{finding.rule}|{finding.at.file}|{about}"]
        location = str(count) if count > 1 else ""
        if category == "contract":
            end = _SLUG.sub("_", finding.message).strip("._-")[:48] or "item"
            names.append(f"{finding.rule}:{end}{location and '.' + location}")
            continue
        words = (finding.rule, finding.at.file, *(() if category == "compat" and not location else (location,)), about)
        digest = hashlib.sha1("|".join(words).encode("utf-8", "backslashreplace"), usedforsecurity=False).hexdigest()
        names.append(f"{finding.rule}:{digest[:12]}")
    return names
