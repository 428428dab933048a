"""The archive: files in, bytes out, always the same bytes for the same files."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import time
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from skrules.errors import UsageError

# The first moment that a zip file can tell.
_FIRST = 315532800  # 1980-01-01 00:00:00 UTC
_LAST = 4354819198  # 2107-12-31 23:59:58 UTC
# The default of zlib, said aloud: the key of the step that writes a wheel has the version of zlib.
_LEVEL = 6
_UNIX = 3
_REGULAR = 0o100000


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One file of a wheel. `path` is where it stands in it, `origin` says to people where it comes from."""

    path: str
    data: bytes
    origin: str

    @property
    def mode(self) -> int:
        return 0o755 if self.path.endswith(".so") else 0o644


def read_epoch(environ: Mapping[str, str]) -> int:
    """Return the time that all files of a wheel have: SOURCE_DATE_EPOCH, in seconds since 1970, or else 1980-01-01.

    Raises UsageError (https://reproducible-builds.org/specs/source-date-epoch/).
    """
    text = environ.get("SOURCE_DATE_EPOCH", "")
    if text and not (text.isascii() and text.isdigit()):
        raise UsageError(f"SOURCE_DATE_EPOCH is '{text}'", hint="give seconds since 1970, as in $(git log -1 --format=%ct)")
    return min(max(int(text or _FIRST), _FIRST), _LAST)


def pack(parts: Iterable[Part], *, dist_info: str, epoch: int) -> bytes:
    """Return the wheel of `parts`, with its RECORD. The metadata come last, as installers like to find them.

    Raises UsageError for two parts with one path, and for a path that lies nowhere.
    """
    chosen: dict[str, Part] = {}
    for part in parts:
        if not is_inside(part.path):
            raise UsageError(f"'{part.path}' is no place in a wheel", notes=[f"it is that of {part.origin}"])
        first = chosen.setdefault(part.path, part)
        if first is not part:
            raise UsageError(f"two files of the wheel are '{part.path}'", notes=[first.origin, part.origin])
    record = f"{dist_info}/RECORD"
    ordered = sorted(chosen.values(), key=lambda part: (part.path.startswith(f"{dist_info}/"), part.path))
    ordered.append(Part(path=record, data=render_record(ordered, record), origin="the wheel itself"))
    moment = time.gmtime(epoch)[:6]
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for part in ordered:
            info = zipfile.ZipInfo(part.path, moment)
            info.create_system = _UNIX
            info.external_attr = (_REGULAR | part.mode) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, part.data, compresslevel=_LEVEL)
    return out.getvalue()


def render_record(parts: Iterable[Part], record: str) -> bytes:
    """Return RECORD, whose own path is `record`."""
    out = io.StringIO()
    lines = csv.writer(out, lineterminator="\n")
    for part in parts:
        lines.writerow((part.path, record_hash(part.data), len(part.data)))
    lines.writerow((record, "", ""))
    return out.getvalue().encode()


def record_hash(data: bytes) -> str:
    """Return a hash as RECORD has it."""
    return f"sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()}"


def is_inside(path: str) -> bool:
    """Tell whether a path of a wheel stays where the wheel is installed."""
    return bool(path) and "\\" not in path and all(word not in ("", ".", "..") for word in path.split("/"))
