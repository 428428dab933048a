"""Includes across packages that no dependency declares: right today, and wrong when the other package moves its header."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from skrules.label import Label
from skrules.rules.declaration import FILE_NAME
from skrules.rules.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Undeclared:
    """A header that `label` includes and that lies in another package, which no `deps` leads to."""

    label: str
    header: str
    package: str

    def __str__(self) -> str:
        return f'warning: {self.label} includes {self.header}, which no deps names\n    hint: deps=["//{self.package}"]'


def undeclared_includes(workspace: Workspace, label: str, read: Iterable[str]) -> tuple[Undeclared, ...]:
    """Return those of the files that the steps of `label` were seen to read that are another package's, and not declared."""
    package, _, name = label.removeprefix("//").partition(":")
    own = Label(package=package, name=name or package.rpartition("/")[2])
    if own not in workspace.targets:
        return ()
    declared = {each.package for each in _reached(workspace, own)}
    found = ((path, _package_of(path, workspace.root)) for path in dict.fromkeys(read))
    return tuple(Undeclared(label=label, header=path, package=other) for path, other in found if other and other not in declared)


def _reached(workspace: Workspace, label: Label) -> set[Label]:
    found: set[Label] = set()
    waiting = [label]
    while waiting:
        each = waiting.pop()
        if each not in found:
            found.add(each)
            waiting += workspace.targets[each].labels("deps")
    return found


def _package_of(path: str, root: Path) -> str:
    """Return the nearest package that a file lies in, or ""."""
    folder = posixpath.dirname(path)
    while folder and not (root / folder / FILE_NAME).is_file():
        folder = posixpath.dirname(folder)
    return folder
