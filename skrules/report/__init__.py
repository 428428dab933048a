"""Findings for people and for programs: text with the source, the published JSON, SARIF, annotations of GitHub."""

from __future__ import annotations

from skrules.report.formats import FORMATS, Report, render, write
from skrules.report.rules import RuleText

__all__ = ["FORMATS", "Report", "RuleText", "render", "write"]
