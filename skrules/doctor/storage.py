"""Caches with their sizes and limits, and the room on disks."""

from __future__ import annotations

import os
import shlex
import shutil
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from skrules.doctor.check import Check, Status
from skrules.doctor.machine import Machine
from skrules.engine.cache import limit_from
from skrules.engine.remote_settings import remote_from
from skrules.errors import UsageError
from skrules.toolchain.cache import root as cache_root

STEPS = "steps"
_LITTLE = 2 << 30  # bytes; the objects of a workspace, its modules and the runtime fit into less
_SECONDS = 0.2  # for counting files that nobody has counted


def look_at_caches(machine: Machine) -> tuple[Check, ...]:
    """Look at the cache of steps, at the others, and at the address of a remote one, which is not asked."""
    environ = machine.environ
    root = cache_root(environ)
    named = environ.get("SKRULES_CACHE", "")
    checks = [_steps(machine, root / STEPS), _others(root)]
    if named and not Path(named).is_absolute():
        meaning = f"it must be an absolute path, and {root} is used"
        found = f"SKRULES_CACHE={named} is not used"
        checks.append(
            Check(name="cache folder", status=Status.BROKEN, found=found, meaning=meaning, command="unset SKRULES_CACHE")
        )
    elif not _is_writable(root):
        meaning = "results are not kept: what is built once is built again"
        command = (
            f"sudo chown -R $USER {shlex.quote(str(root))}" if root.exists() else "export SKRULES_CACHE=$HOME/.cache/skrules"
        )
        checks.append(
            Check(name="cache folder", status=Status.BROKEN, found=f"{root} cannot be written", meaning=meaning, command=command)
        )
    remote = _remote(environ)
    return (*checks, remote) if remote else tuple(checks)


def _steps(machine: Machine, folder: Path) -> Check:
    name = "cache of steps"
    size = _noted(folder)
    about = f"{_amount(size)} in " if size is not None else "empty, " if not folder.is_dir() else "not counted yet, "
    details: dict[str, object] = {"folder": str(folder), "bytes": size}
    try:
        limit = limit_from(machine.environ)
    except UsageError as error:
        meaning = "builds end with this error"
        command = "unset SKRULES_CACHE_LIMIT"
        return Check(name=name, status=Status.BROKEN, found=error.message, meaning=meaning, command=command, details=details)
    return Check(
        name=name, status=Status.OK, found=f"{about}{folder}, limit {_amount(limit)}", details=details | {"limit": limit}
    )


def _noted(folder: Path) -> int | None:
    """Return the bytes that the cache itself has noted (see `skrules.engine.usage`), which tens of thousands of files are."""
    try:
        return max(int((folder / "usage").read_bytes()[:100].split()[0]), 0)
    except (OSError, ValueError, IndexError):
        return None


def _others(root: Path) -> Check:
    total, is_whole = 0, True
    ends = time.monotonic() + _SECONDS
    for size in _sizes(root):
        total += size
        if time.monotonic() > ends:
            is_whole = False
            break
    found = f"{'' if is_whole else 'more than '}{_amount(total)} in {root}"
    return Check(
        name="other caches", status=Status.OK, found=found, details={"folder": str(root), "bytes": total, "counted": is_whole}
    )


def _sizes(root: Path) -> Iterator[int]:
    """Yield the bytes of the runtimes, objects, headers and digests in the user's cache."""
    for here, below, names in os.walk(root):
        if Path(here) == root and STEPS in below:
            below.remove(STEPS)
        for name in names:
            try:
                yield os.lstat(os.path.join(here, name)).st_size  # noqa: PTH118 - many files, little time
            except OSError:
                continue


def _remote(environ: Mapping[str, str]) -> Check | None:
    name = "remote cache"
    try:
        remote = remote_from(environ)
    except UsageError as error:
        meaning = "builds end with this error"
        command = "unset SKRULES_REMOTE_CACHE SKRULES_REMOTE_CACHE_READONLY"
        return Check(name=name, status=Status.BROKEN, found=error.message, meaning=meaning, command=command)
    if remote is None:
        return None
    found = f"{remote.name} (not asked)"
    return Check(name=name, status=Status.OK, found=found, details={"address": remote.name, "readonly": remote.readonly})


def look_at_disks(machine: Machine) -> tuple[Check, ...]:
    """Look at the room where builds and caches lie: one check for each file system."""
    cache = _existing(cache_root(machine.environ))
    places = {_device(machine.folder): ("disk", machine.folder)}
    places.setdefault(_device(cache), ("disk of caches", cache))
    return tuple(_room(name, folder, cache) for name, folder in places.values())


def _room(name: str, folder: Path, cache: Path) -> Check:
    try:
        usage = shutil.disk_usage(folder)
    except OSError as error:
        return Check(name=name, status=Status.BROKEN, found=f"{folder}: {error.strerror}", meaning="nothing can be written there")
    found = f"{_amount(usage.free)} of {_amount(usage.total)} free, {folder}"
    details = {"folder": str(folder), "free": usage.free, "total": usage.total}
    if usage.free >= _LITTLE:
        return Check(name=name, status=Status.OK, found=found, details=details)
    command = f"rm -rf {shlex.quote(str(cache / STEPS))}" if (cache / STEPS).is_dir() else "scons -c"
    meaning = "builds may fail for want of room; what is kept of them can be made again"
    return Check(name=name, status=Status.BROKEN, found=found, meaning=meaning, command=command, details=details)


def _existing(folder: Path) -> Path:
    return next((each for each in (folder, *folder.parents) if each.is_dir()), Path("/"))


def _device(folder: Path) -> int:
    try:
        return folder.stat().st_dev
    except OSError:
        return -1


def _is_writable(folder: Path) -> bool:
    there = next((each for each in (folder, *folder.parents) if os.path.lexists(each)), folder)
    return there.is_dir() and os.access(there, os.W_OK | os.X_OK)


def _amount(size: int) -> str:
    value = float(size)
    for unit in ("bytes", "KiB", "MiB"):
        if value < 1024:
            return f"{value:.0f} {unit}"
        value /= 1024
    return f"{value:.1f} GiB"
