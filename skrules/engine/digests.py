"""Content digests of files, remembered by what `stat` says of them.

A digest is computed once for each content a file has had in this run. What an earlier run remembered is believed only
while modification time, size and inode are the same, and not for a file that was written so shortly before it was looked
at that a later change could have left all three as they were (the "racy" files of git).
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

# File systems tell the time of a change with a step of their own: the kernel's tick, or whole seconds.
_TICK_NS = 20_000_000
_COARSE_NS = 2_000_000_000
_SECOND_NS = 1_000_000_000


class Known(NamedTuple):
    """What is remembered of a file. `looked_at` is when, in nanoseconds since the epoch."""

    mtime_ns: int
    size: int
    inode: int
    digest: str
    looked_at: int

    def is_racy(self) -> bool:
        """Tell whether the file could have changed after it was looked at without `stat` showing it."""
        step = _COARSE_NS if self.mtime_ns % _SECOND_NS == 0 else _TICK_NS
        return self.mtime_ns + step >= self.looked_at


class FileDigests:
    """Digests of files by path: relative paths are those of `root`. Safe to use from several threads."""

    def __init__(self, root: Path, known: Mapping[str, Known] | None = None) -> None:
        self._root = f"{root}/"
        self._known = dict(known or {})
        self._lock = threading.Lock()

    def digest(self, path: str) -> str:
        """Return the digest of a regular file's content, or "" when there is no such file to read."""
        place = path if path[:1] == "/" else self._root + path
        try:
            looked_at = time.time_ns()
            found = os.stat(place)  # noqa: PTH116 - ten thousands of times
        except (OSError, ValueError):
            return ""
        known = self._known.get(path)
        if known is not None and _is_same(known, found) and not known.is_racy():
            return known.digest
        digest = digest_of(place)
        if digest:
            with self._lock:
                self._known[path] = Known(found.st_mtime_ns, found.st_size, found.st_ino, digest, looked_at)
        return digest

    def digests(self, paths: Iterable[str]) -> dict[str, str]:
        return {path: self.digest(path) for path in paths}

    def settle(self) -> None:
        """Look once more at files that were written just before they were looked at, when that moment has passed."""
        racy = [path for path, known in self.known().items() if known.is_racy()]
        if not racy:
            return
        newest = max(self._known[path].mtime_ns for path in racy)
        time.sleep(max(0.0, min(newest + 2 * _TICK_NS - time.time_ns(), 2 * _TICK_NS)) / _SECOND_NS)
        for path in racy:
            self.digest(path)

    def known(self) -> dict[str, Known]:
        """Return everything remembered so far."""
        with self._lock:
            return dict(self._known)


def is_unchanged(known: Known, place: str) -> bool:
    """Tell whether the file at `place` still has the content that is remembered, reading it only when `stat` cannot tell."""
    try:
        found = os.stat(place)  # noqa: PTH116 - ten thousands of times
    except (OSError, ValueError):
        return False
    if not _is_same(known, found):
        return False
    return not known.is_racy() or digest_of(place) == known.digest


def digest_of(place: str) -> str:
    """Return the digest of a file, or "" when it cannot be read as a regular file."""
    try:
        with open(place, "rb") as file:  # noqa: PTH123
            return hashlib.file_digest(file, "sha256").hexdigest()[:40]
    except (OSError, ValueError):
        return ""


def _is_same(known: Known, found: os.stat_result) -> bool:
    return known.mtime_ns == found.st_mtime_ns and known.size == found.st_size and known.inode == found.st_ino
