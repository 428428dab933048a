"""Writing results: whole or not at all, and only when they changed."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write_if_changed(path: Path, data: bytes) -> bool:
    """Make `path` hold `data` and tell whether it had to be written.

    The file is replaced in one step, so that a reader, or a run that is killed, sees the old content or the new.
    """
    try:
        if path.read_bytes() == data:
            return False
    except OSError:
        pass
    write_atomically(path, data)
    return True


def write_atomically(path: Path, data: bytes) -> None:
    """Replace `path` by `data` in one step, making its folder when needed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        # mkstemp makes files private; results are as readable as any file the user makes.
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
