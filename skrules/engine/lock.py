"""One build at a time in a build folder: the others wait, and say for whom.

An OS lock, not a lock file: it goes away with its process, however that ends. What the process had started may live on,
and a compiler would go on writing where the next build writes. So each is noted, and the next build ends those that are left.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Callable
from io import FileIO
from pathlib import Path

from skrules.engine.orphans import alive, end, identity

# What was made just before can be told from what changes during the build by its time: file systems count in such steps.
_TICK_S = 0.02


class BuildLock:
    """Held from `acquire` to `release`, or to the end of the process. Children do not inherit it.

    The file names the process that holds the lock, and then what it started.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: FileIO | None = None

    def acquire(self, say: Callable[[str], None]) -> int:
        """Take the lock; when another process has it, `say` so once and wait. Returns the time by the file system's clock.

        Ends what a build that was killed had started and left running. Raises OSError when the file cannot be written.
        """
        is_said = False
        while True:
            file = self._open()
            try:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    if not is_said:
                        say(f"waiting for another build in this folder{_owner(file)}")
                        is_said = True
                    fcntl.flock(file, fcntl.LOCK_EX)
                if self._is_removed(file):  # with its folder, while we waited: others lock another one
                    file.close()
                    continue
                _end_orphans(file, say)
                file.truncate(0)
                file.write(f"{os.getpid()}\n".encode())
            except BaseException:
                file.close()
                raise
            self._file = file
            return os.fstat(file.fileno()).st_mtime_ns

    def note(self, pid: int) -> None:
        """Note a process that was just started. Safe to call from several threads."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                os.write(self._file.fileno(), f"{identity(pid)}\n".encode())

    def release(self) -> None:
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._file.truncate(0)
            self._file.close()
            self._file = None

    def _open(self) -> FileIO:
        if not self.path.parent.is_dir():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            time.sleep(_TICK_S)
        # Without a buffer: what is read must be what other processes have written by then, not when it was last read.
        return self.path.open("a+b", buffering=0)

    def _is_removed(self, file: FileIO) -> bool:
        try:
            return os.fstat(file.fileno()).st_ino != self.path.stat().st_ino
        except FileNotFoundError:
            return True


def _owner(file: FileIO) -> str:
    file.seek(0)
    owner = file.read(32).decode("ascii", "replace").partition("\n")[0]
    return f" (process {owner})" if owner.isdecimal() else ""


def _end_orphans(file: FileIO, say: Callable[[str], None]) -> None:
    file.seek(0)
    for name in file.read().decode("ascii", "replace").splitlines()[1:]:
        pid = alive(name)
        if pid:
            say(f"ending process {pid}, which a build that was killed had started")
            end(name)
