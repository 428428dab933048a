"""What people are told of a wheel that was made: where it is, how large, its hash, and what it holds."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path


def describe(path: Path, shown: str) -> list[str]:
    """Return lines about the wheel at `path`, which is called `shown`. Raises OSError when it cannot be read."""
    data = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        infos = archive.infolist()
    width = len(f"{max((info.file_size for info in infos), default=0):,}")
    return [
        f"wheel: {shown}",
        f"  {len(data):,} bytes, sha256 {hashlib.sha256(data).hexdigest()}",
        *(f"  {info.file_size:>{width},}  {info.filename}" for info in infos),
    ]
