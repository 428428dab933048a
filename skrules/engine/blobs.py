"""Contents of files by their SHA-256: `cas/ab/abcd...` in a folder that processes and machines may share.

A content appears by renaming, is compared with its name whenever it is used, and may vanish at any time.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from skrules.engine.entries import Blob

_CHUNK = 1 << 20
_QUARANTINED = 8


class Blobs:
    """The contents in `folder`. With `readonly` nothing in it is touched, not even what is wrong."""

    def __init__(self, folder: Path, *, readonly: bool) -> None:
        self.folder = folder
        self.readonly = readonly

    def put(self, place: Path) -> Blob:
        """Keep the content of a regular file. Raises OSError when `place` is none, or the folder cannot be written."""
        with open_regular(place) as source:
            executable = bool(os.fstat(source.fileno()).st_mode & 0o100)
            with self._replacing() as (file, temporary):
                digest, size = _copy(source, file)
                file.close()
                # Also over a content that is there already: it is not known to be right, this one is.
                _rename(temporary, self._place(digest))
        return Blob(digest=digest, size=size, executable=executable)

    def put_bytes(self, blob: Blob, data: bytes) -> None:
        """Keep a content that is known to be `blob`'s. Raises OSError when the folder cannot be written."""
        with self._replacing() as (file, temporary):
            file.write(data)
            file.close()
            _rename(temporary, self._place(blob.digest))

    def copy(self, blob: Blob, target: BinaryIO) -> bool:
        """Write a content to `target` and tell whether it is right. After False anything may have been written.

        Raises OSError when `target` cannot be written. A wrong content is put aside, so that the next one can take its place.
        """
        place = self._place(blob.digest)
        try:
            source = open_regular(place)
        except OSError:
            return False
        with source:
            right = os.fstat(source.fileno()).st_size == blob.size and _copy(source, target) == (blob.digest, blob.size)
        if not self.readonly:
            with contextlib.suppress(OSError):
                if right:
                    os.utime(place)
                else:
                    self._put_aside(place)
        return right

    def open(self, digest: str) -> BinaryIO:
        """Open a content, unverified. Raises OSError when it is not there."""
        return open_regular(self._place(digest))

    def _place(self, digest: str) -> Path:
        return self.folder / "cas" / digest[:2] / digest

    @contextlib.contextmanager
    def _replacing(self) -> Iterator[tuple[BinaryIO, Path]]:
        temporary = self.folder / "tmp" / secrets.token_hex(8)
        try:
            file = create(temporary, 0o444)
        except FileNotFoundError:
            make_folder(self.folder)
            file = create(temporary, 0o444)
        try:
            with file:
                yield file, temporary
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise

    def _put_aside(self, place: Path) -> None:
        aside = self.folder / "quarantine"
        aside.mkdir(exist_ok=True)
        place.replace(aside / place.name)
        kept = sorted(aside.iterdir(), key=lambda path: path.lstat().st_mtime)
        for old in kept[:-_QUARANTINED]:
            old.unlink()


def make_folder(folder: Path) -> None:
    """Make a cache's folder, marked for programs that make backups (https://bford.info/cachedir/). Raises OSError."""
    (folder / "tmp").mkdir(parents=True, exist_ok=True)
    tag = folder / "CACHEDIR.TAG"
    if not tag.exists():
        tag.write_bytes(
            b"Signature: 8a477f597d28d172789f06886806bc55\n# Results of build steps, made again when they are missing\n"
        )


def create(place: Path, mode: int) -> BinaryIO:
    """Open a new file to write, with the permissions of the process' umask. Raises OSError, also when it is there."""
    return os.fdopen(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode), "wb")


def open_regular(place: Path) -> BinaryIO:
    """Open a regular file to read. Raises OSError for all else, and never waits, as opening a pipe would."""
    number = os.open(place, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        raise OSError(f"{place}: no regular file")
    return os.fdopen(number, "rb")


def _copy(source: BinaryIO, target: BinaryIO) -> tuple[str, int]:
    """Return digest and size of what was copied."""
    seen = hashlib.sha256()
    size = 0
    while piece := source.read(_CHUNK):
        seen.update(piece)
        target.write(piece)
        size += len(piece)
    return seen.hexdigest(), size


def _rename(temporary: Path, place: Path) -> None:
    try:
        temporary.replace(place)
    except FileNotFoundError:
        place.parent.mkdir(parents=True, exist_ok=True)
        temporary.replace(place)
