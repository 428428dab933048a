"""What a report says of a rule beside its findings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

# First words of rule ids that are no category themselves.
_CATEGORIES = {"compat": "compat", "contract": "contract", "codegen": "codegen", "source": "codegen"}


class RuleText(NamedTuple):
    """`title` is one line, `explanation` any number; `help` is how to settle it, or where that stands, with the https address.

    `category` is the published word: spec, compat, contract or codegen; "" leaves it to the rule's id.
    """

    title: str
    explanation: str = ""
    help: str = ""
    category: str = ""


Rules = Mapping[str, RuleText]


def category_of(rule: str, rules: Rules) -> str:
    """Return the category of a rule: what `rules` says, else what its id begins with; the rest is of the specification."""
    known = rules.get(rule)
    return known.category if known and known.category else _CATEGORIES.get(rule.partition(".")[0], "spec")
