"""Results of steps, kept by what they were made from and taken again when that comes back.

    ac/12/1234...     entries by key: see `entries`
    cas/ab/abcd...    contents of outputs, by their SHA-256: see `blobs`
    quarantine/       contents that were not what their name says, the last few
    tmp/              files being written
    usage             bytes in all, about, and when they were counted: see `usage`

Whole files appear by renaming, so builds and machines share a folder without locks, and what is read may vanish at any
time. A cache that is full, damaged, read-only or gone costs time, never correctness, and no method raises for it.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from skrules.engine.blobs import Blobs, create, open_regular
from skrules.engine.entries import LARGEST, Blob, Variant, decode, encode, is_key, with_variant
from skrules.engine.files import write_atomically
from skrules.engine.usage import Usage
from skrules.errors import UsageError

if TYPE_CHECKING:  # with it come HTTP and what that needs, for a setting that few have
    from skrules.engine.remote import Remote

DEFAULT_LIMIT = 5 << 30
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """A result that can be restored. `source` is "local" or "remote": where its entry was found."""

    key: str
    variant: Variant
    source: str


class StepCache:
    """The cache in `folder`, of at most about `limit` bytes (0: nothing is kept), with another one behind it.

    With `readonly` nothing is written to the folder, nor sent to `remote`. `warn` is called with one line, once, when the
    folder cannot be written. Keys are SHA-256 digests in hex; paths are relative to the workspace, with `/`: others are a
    ValueError. Safe to use from several threads and processes at once.
    """

    def __init__(
        self,
        folder: Path,
        *,
        limit: int = DEFAULT_LIMIT,
        remote: Remote | None = None,
        readonly: bool = False,
        warn: Callable[[str], None] | None = None,
    ) -> None:
        self.folder = folder
        self.remote = remote
        self.readonly = readonly
        self._blobs = Blobs(folder, readonly=readonly)
        self._usage = Usage(folder, ("ac", "cas"), limit)
        self._warn = warn or _say
        self._warned = False

    def find(
        self,
        key: str,
        outputs: Sequence[str],
        digest_of: Callable[[str], str],
        also_found: Callable[[Iterable[str]], Iterable[str]],
    ) -> Stored | None:
        """Return the newest result of a step that would read now what it read then, and that has exactly these outputs.

        `digest_of(path)` is the digest of a file's content, "" when there is none; `also_found(paths)` are files that
        would be read instead of one of `paths`, or beside it, such as a header of the same name in an earlier folder.
        """
        place = self._place(key)
        for variant in self._variants(key):
            if variant.fits(outputs, digest_of, also_found):
                if not self.readonly:
                    with contextlib.suppress(OSError):
                        os.utime(place)
                return Stored(key=key, variant=variant, source="local")
        for variant in self.remote.variants(key) if self.remote else ():
            if variant.fits(outputs, digest_of, also_found):
                return Stored(key=key, variant=variant, source="remote")
        return None

    def restore(self, stored: Stored, root: Path) -> bool:
        """Write all outputs of a result below `root`, or none, and tell which. False: run the step."""
        written: list[tuple[Path, Path]] = []
        placed: list[Path] = []
        try:
            for path, blob in stored.variant.outputs.items():
                place = root / path
                place.parent.mkdir(parents=True, exist_ok=True)
                temporary = place.with_name(f".{secrets.token_hex(8)}.tmp")
                written.append((temporary, place))
                with create(temporary, 0o777 if blob.executable else 0o666) as file:
                    if not self._copy(blob, file):
                        raise FileNotFoundError(blob.digest)
            for temporary, place in written:
                temporary.replace(place)
                placed.append(place)
        except BaseException as error:
            for place in (*(temporary for temporary, _ in written), *placed):  # a part of a result is worse than none
                with contextlib.suppress(OSError):
                    place.unlink()
            if isinstance(error, OSError):
                return False
            raise
        if stored.source == "remote":
            self._keep(lambda: self._add(stored.key, stored.variant))
        return True

    def store(self, key: str, root: Path, outputs: Sequence[str], found: Mapping[str, str]) -> None:
        """Keep what a step made that ended well. `found` are the files it read beside its declared inputs, with digests.

        The digests must be those of what the step read: a caller that saw a file change in the meantime does not store.
        A step with an output that is missing, or no regular file, is not kept.
        """
        self._place(key)  # a wrong key is a fault whatever else there is
        if self.readonly or not outputs or not self._has_room(root, outputs):
            return

        def add() -> None:
            blobs = {path: self._blobs.put(root / path) for path in outputs}
            for blob in blobs.values():
                self._usage.add(blob.size)
            variant = Variant(found=dict(found), outputs=blobs)
            self._add(key, variant)
            if self.remote is not None:
                self.remote.upload(key, variant, self._blobs.open)

        self._keep(add)

    def trim(self) -> None:
        """Remove what was not used for longest when there is more than the limit. Takes no time when there is not."""
        if not self.readonly:
            with contextlib.suppress(OSError):
                self._usage.trim()

    def close(self) -> None:
        """End a build: wait, within limits, for what is being sent to the remote, and trim."""
        if self.remote is not None:
            self.remote.close()
        self.trim()

    def _place(self, key: str) -> Path:
        if not is_key(key):
            raise ValueError(f"{key}: no SHA-256 in hex")
        return self.folder / "ac" / key[:2] / key

    def _variants(self, key: str) -> tuple[Variant, ...]:
        try:
            with open_regular(self._place(key)) as file:
                return decode(key, file.read(LARGEST)) or ()
        except OSError:
            return ()

    def _add(self, key: str, variant: Variant) -> None:
        data = encode(key, with_variant(self._variants(key), variant))
        # Two builds that add to one entry at the same time may lose one variant: that is a miss, some day.
        write_atomically(self._place(key), data)
        self._usage.add(len(data))

    def _copy(self, blob: Blob, file: BinaryIO) -> bool:
        if self._blobs.copy(blob, file):
            return True
        data = self.remote.blob(blob) if self.remote else None
        if data is None:
            return False
        file.seek(0)
        file.truncate()
        file.write(data)
        self._keep(lambda: self._blobs.put_bytes(blob, data))
        return True

    def _has_room(self, root: Path, outputs: Sequence[str]) -> bool:
        try:
            return sum((root / path).stat().st_size for path in outputs) < self._usage.limit
        except OSError:
            return False

    def _keep(self, write: Callable[[], None]) -> None:
        if self.readonly:
            return
        try:
            write()
        except OSError as error:
            if not self._warned:
                self._warned = True
                self._warn(f"cache {self.folder} cannot be written: {error.strerror or error}")


def limit_from(environ: Mapping[str, str]) -> int:
    """Return `SKRULES_CACHE_LIMIT` in bytes, 5 GiB when it is not set. Raises UsageError for what is no size.

    Sizes are a number and a unit, powers of 1024: `500M`, `10G`, `1.5T`; `0` keeps nothing.
    """
    text = environ.get("SKRULES_CACHE_LIMIT", "").strip()
    if not text:
        return DEFAULT_LIMIT
    parts = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{1,9})?) ?([KMGT])(?:i?B)?", text, re.ASCII | re.IGNORECASE)
    if parts:
        return int(float(parts[1]) * _UNITS[parts[2].upper()])
    if re.fullmatch(r"0+", text):
        return 0
    hint = f"write {text}G if gibibytes are meant" if re.fullmatch(r"[0-9]{1,9}", text) else ""
    raise UsageError(
        f"SKRULES_CACHE_LIMIT={text}: not a size", allowed=("a number with K, M, G or T, such as 500M or 10G", "0"), hint=hint
    )


def _say(text: str) -> None:
    print(f"warning: {text}", file=sys.stderr)
