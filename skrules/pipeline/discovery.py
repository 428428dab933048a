"""Finds the assets below a folder: as a list in it says or, without one, by what lies where."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skrules.commands.asset import SUFFIXES, read_asset
from skrules.commands.files import read_object
from skrules.errors import Location, UsageError, did_you_mean
from skrules.pipeline.operators import CASES, CONTRACTS
from skrules.rules.declaration import FILE_NAME, read_package

LISTS = ("operator-assets.json", "sk-operator-assets.json")
LAYOUT_REQUIRED = "asset-layout-required"
_KEYS = ("default_include", "include", "excluded", "exclude", "schema_version")
#: Folders of results and of runs, which the public tool passes over too.
PASSED_OVER = frozenset(
    {"op_verify", "run", "runs", "input", "output", "outputs", "build", "build_out", "kernel_template", "__pycache__"}
)
_PARTS = ("op_kernel", "csrc", "src", "kernel")
_OWN_FILES = frozenset({FILE_NAME, CASES, *CONTRACTS, "operator-sk-template-manifest.json", "operator-sk-runtime-fixture.json"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    path: Path
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovered:
    """What one root holds: folders of operators in order, and folders that look like one and are none."""

    assets: tuple[Path, ...]
    skipped: tuple[Skipped, ...]


def discover(root: Path, leave_out: Path) -> Discovered:
    """Find the assets below `root`. Raises UsageError for a root that is no folder, or a list that is wrong."""
    if not root.is_dir():
        raise UsageError(f"--asset-root: there is no folder '{root}'")
    listed = [root / name for name in LISTS if (root / name).is_file()]
    if len(listed) > 1:
        raise UsageError(f"{root} has {' and '.join(path.name for path in listed)}", hint="keep one of them")
    if listed:
        return _listed(root, listed[0])
    assets: list[Path] = []
    skipped: list[Skipped] = []
    for folder in _walk(root, leave_out.resolve(), assets):
        names = {path.name for path in folder.iterdir() if path.is_file()}
        if _is_asset(folder, names):
            assets.append(folder)
        elif folder.name not in _PARTS and any(name.endswith(SUFFIXES) for name in names):
            skipped.append(Skipped(path=folder, reason=LAYOUT_REQUIRED))
    return Discovered(assets=tuple(assets), skipped=tuple(skipped))


def _walk(folder: Path, leave_out: Path, assets: list[Path]) -> Iterator[Path]:
    """Yield folders, the outer ones first; what lies in one that turned out to be an asset is its own affair."""
    yield folder
    if folder in assets:
        return
    for child in sorted(path for path in folder.iterdir() if path.is_dir()):
        if child.name not in PASSED_OVER and not child.name.startswith(".") and child.resolve() != leave_out:
            yield from _walk(child, leave_out, assets)


def _is_asset(folder: Path, names: set[str]) -> bool:
    if FILE_NAME in names and any(target.rule == "operator" for target in read_package(folder.parent, folder.name)):
        return True
    if folder.name in _PARTS or FILE_NAME in names:
        return False
    own = any(name.endswith(SUFFIXES) for name in names) or bool(names & _OWN_FILES)
    if not own and not any((folder / part).is_dir() for part in _PARTS):
        return False
    try:
        return bool(read_asset(folder).sources)
    except UsageError:
        return False


def _listed(root: Path, path: Path) -> Discovered:
    at = Location(file=str(path))
    document = read_object(path)
    for key in document:
        if key not in _KEYS:
            raise UsageError(f"unknown key '{key}'", at=at, allowed=_KEYS, hint=did_you_mean(key, _KEYS))
    include, exclude = (_either(document, pair, at) for pair in (("default_include", "include"), ("excluded", "exclude")))
    left_out = {_inside(root, item["path"] if isinstance(item, dict) else item, at): item for item in exclude}
    assets = [folder for item in include if (folder := _inside(root, item, at)) not in left_out]
    missing = [folder for folder in assets if not folder.exists()]
    if missing:
        raise UsageError(f"there is no '{missing[0]}'", at=at)
    reasons = {folder: item.get("reason", "") if isinstance(item, dict) else "" for folder, item in left_out.items()}
    return Discovered(
        assets=tuple(dict.fromkeys(assets)),
        skipped=tuple(Skipped(path=folder, reason=str(reason) or "excluded") for folder, reason in reasons.items()),
    )


def _either(document: dict[str, Any], names: tuple[str, str], at: Location) -> list[Any]:
    given = [name for name in names if name in document]
    if len(given) > 1:
        raise UsageError(f"'{names[0]}' and '{names[1]}' mean the same", at=at, hint="keep one of them")
    items = document[given[0]] if given else []
    is_path = names[0] == "default_include"
    for item in items if isinstance(items, list) else [None]:
        named = isinstance(item, dict) and isinstance(item.get("path"), str) and item.keys() <= {"path", "reason"} and not is_path
        if not (isinstance(item, str) and item) and not named:
            what = "paths" if is_path else "paths, or objects with 'path' and 'reason'"
            raise UsageError(f"'{given[0]}' must be a list of {what}", at=at)
    return list(items)


def _inside(root: Path, name: str, at: Location) -> Path:
    path = Path(name)
    if path.is_absolute() or ".." in path.parts:
        raise UsageError(f"'{name}' leaves the folder", at=at)
    return root / path
