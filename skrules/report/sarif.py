"""Findings as SARIF 2.1.0, the format of code scanning services and of viewers in editors.

Source: https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/sarif-v2.1.0-errata01-os-complete.html
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any
from urllib.parse import quote

from skrules.findings import Finding, Severity
from skrules.report.published import finding_ids
from skrules.report.rules import Rules, RuleText, category_of
from skrules.report.sources import Sources

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {Severity.BLOCKER: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}
_ADDRESS = re.compile(r"https://\S+")
# Services drop what they are told again when this is equal, wherever it has moved to.
_FINGERPRINT = "skrulesFindingId/v1"


def sarif_document(findings: Sequence[Finding], sources: Sources, rules: Rules) -> dict[str, Any]:
    """Return a log of one run. Columns are counted in characters; files are relative to the root of `sources` where they lie
    below it, with `%SRCROOT%` as their base.
    """
    order = list(dict.fromkeys(finding.rule for finding in findings))
    levels = {finding.rule: _LEVELS[finding.severity] for finding in reversed(findings)}
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "skrules",
                        "version": metadata.version("skrules"),
                        "rules": [_rule(rule, levels[rule], rules) for rule in order],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "originalUriBaseIds": {"%SRCROOT%": {"description": {"text": "The root of the workspace."}}},
                "results": [
                    _result(finding, name, order.index(finding.rule), sources)
                    for finding, name in zip(findings, finding_ids(findings, rules), strict=True)
                ],
            }
        ],
    }


def _rule(rule: str, level: str, rules: Rules) -> dict[str, Any]:
    """Return the descriptor of a rule. The three texts are what GitHub requires of one:
    https://docs.github.com/code-security/reference/code-scanning/sarif-files/sarif-support-for-code-scanning
    """
    text = rules.get(rule) or RuleText(rule)
    title = text.title or rule
    explanation = text.explanation or title
    document: dict[str, Any] = {
        "id": rule,
        "shortDescription": {"text": title},
        "fullDescription": {"text": explanation},
        "help": {"text": text.help or explanation},
        "defaultConfiguration": {"level": level},
        "properties": {"tags": [category_of(rule, rules)]},
    }
    address = _ADDRESS.search(text.help)
    return document | ({"helpUri": quote(address[0], safe="%/:?#[]@!$&'()*+,;=~")} if address else {})


def _result(finding: Finding, name: str, index: int, sources: Sources) -> dict[str, Any]:
    text = f"{finding.message}\n{finding.hint}" if finding.hint else finding.message
    place: dict[str, Any] = {"artifactLocation": artifact(finding.at.file, sources.root)}
    if finding.at.line > 0:
        column = sources.column(finding.at)
        place["region"] = {"startLine": finding.at.line} | ({"startColumn": column} if column > 0 else {})
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": index,
        "level": _LEVELS[finding.severity],
        "message": {"text": _without_surrogates(text)},
        "locations": [{"physicalLocation": place}],
        "partialFingerprints": {_FINGERPRINT: name},
    }
    return result | ({"properties": {"fix": finding.fix.to_json()}} if finding.fix else {})


def artifact(file: str, root: Path) -> dict[str, str]:
    """Return the location of a file. Its name may be any bytes but NUL: they are percent-encoded."""
    path = os.fspath(file)
    if posixpath.isabs(path):
        below = Path(path)
        if not below.is_relative_to(root.absolute()):
            return {"uri": "file://" + _quoted(path)}
        path = below.relative_to(root.absolute()).as_posix()
    path = posixpath.normpath(path)
    if path.split("/")[0] == "..":
        return {"uri": "file://" + _quoted(posixpath.normpath(posixpath.join(root.absolute().as_posix(), path)))}
    return {"uri": _quoted(path), "uriBaseId": "%SRCROOT%"}


def _quoted(path: str) -> str:
    try:
        return quote(path.encode("utf-8", "surrogateescape"))
    except UnicodeEncodeError:  # no name of a file has these
        return quote(path.encode("utf-8", "backslashreplace"))


def _without_surrogates(text: str) -> str:
    """Bytes of file names that are no text must not reach JSON, where most readers refuse them."""
    return text.encode("utf-8", "replace").decode()
