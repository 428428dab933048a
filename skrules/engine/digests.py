"""Content digests of files, remembered by what `stat` says of them.

A digest is computed once for each content a file has had in this run. What an earlier run remembered is believed only
while size, inode, modification time and the time of the last change of any kind are the same: `cp -p` and `touch -d` can
set the former time back, nobody can set the latter. Nor is it believed for a file that was written so shortly before it was
looked at that a later change could have left all of them as they were (the "racy" files of git).
"""

from __future__ import annotations

import hashlib
import os
import stat
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
    ctime_ns: int
    size: int
    inode: int
    digest: str
    looked_at: int

    @classmethod
    def of(cls, found: os.stat_result, digest: str, looked_at: int) -> Known:
        return cls(found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino, digest, looked_at)

    def is_racy(self) -> bool:
        """Tell whether the file could have changed after it was looked at without `stat` showing it."""
        return is_racy(self.mtime_ns, self.ctime_ns, self.looked_at)


class FileDigests:
    """Digests of files by path: relative paths are those of `root`. Safe to use from several threads."""

    def __init__(self, root: Path, known: Mapping[str, Known] | None = None) -> None:
        self._root = f"{root}/"
        self._known = dict(known or {})
        self._lock = threading.Lock()

    def digest(self, path: str) -> str:
        """Return the digest of a regular file's content, or "" when there is no such file to read."""
        known = self.look(path)
        return known.digest if known is not None else ""

    def look(self, path: str) -> Known | None:
        """Return what is known of a regular file now, or None when there is no such file to read."""
        place = path if path[:1] == "/" else self._root + path
        try:
            looked_at = time.time_ns()
            found = os.stat(place)  # noqa: PTH116 - ten thousands of times
        except (OSError, ValueError):
            return None
        if not stat.S_ISREG(found.st_mode):
            return None  # opening a pipe would wait for ever
        known = self._known.get(path)
        if known is not None and _is_same(known, found) and not known.is_racy():
            return known
        digest = digest_of(place)
        if not digest:
            return None
        known = Known.of(found, digest, looked_at)
        with self._lock:
            self._known[path] = known
        return known

    def is_untouched(self, path: str, known: Known | None) -> bool:
        """Tell whether nothing was done to a file since `known` was returned for it, not even what left its content alone."""
        try:
            return known is not None and _is_same(known, os.stat(path if path[:1] == "/" else self._root + path))  # noqa: PTH116
        except (OSError, ValueError):
            return False

    def digests(self, paths: Iterable[str]) -> dict[str, str]:
        return {path: self.digest(path) for path in paths}

    def settle(self) -> None:
        """Look once more at files that were written just before they were looked at, when that moment has passed."""
        racy = [path for path, known in self.known().items() if known.is_racy()]
        if not racy:
            return
        newest = max(self._known[path].ctime_ns for path in racy)
        time.sleep(max(0.0, min(newest + 2 * _TICK_NS - time.time_ns(), 2 * _TICK_NS)) / _SECOND_NS)
        for path in racy:
            self.digest(path)

    def known(self) -> dict[str, Known]:
        """Return everything remembered so far."""
        with self._lock:
            return dict(self._known)


def is_racy(mtime_ns: int, ctime_ns: int, looked_at: int) -> bool:
    """Tell whether something with these times, seen at `looked_at`, could change once more and keep both."""
    # A modification time to come was set by somebody: the next change sets another one.
    newest = ctime_ns if mtime_ns > looked_at else max(mtime_ns, ctime_ns)
    return newest + (_COARSE_NS if newest % _SECOND_NS == 0 else _TICK_NS) >= looked_at


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
    return (
        known.ctime_ns == found.st_ctime_ns
        and known.mtime_ns == found.st_mtime_ns
        and known.size == found.st_size
        and known.inode == found.st_ino
    )
