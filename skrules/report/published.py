"""The envelope and the findings of the public tool, with the place of each finding added.

Fields: schema_version, skill_source, stage, iteration_index, findings, and metadata where there is any; of a finding
finding_id, rule_id, severity, category, actionable_by, remediation_hint, evidence, message.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from skrules.findings import Finding
from skrules.report.rules import Rules, category_of

SCHEMA_VERSION = 1
REMEDIATION = "codegen.apply-remediation"  # who acts on a finding that can be settled by a program
_HUMAN = "human-decision"
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
