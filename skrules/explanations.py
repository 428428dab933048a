"""What findings of reading and adaptation mean, for people: the table `explanations.yaml`, and its page in the reference."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import yaml

from skrules import resources

_AREAS = {"source": "Reading a source", "codegen": "Adapting a kernel"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """`why` a finding is told, and what `settles` it: sentences in Markdown."""

    rule: str
    why: str
    settles: str


def load_explanations() -> Mapping[str, Explanation]:
    """Return what is known of every finding that reading and adaptation can give, by its id."""
    table = yaml.safe_load((resources.package() / "explanations.yaml").read_text(encoding="utf-8"))
    return {rule: Explanation(rule=rule, why=texts["why"], settles=texts["settles"]) for rule, texts in table.items()}


def render_page(explanations: Iterable[Explanation]) -> str:
    """Return the reference page of these findings, in Markdown."""
    lines = [
        "# Findings of reading and adaptation",
        "",
        "A finding has its place in your files, what is wrong there and, where it can, the lines that would settle it. This page",
        "says why each is told. `skrules explain ID` prints the same.",
    ]
    area = ""
    for each in sorted(explanations, key=lambda each: (list(_AREAS).index(each.rule.split(".")[0]), each.rule)):
        if (title := _AREAS[each.rule.split(".")[0]]) != area:
            area = title
            lines += ["", f"## {area}"]
        lines += ["", f"### {each.rule}", "", each.why, "", f"**Settled by:** {each.settles}"]
    return "\n".join([*lines, ""])
