"""The manifest of a request: what of the machine, the workspace and the build folder its results rest on."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from skrules import resources
from skrules.engine.absences import nearest_folders
from skrules.engine.action import Action
from skrules.engine.depfile import include_places, search_folders
from skrules.engine.digests import Known
from skrules.engine.manifest import Group, Manifest, gather
from skrules.engine.runner import StepRunner
from skrules.rules.declaration import FILE_NAME
from skrules.rules.opening import Opened
from skrules.rules.workspace import Workspace, walk
from skrules.toolchain.base import Toolchain


def make_manifest(
    opened: Opened,
    made: Sequence[Action],
    runner: StepRunner,
    *,
    packages: Sequence[str],
    environ: Mapping[str, str],
    notes: Mapping[str, Sequence[object]],
    old: Manifest | None,
    since: int,
) -> Manifest | None:
    """Return the manifest of a request that has just succeeded; `notes` are those of labels, `old` is one to go on from.

    `made` are the steps that it took. With `old` they are only those that were not current by it. `since` is when the run
    began, by the clock of the file system, in nanoseconds. None when something has changed since, but for what the steps
    made: it may have been read before that, and then nothing would ever tell that results are of another time.
    """
    root, workspace = runner.root, opened.workspace
    layout, declarations = walk(root, packages)
    machine = _machine(opened.context.toolchain, environ)
    actions: dict[str, list[Action]] = {}
    for action in made:
        actions.setdefault(action.label, []).append(action)
    groups = {label: _group(root, label, steps, runner, workspace, notes.get(label, ())) for label, steps in actions.items()}
    own = [f"{package}/{FILE_NAME}" for package in declarations]
    shared = Group(files=(*own, "SConstruct", *machine[0]), folders=machine[1], notes=opened.notes)
    runner.digests.settle()
    runner.digests.digests((*own, "SConstruct"))
    known = {**(old.files if old else {}), **runner.digests.known(), **_stats(machine[0])}
    if not all(_is_as_made(action, runner, known) for action in made):
        return None
    outputs = {path for action in made for path in (*action.outputs, action.depfile)}
    read = {name for group in (shared, *groups.values()) for name in group.files}
    if any(name in known and known[name].ctime_ns >= since for name in read - outputs):
        return None
    if old is not None:
        joined = {label: _union(old.groups.get(label), group, actions[label]) for label, group in groups.items()}
        groups = {**old.groups, **joined}
        shared = replace(shared, notes=old.shared.notes)
    manifest = gather(root, known=known, shared=shared, layout=layout, groups=groups, declares=FILE_NAME)
    if manifest is None or _changed_since(since, root, manifest.folders, opened.context.build.rpartition("/")[0]):
        return None
    return manifest


def _is_as_made(action: Action, runner: StepRunner, known: Mapping[str, Known]) -> bool:
    """Tell whether the files of a step, as they are known now, are those that its outputs were made from and consist of."""
    step = runner.journal.step(action.label, action.outputs[0])
    if step is None:
        return False
    return all(
        name in known and known[name].digest == digest if digest else not os.path.lexists(runner.root / name)
        for files in (step.inputs, step.found, step.outputs)
        for name, digest in files.items()
    )


def _changed_since(since: int, root: Path, folders: Iterable[str], build: str) -> bool:
    """Tell whether one of the folders that are not for results holds something new, or something else no more."""
    return any(
        (root / name).stat().st_ctime_ns >= since for name in folders if name != build and not name.startswith(f"{build}/")
    )


def _group(
    root: Path, label: str, actions: Iterable[Action], runner: StepRunner, workspace: Workspace, notes: Sequence[object]
) -> Group:
    files: dict[str, None] = {}
    folders: dict[str, None] = {}
    for action in actions:
        files.update(dict.fromkeys(action.inputs))
        step = runner.journal.step(action.label, action.outputs[0])
        if step is None:
            continue
        files.update(dict.fromkeys(step.outputs))
        read = tuple(name for name, digest in step.found.items() if digest)
        files.update(dict.fromkeys(read))
        folders.update(dict.fromkeys(include_places(read, root, search_folders(action.searches, root)) if read else ()))
        absent = {name.rpartition("/")[0]: None for name, digest in step.found.items() if not digest}
        folders.update(dict.fromkeys(nearest_folders(root, absent)))
    if any(name.endswith(".whl") for name in files):
        folders["."] = None  # licences are found there by their names
    package = label.removeprefix("//").partition(":")[0]
    if any(target.label.package == package for target in workspace.requested):
        folders.update(dict.fromkeys(walk(root, [package])[0]))
    return Group(files=tuple(files), folders=tuple(folders), notes=tuple(notes))


def _union(old: Group | None, new: Group, actions: Sequence[Action]) -> Group:
    """What several labels share was made for all of them: a part of the labels needs only a part of it."""
    if old is None or not all(is_shared(action.label) for action in actions):
        return new
    files = dict.fromkeys((*old.files, *new.files))
    return Group(files=tuple(files), folders=tuple(dict.fromkeys((*old.folders, *new.folders))), notes=new.notes)


def is_shared(label: str) -> bool:
    """Tell whether a label stands for what all operators share, and no package declares it."""
    return label.startswith(("//skrules:", "//toolchain:"))


def _machine(toolchain: Toolchain, environ: Mapping[str, str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the files and folders outside of the workspace by which tools and generators may change."""
    files: dict[str, None] = {}
    folders: dict[str, None] = {}
    for own in (resources.package(), resources.templates(), resources.toolchains()):
        for here, below, names in os.walk(own):
            below[:] = [name for name in below if name != "__pycache__"]
            folders[here] = None
            # Not what editors leave there for a while, such as links to nothing.
            files.update(dict.fromkeys(path for name in names if os.path.isfile(path := f"{here}/{name}")))  # noqa: PTH113
    for part in (*environ.get("PATH", "").split(os.pathsep), *sys.path):
        if part and Path(part).is_dir():
            folders[str(Path(part))] = None
    for name in toolchain.files():
        found = shutil.which(name) or name
        if Path(found).is_file():
            files[found] = None
    return tuple(files), tuple(folders)


def _stats(files: Iterable[str]) -> dict[str, Known]:
    """Remember files by `stat` alone: a compiler has hundreds of megabytes, and nobody edits it in place within a tick."""
    found = {}
    for name in files:
        status = Path(name).stat()
        found[name] = Known.of(status, "", 1 << 62)
    return found
