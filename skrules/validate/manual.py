"""The reference page of the rules, from their own table."""

from __future__ import annotations

from collections.abc import Sequence

from skrules.validate.registry import address_of
from skrules.validate.rule import Rule

_PACKS = {
    "spec": (
        "What the programming guide demands",
        "The nine rules of the published tool, under its ids and severities. They are about SK code that is written by hand; "
        "what `scons` generates has them right.",
    ),
    "sk": (
        "Right alone, wrong in a super kernel",
        "Code that compiles and passes its tests as a kernel of its own, and hangs, is wrong or slow in a super kernel; and the "
        "comments that allow exceptions.",
    ),
    "compat": (
        "What a product has",
        "Facts of the official documentation, each with its page, in `toolchains/compat.yaml`. What no page speaks of is not "
        "verified, and nothing is said of it.",
    ),
    "contract": (
        "Documents beside an asset",
        "For `skrules validate-operator --layout`, `--build-context` and `--verify-context`. The contract of an operator is "
        "checked by whoever reads it, see [its page](contract.md).",
    ),
}


def render_rules(rules: Sequence[Rule]) -> str:
    """Return the page as Markdown: a table of all rules, then each with its examples."""
    lines = ["# Rules", "", "What `scons validate` and `skrules validate-operator` ask about an operator.", ""]
    lines += ["| rule | severity | |", "| --- | --- | --- |"]
    ordered = [rule for category in _PACKS for rule in rules if rule.category == category]
    lines += [f"| [`{rule.id}`](#{_anchor(rule.id)}) | {rule.severity} | {_cell(rule.title)} |" for rule in ordered]
    for category, (title, introduction) in _PACKS.items():
        lines += ["", f"## {title}", "", introduction]
        for rule in rules:
            if rule.category == category:
                lines += _section(rule)
    return "\n".join([*lines, ""])


def _section(rule: Rule) -> list[str]:
    address = address_of(rule)
    source = rule.source.removesuffix(rule.source[rule.source.index("https://") :]).rstrip(": ") if address else rule.source
    shown = f"[{source}]({address})" if address else source
    language = "json" if rule.category == "contract" else "cpp"
    lines = ["", f"### {rule.id}", "", f"{rule.severity}: {rule.title}.", "", rule.explanation, "", f"Source: {shown}."]
    for word, example in (("Wrong", rule.bad), ("Right", rule.good)):
        lines += ["", f"{word}:", "", f"```{language}", example.rstrip("\n"), "```"]
    return lines


def _anchor(name: str) -> str:
    """Return the anchor that Markdown makes of a heading."""
    return name.replace(".", "")


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
