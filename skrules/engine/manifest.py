"""What a finished build looked like on disk, so that the next one can see with `stat` alone what needs no second look.

A manifest belongs to one request and is written only after all of it succeeded. It has a table of files, a table of folders, and
groups (labels) that say which of them each label's results came from or consist of. Whatever a `stat` cannot vouch for is
looked at: a changed file makes its groups dirty, a change of what all share makes everything dirty. It only ever saves work;
a build without it comes to the same result.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from skrules.engine.digests import Known, is_racy, is_unchanged
from skrules.engine.files import write_atomically

_VERSION = 2
# What editors and Python leave beside sources says nothing about them.
_PASSING = ("__pycache__",)


class Folder(NamedTuple):
    """`names` is a digest of what a folder holds, `structure` one of its folders and of the files that declare packages.

    `time_ns` is when it last changed in any way; 0 when it could change once more and keep that time.
    """

    time_ns: int
    names: str
    structure: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The files and folders that a label depends on or consists of. `notes` is plain data for whoever made the group."""

    files: tuple[str, ...]
    folders: tuple[str, ...] = ()
    notes: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """`shared` concerns every group, `layout` are the folders in which packages are looked for. Paths are relative to the
    workspace, or absolute for what lies elsewhere."""

    files: Mapping[str, Known]
    folders: Mapping[str, Folder]
    shared: Group
    layout: tuple[str, ...]
    groups: Mapping[str, Group]


@dataclass(frozen=True, slots=True, kw_only=True)
class Freshness:
    """`is_whole` is false when nothing of the manifest can be relied on; `dirty` are the groups to look at otherwise."""

    is_whole: bool
    dirty: frozenset[str] = frozenset()


def look_at(path: Path, *, declares: str) -> Folder | None:
    """Return what is remembered of a folder, or None when there is none. `declares` is the name of files that declare."""
    try:
        looked_at = time.time_ns()
        found = path.stat()
        with os.scandir(path) as entries:
            listed = sorted((entry.name, entry.is_dir()) for entry in entries if not _is_passing(entry.name))
    except OSError:
        return None
    names = "\0".join(name for name, _ in listed)
    structure = "\0".join(name for name, is_folder in listed if is_folder or name == declares)
    racy = is_racy(found.st_mtime_ns, found.st_ctime_ns, looked_at)
    return Folder(0 if racy else found.st_ctime_ns, _digest(names), _digest(structure))


def compare(manifest: Manifest, root: Path, *, declares: str) -> Freshness:
    """Look at everything in the manifest once."""
    base = f"{root}/"
    changed = {
        path for path, known in manifest.files.items() if not is_unchanged(known, path if path[:1] == "/" else base + path)
    }
    names, structure = _changed_folders(manifest, root, declares)
    if changed.intersection(manifest.shared.files) or names.intersection(manifest.shared.folders):
        return Freshness(is_whole=False)
    if structure.intersection(manifest.layout):
        return Freshness(is_whole=False)
    if not changed and not names:
        return Freshness(is_whole=True)
    dirty = {
        label
        for label, group in manifest.groups.items()
        if not changed.isdisjoint(group.files) or not names.isdisjoint(group.folders)
    }
    return Freshness(is_whole=True, dirty=frozenset(dirty))


def _changed_folders(manifest: Manifest, root: Path, declares: str) -> tuple[set[str], set[str]]:
    """Return the folders that hold other names than before, and those with other packages or folders in them."""
    names, structure = set(), set()
    for path, known in manifest.folders.items():
        try:
            if (root / path).stat().st_ctime_ns == known.time_ns:
                continue
        except OSError:
            pass
        now = look_at(root / path, declares=declares)
        if now is None or now.names != known.names:
            names.add(path)
        if now is None or now.structure != known.structure:
            structure.add(path)
    return names, structure


def save(manifest: Manifest, path: Path) -> None:
    """Write a manifest. Raises OSError when that cannot be done."""
    order = {name: index for index, name in enumerate(manifest.files)}
    places = {name: index for index, name in enumerate(manifest.folders)}

    def packed(group: Group) -> list[Any]:
        return [[order[name] for name in group.files], [places[name] for name in group.folders], group.notes]

    data = {
        "version": _VERSION,
        "files": [[name, *known] for name, known in manifest.files.items()],
        "folders": [[name, *folder] for name, folder in manifest.folders.items()],
        "shared": packed(manifest.shared),
        "layout": [places[name] for name in manifest.layout],
        "groups": {label: packed(group) for label, group in manifest.groups.items()},
    }
    text = json.dumps(data, separators=(",", ":"))
    write_atomically(path, f"{_digest(text)}\n{text}".encode())


def load(path: Path) -> Manifest | None:
    """Read a manifest; None when there is none, or none that can be relied on."""
    try:
        check, _, text = path.read_text(encoding="utf-8").partition("\n")
        if check != _digest(text):
            return None
        data = json.loads(text)
        if data["version"] != _VERSION:
            return None
        files = {record[0]: Known(*record[1:]) for record in data["files"]}
        folders = {record[0]: Folder(*record[1:]) for record in data["folders"]}
        names, places = list(files), list(folders)

        def unpacked(group: Any) -> Group:
            return Group(
                files=tuple([names[index] for index in group[0]]),
                folders=tuple([places[index] for index in group[1]]),
                notes=tuple(group[2]),
            )

        return Manifest(
            files=files,
            folders=folders,
            shared=unpacked(data["shared"]),
            layout=tuple(places[index] for index in data["layout"]),
            groups={label: unpacked(group) for label, group in data["groups"].items()},
        )
    except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError):
        return None


def gather(
    root: Path, *, known: Mapping[str, Known], shared: Group, layout: Iterable[str], groups: Mapping[str, Group], declares: str
) -> Manifest | None:
    """Make the manifest of a build that has just succeeded; None when a file or folder of it is already gone again."""
    layout = tuple(layout)
    all_groups = [shared, *groups.values()]
    files = dict.fromkeys(name for group in all_groups for name in group.files)
    folders = dict.fromkeys([*layout, *(name for group in all_groups for name in group.folders)])
    if any(name not in known for name in files):
        return None
    seen = {name: look_at(root / name, declares=declares) for name in folders}
    there = {name: folder for name, folder in seen.items() if folder is not None}
    if len(there) != len(seen):
        return None
    return Manifest(files={name: known[name] for name in files}, folders=there, shared=shared, layout=layout, groups=groups)


def _is_passing(name: str) -> bool:
    return name.startswith((".", "#")) or name.endswith(("~", "#")) or name in _PASSING


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32]
