"""Where operators come from: the workspaces that declare them, what these decide, and the folder that holds them all."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from skrules.engine.files import bytes_of
from skrules.errors import UsageError
from skrules.label import parse_pattern
from skrules.pipeline.operators import Operator
from skrules.rules.place import Place, find_place
from skrules.validate.settings import beside, load_settings


def _place_of(operator: Operator) -> Place | None:
    if not operator.is_declared:
        return None
    try:
        place = find_place(operator.folder, packages=(".",))
    except UsageError:
        return None
    return place if place.root != operator.folder else None


def workspace_of(operator: Operator) -> Path | None:
    """Return the root of the workspace that declares an operator, to which its options are relative; None for others."""
    place = _place_of(operator)
    return place.root if place else None


def settings_of(operators: Sequence[Operator], base: Path) -> tuple[str, dict[str, Path]]:
    """Return the file of what the operators' workspace decides about rules, or "", and copies of it and what it names.

    Raises UsageError where they are of several workspaces, whose decisions cannot all be followed at once.
    """
    places = [_place_of(operator) for operator in operators]
    deciding = next((place for place in places if place and place.settings), None)
    if deciding is None:
        return "", {}
    if deciding.root != base or any(place is None or place.root != base for place in places):
        raise UsageError(
            f"{deciding.root / deciding.settings} decides about rules for some of the operators only",
            hint="take operators of different workspaces in runs of their own",
        )
    path = base / deciding.settings
    settings = load_settings(bytes_of(path), deciding.settings)
    named = [path, *(beside(path, name) for name in (settings.baseline, *settings.rules) if name)]
    return deciding.settings, {each.relative_to(base).as_posix(): each for each in named}


def base_of(operators: Sequence[Operator], headers: Sequence[Path]) -> Path:
    """Return the folder that stands for the root of the workspace: all that is copied lies in folders of it.

    It is that of the operators' own workspace; for others the one above the folder that holds them all, so that labels have
    its name, as long as labels can.
    """
    workspaces = [workspace_of(operator) for operator in operators]
    roots = [root for root in workspaces if root is not None]
    loose = [operator.folder.parent for operator, root in zip(operators, workspaces, strict=True) if root is None]
    loose += [path.parent for path in headers if not any(path.is_relative_to(root) for root in roots)]
    if loose:
        shared = Path(os.path.commonpath(loose))
        roots.append(shared.parent if _is_segment(shared.name) else shared)
    return Path(os.path.commonpath(roots))


def _is_segment(name: str) -> bool:
    try:
        parse_pattern(f"//{name}/x")
    except UsageError:
        return False
    return True
