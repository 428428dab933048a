"""The folder whose files are edited, and nothing outside of it."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import time
from pathlib import Path, PurePosixPath

from skrules.remediate.kind import Refused

_MARK = b"\xef\xbb\xbf"
_LARGEST = 64 << 20
_TEMPORARY = ".skrules"
_ABANDONED_S = 3600.0


class Tree:
    """Finds, reads and replaces regular files below `root`. Links inside are followed as long as they stay inside."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()

    def find(self, name: str) -> Path:
        """Return the file that a fix names, links resolved. Raises Refused for one that is not there or lies outside."""
        path = PurePosixPath(name)
        if not name.strip():
            raise Refused("missing_target_file")
        if path.is_absolute() or ".." in path.parts:
            raise Refused("target_outside_asset")
        try:
            found = (self.root / name).resolve(strict=True)
        except (OSError, RuntimeError, ValueError):  # a ring of links, a name that no file can have
            raise Refused("target_not_found") from None
        if not found.is_relative_to(self.root):
            raise Refused("target_outside_asset")
        if not found.is_file():
            raise Refused("target_not_found")
        return found

    def name(self, path: Path) -> str:
        """Return a found file the way it is told of: relative to the root, with `/`."""
        return path.relative_to(self.root).as_posix()


def read(path: Path) -> bytes:
    """Return the content of a source. Raises Refused for what cannot be read or is no text."""
    try:
        if path.stat().st_size > _LARGEST:
            raise Refused("target_too_large")
        data = path.read_bytes()
    except OSError as error:
        raise Refused(f"cannot_read:{error.strerror or error}") from None
    if b"\0" in data or data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise Refused("target_not_text")
    return data


def replace(path: Path, old: bytes, new: bytes) -> None:
    """Make a file that holds `old` hold `new`, in one step, with the permissions and the owner it has. Raises Refused, and then
    it is as it was.
    """
    temporary = path.with_name(f".{secrets.token_hex(8)}{_TEMPORARY}")
    try:
        _remove_abandoned(path.parent)
        if path.read_bytes() != old:
            raise Refused("stale_file")
        found = path.stat()
        if not os.access(path, os.W_OK):  # replacing asks for the folder only, but a file that may not be written is meant so
            raise Refused("cannot_write:the file is read-only")
        try:
            with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                if (found.st_uid, found.st_gid) != (os.geteuid(), os.getegid()):
                    with contextlib.suppress(PermissionError):  # only root may give files away
                        os.fchown(file.fileno(), found.st_uid, found.st_gid)
                os.fchmod(file.fileno(), found.st_mode & 0o7777)
                file.write(new)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise Refused(f"cannot_write:{error.strerror or error}") from None


def _remove_abandoned(folder: Path) -> None:
    """Remove what runs that were killed have left in a folder. A run that goes on is done with a file in no time."""
    for path in folder.glob(f".{'[0-9a-f]' * 16}{_TEMPORARY}"):
        with contextlib.suppress(OSError):
            if path.stat().st_mtime < time.time() - _ABANDONED_S:
                path.unlink()


def digest(data: bytes) -> str:
    """Return the digest that `skrules.findings.Fix` carries: SHA-256, in hex."""
    return hashlib.sha256(data).hexdigest()


def without_mark(data: bytes) -> tuple[bytes, str]:
    """Return the byte order mark of UTF-8, if there is one, and the text behind it, held as latin-1."""
    mark = _MARK if data.startswith(_MARK) else b""
    return mark, data[len(mark) :].decode("latin-1")
