"""`skrules report-findings`: files of findings, told in another format."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from skrules.commands.files import write_result
from skrules.engine.files import bytes_of
from skrules.errors import UsageError
from skrules.explanations import load_explanations
from skrules.report.formats import FORMATS, Report, render, write
from skrules.report.published import read_envelope
from skrules.report.rules import RuleText
from skrules.validate.registry import load_rules, rule_texts

_NAMES = ("findings.json", "findings.failed.json", "operator-validation-findings.json")


def declare(parser: argparse.ArgumentParser) -> None:
    what = "a file of findings, or a folder with such files, as build/host/validate"
    parser.add_argument("paths", type=Path, nargs="+", metavar="PATH", help=what)
    parser.add_argument("--format", choices=FORMATS, default="text", help="text (default), json, sarif or github")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write to this file instead of standard output")
    parser.add_argument("--root", type=Path, default=Path(), metavar="DIR", help="where the files of findings lie (.)")


def run(options: argparse.Namespace) -> int:
    files = list(dict.fromkeys(file for path in options.paths for file in _files(path)))
    findings = tuple(dict.fromkeys(finding for file in files for finding in read_envelope(bytes_of(file), str(file))))
    report = Report(root=options.root, rules={**_explained(), **rule_texts(load_rules())}, stage="validate")
    if options.output is None:
        write(findings, options.format, report, sys.stdout)
    else:
        text = render(findings, options.format, report)
        write_result(text.encode("utf-8", "backslashreplace"), options.output, files)
    return 0


def _explained() -> dict[str, RuleText]:
    """Return what reports say of the findings of reading and adaptation."""
    return {
        rule: RuleText(each.why.partition(". ")[0].rstrip("."), each.why, each.settles, "codegen")
        for rule, each in load_explanations().items()
    }


def _files(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    found = [Path(here) / name for here, _, names in os.walk(path) for name in names if name in _NAMES]
    if not found:
        raise UsageError(
            f"there are no findings below '{path}'", hint="scons validate, or skrules validate-operator, writes them"
        )
    yield from sorted(found)
