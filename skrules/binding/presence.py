"""Kernels under an `#if`: whether one is in a build is known only where it stands, so a macro defined there tells the rest.

The condition itself cannot be asked again at the end of the file: an include guard, for one, is defined by then.
"""

from __future__ import annotations

from collections.abc import Sequence

from skrules.adapt.draft import identity
from skrules.adapt.splice import Fragment, after_kernel
from skrules.contract.entry import Entry
from skrules.source.model import SourceUnit, Span, printable


def marker_of(entry: Entry) -> str:
    """Return the macro that is defined where the entry's kernel is compiled, "" for a kernel under no condition."""
    return f"SKRULES_KERNEL_{entry.name}" if entry.kernel.conditions else ""


def absence_of(entry: Entry) -> str:
    """Say why the entry has no kernel in a build that does not define its marker."""
    conditions = " and ".join(f"'{printable(text)}'" for text in entry.kernel.conditions)
    return f"its kernel stands under {conditions}, which does not hold in this build"


def presence_marks(unit: SourceUnit, entries: Sequence[Entry]) -> tuple[Fragment, ...]:
    """Return what defines the markers of `entries`: one line behind each definition of a conditional kernel."""
    return tuple(
        Fragment(span=Span(start=at, end=at), text=f"{unit.newline}#define {marker_of(entry)} 1{unit.newline}")
        for entry in entries
        if marker_of(entry)
        for kernel in unit.kernels
        if identity(kernel) == identity(entry.kernel)
        for at in (after_kernel(unit, kernel),)
    )
