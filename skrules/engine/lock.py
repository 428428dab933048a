"""One build at a time in a build folder: the others wait, and say for whom.

An OS lock, not a lock file: it goes away with its process, however that ends.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO


class BuildLock:
    """Held from `acquire` to `release`, or to the end of the process. Children do not inherit it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: BinaryIO | None = None

    def acquire(self, say: Callable[[str], None]) -> None:
        """Take the lock; when another process has it, `say` so once and wait. Raises OSError when it cannot be written."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        file = self.path.open("a+b")
        try:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                file.seek(0)
                owner = file.read(32).decode("ascii", "replace").strip()
                who = f" (process {owner})" if owner.isdecimal() else ""
                say(f"waiting for another build in this folder{who}")
                fcntl.flock(file, fcntl.LOCK_EX)
            file.truncate(0)
            file.write(f"{os.getpid()}\n".encode())
            file.flush()
        except BaseException:
            file.close()
            raise
        self._file = file

    def release(self) -> None:
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._file.truncate(0)
            self._file.close()
            self._file = None
