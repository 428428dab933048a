"""`skrules plan`: another name of `skrules intake`, which writes the plan too."""

from __future__ import annotations

from skrules.commands.intake import declare, run

__all__ = ["declare", "run"]
