"""Reading what users name, and writing results: whole or not at all, and only when they changed."""

from __future__ import annotations

import os
import threading
from pathlib import Path

from skrules.errors import UsageError

_LONGEST = 64 << 20  # bytes of what is no regular file


def bytes_of(path: Path) -> bytes:
    """Return a file's content. Raises UsageError when it cannot be read, and for a pipe or device that does not end."""
    try:
        if path.is_file():
            return path.read_bytes()
        with path.open("rb") as file:
            data = file.read(_LONGEST)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    if len(data) == _LONGEST:
        raise UsageError(f"cannot read {path}: it is no file, and has no end")
    return data


def names_below(root: Path, suffixes: tuple[str, ...], leave_out: Path | None) -> list[str]:
    """Return the files below a folder whose names end so: relative to it, with `/`, sorted.

    Hidden folders and `leave_out`, a folder of results, are not looked into. Raises UsageError for what has such a name and is
    no file: a pipe would be waited for, and what a link without an end stands for would not be looked at.
    """
    results = leave_out.resolve() if leave_out else None
    found = []
    for here, below, names in os.walk(root):
        below[:] = [name for name in below if not name.startswith(".") and (Path(here) / name).resolve() != results]
        for path in (Path(here) / name for name in names if name.endswith(suffixes)):
            if path.is_file():
                found.append(path.relative_to(root).as_posix())
            elif not path.name.startswith("."):  # as the links are by which editors say who edits
                raise UsageError(f"cannot read {path}: it is no regular file")
    return sorted(found)


def write_if_changed(path: Path, data: bytes) -> bool:
    """Make `path` hold `data` and tell whether it had to be written.

    The file is replaced in one step, so that a reader, or a run that is killed, sees the old content or the new.
    """
    try:
        # A pipe in its place would be waited for.
        if path.is_file() and path.read_bytes() == data:
            return False
    except OSError:
        pass
    write_atomically(path, data)
    return True


def write_atomically(path: Path, data: bytes) -> None:
    """Replace `path` by `data` in one step, making its folder when needed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # Not tempfile: its files are private, and results are as readable as any file the user makes.
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    try:
        temporary.write_bytes(data)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
