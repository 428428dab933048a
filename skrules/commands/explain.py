"""`skrules explain RULE`: why a finding is told, where that is known from, and what is right."""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections.abc import Iterable
from pathlib import Path

from skrules.arch_file import load_archs
from skrules.errors import UsageError
from skrules.explanations import Explanation, load_explanations
from skrules.rules.place import find_place
from skrules.rules.validate import Validation
from skrules.validate.registry import load_rules, rule_named
from skrules.validate.rule import Rule

_WIDTH = 100


def declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("rule", metavar="RULE", help="the id in a finding: sk.args-struct-alignas")


def run(options: argparse.Namespace) -> int:
    findings = load_explanations()
    if options.rule in findings:
        sys.stdout.write(told(findings[options.rule]))
    else:
        sys.stdout.write(explained(rule_named(options.rule, _rules(options.rule), others=findings)))
    return 0


def _rules(wanted: str) -> Iterable[Rule]:
    """Return the rules of skrules; with those of the workspace around the current folder where `wanted` is not among them."""
    rules = load_rules()
    if wanted in {rule.id for rule in rules}:
        return rules
    try:
        place = find_place(Path.cwd(), packages=("ops",))  # whichever they are: rules are not there
    except UsageError:
        return rules
    return Validation(place.root, place.settings, load_archs()).rules


def told(explanation: Explanation) -> str:
    """Return the page of one finding of reading or adaptation as text."""
    parts = (f"{explanation.rule}\n", textwrap.fill(explanation.why, _WIDTH), "", textwrap.fill(explanation.settles, _WIDTH))
    return "\n".join([*parts, ""])


def explained(rule: Rule) -> str:
    """Return the page of one rule as text."""
    parts = [
        f"{rule.id}: {rule.title}\n",
        f"severity: {rule.severity}, category: {rule.category}\n",
        textwrap.fill(rule.explanation, _WIDTH) + "\n",
        f"source: {rule.source}\n",
        "wrong:\n\n" + textwrap.indent(rule.bad, "    "),
        "right:\n\n" + textwrap.indent(rule.good, "    "),
        f"to allow it at one place, with the reason:\n\n    // skrules: allow({rule.id}) why it is right here\n",
    ]
    return "\n".join(parts if not rule.id.startswith("allow.") else parts[:-1])
