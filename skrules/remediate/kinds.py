"""The kinds of fixes there are. A new kind is a class with a test, and a line here."""

from __future__ import annotations

from skrules.remediate.add_include import AddInclude
from skrules.remediate.kind import Kind
from skrules.remediate.remove_line import RemoveLineContaining
from skrules.remediate.rename_symbol import RenameSymbol
from skrules.remediate.replace_pattern import ReplacePattern

_ALL: tuple[Kind, ...] = (RenameSymbol(), RemoveLineContaining(), AddInclude(), ReplacePattern())


def kinds() -> dict[str, Kind]:
    """Return the kinds by their published names."""
    return {kind.name: kind for kind in _ALL}
