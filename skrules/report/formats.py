"""The formats by name, and writing one of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from skrules.errors import UsageError, did_you_mean
from skrules.findings import Finding
from skrules.report.github import render_github
from skrules.report.published import envelope
from skrules.report.rules import Rules
from skrules.report.sources import Sources
from skrules.report.text import has_colour, render_text

FORMATS = ("text", "json", "sarif", "github")


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a report says beside its findings. `root` is the folder that their files are relative to; `rules` explains rules;
    `source`, `stage`, `iteration` and `metadata` are fields of the published envelope.
    """

    root: Path = Path()
    rules: Rules = field(default_factory=dict)
    source: str = "operator-validate"
    stage: str = "post-adapt"
    iteration: int = 0
    metadata: Mapping[str, Any] | None = None


def render(findings: Sequence[Finding], format_name: str, report: Report, *, colour: bool = False) -> str:
    """Return `findings` in a format of `FORMATS`. Never raises for what they hold; UsageError for another format."""
    sources = Sources(report.root)
    if format_name == "text":
        return render_text(findings, sources, colour=colour)
    if format_name == "github":
        return render_github(findings, sources)
    if format_name == "sarif":
        # Here and not above: a build that adapts imports this room, and would wait for the metadata of distributions.
        from skrules.report.sarif import sarif_document

        return _json(sarif_document(findings, sources, report.rules))
    if format_name == "json":
        return _json(
            envelope(
                findings,
                report.rules,
                source=report.source,
                stage=report.stage,
                iteration=report.iteration,
                metadata=report.metadata,
            )
        )
    raise UsageError(f"unknown format '{format_name}'", allowed=FORMATS, hint=did_you_mean(format_name, FORMATS))


def write(findings: Sequence[Finding], format_name: str, report: Report, stream: TextIO) -> None:
    """Write `findings` to `stream` in a format of `FORMATS`: `render`, with colours where the stream is a terminal."""
    text = render(findings, format_name, report, colour=format_name == "text" and has_colour(stream))
    # A finding may name a file that is no text, and a terminal may not have every sign: what is said matters more.
    encoding = getattr(stream, "encoding", None) or "utf-8"
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding))


def _json(document: Mapping[str, Any]) -> str:
    return json.dumps(document, indent=2) + "\n"
