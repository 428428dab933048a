"""The folder of results: one run in it at a time, and nobody else's files."""

from __future__ import annotations

import fcntl
import os
import shutil
from pathlib import Path
from types import TracebackType

from skrules.errors import UsageError

WORK = "work"
_LOCK = "lock"


class OutputPlace:
    """An `--output-dir` while a run works in it.

    What an earlier run left is gone on with. A folder with anything else in it is refused, with `clean` too: it was not a
    run that wrote it. Raises UsageError on entry.
    """

    def __init__(self, path: Path, *, clean: bool, resume_from: Path | None) -> None:
        self.path = path
        self._clean = clean
        self._resume_from = resume_from
        self._lock = -1

    def __enter__(self) -> OutputPlace:
        lock = self.path / WORK / _LOCK
        is_own = lock.is_file()
        if self.path.exists() and not self.path.is_dir():
            raise UsageError(f"--output-dir: '{self.path}' is a file")
        if self.path.is_dir() and any(self.path.iterdir()) and not is_own:
            raise UsageError(
                f"the folder {self.path} is not empty, and no run of the pipeline wrote it", hint="choose another --output-dir"
            )
        given = self._resume_from
        if given and not (given.is_file() and given.resolve().is_relative_to(self.path.resolve())):
            raise UsageError(f"--resume-from: '{given}' is no file in {self.path}")
        try:
            lock.parent.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise UsageError(f"cannot write into {self.path}: {error.strerror}") from error
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._lock)
            raise UsageError(f"another run works in {self.path}") from error
        if self._clean:
            self._remove_results(lock)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        os.close(self._lock)

    def _remove_results(self, lock: Path) -> None:
        for path in (*self.path.iterdir(), *lock.parent.iterdir()):
            if path in (lock.parent, lock):
                continue
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
