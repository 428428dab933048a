"""How much a cache folder holds, and what goes when it is too much.

Looking at tens of thousands of files takes a noticeable part of a second, so builds keep an account in the file `usage`:
bytes in all, and when they were last counted. Only when the account says that the limit is passed, or was made too long
ago to be trusted (a build that was killed did not say what it added), the files themselves are looked at.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

_TRIM_TO = 0.8  # of the limit, so that not every build that adds a little has to look at all
_COUNT_AGAIN_S = 24 * 3600.0
_ABANDONED_S = 3600.0
_BLOCK = 4096  # the least that a file takes of a disk


class Usage:
    """The account of `folder`, whose files under `kinds` may be removed. Safe to use from several threads and processes."""

    def __init__(self, folder: Path, kinds: tuple[str, ...], limit: int) -> None:
        self.folder = folder
        self.limit = limit
        self._kinds = kinds
        self._added = 0
        self._lock = threading.Lock()

    def add(self, size: int) -> None:
        """Note that a file of so many bytes was written."""
        with self._lock:
            self._added += _on_disk(size)
            much = self._added * 100 > self.limit
        if much:  # what a killed build did not note stays small
            with contextlib.suppress(OSError):
                self._account()

    def trim(self) -> None:
        """Remove the files that were not used for longest, down to 80 % of the limit, if there is more than the limit.

        Use is the modification time, which users set. Raises OSError when the folder cannot be written.
        """
        total, counted = self._account()
        if total <= self.limit and 0 <= time.time() - counted < _COUNT_AGAIN_S:
            return
        with _locked(self.folder / "trim.lock") as file:
            if file is not None:  # else another build is at it
                self._count_and_trim()

    def _account(self) -> tuple[int, float]:
        """Add what was added since to the account and return it. A missing or broken one was counted in 1970."""
        if not self.folder.is_dir():
            return 0, time.time()
        with _locked(self.folder / "usage") as file:
            if file is None:
                return 0, time.time()
            with self._lock:
                added, self._added = self._added, 0
            try:
                total, counted = (int(word) for word in os.read(file, 100).split())
            except ValueError:
                total, counted = 0, 0
            total += added
            if added:
                _write(file, total, counted)
            return total, counted

    def _count_and_trim(self) -> None:
        now = time.time()
        self._remove_abandoned(now)
        files = [file for kind in self._kinds for file in _files(self.folder / kind)]
        total = sum(size for _, size, _ in files)
        if total > self.limit:
            files.sort()
            for _, size, place in files:
                if total <= self.limit * _TRIM_TO:
                    break
                with contextlib.suppress(OSError):
                    Path(place).unlink()
                    total -= size
        with _locked(self.folder / "usage") as file:
            if file is not None:
                _write(file, total, int(now))

    def _remove_abandoned(self, now: float) -> None:
        for modified, _, place in _files(self.folder, only="tmp"):
            if modified < now - _ABANDONED_S:
                with contextlib.suppress(OSError):
                    Path(place).unlink()


def _files(folder: Path, only: str = "") -> Iterator[tuple[float, int, str]]:
    """Yield modification time, bytes and place of the files in the folders of `folder`. What vanishes meanwhile is not there."""
    for shard in _scan(str(folder)):
        if only in ("", shard.name):
            for file in _scan(shard.path):
                with contextlib.suppress(OSError):
                    found = file.stat(follow_symlinks=False)
                    if not file.is_dir(follow_symlinks=False):
                        yield found.st_mtime, _on_disk(found.st_size), file.path


def _scan(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _on_disk(size: int) -> int:
    return -(-max(size, 1) // _BLOCK) * _BLOCK


def _write(file: int, total: int, counted: int) -> None:
    os.ftruncate(file, 0)
    os.pwrite(file, b"%d %d\n" % (max(total, 0), counted), 0)


@contextlib.contextmanager
def _locked(place: Path) -> Iterator[int | None]:
    """Open a file under an OS lock, which goes away with the process. None: another has it; nobody waits for a cache."""
    file = os.open(place, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield None
            return
        yield file
    finally:
        os.close(file)
