"""Comments that allow what a rule forbids. These have nothing to look at by themselves: which comment was needed, and by
whom, is known when all other rules have been asked (see `skrules.validate.examination`)."""

from __future__ import annotations

from collections.abc import Iterable

from skrules.findings import Finding
from skrules.validate.subject import Subject


def nothing(_subject: Subject) -> Iterable[Finding]:
    """The check of these rules."""
    return ()
