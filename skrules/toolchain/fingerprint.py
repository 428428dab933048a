"""Digests that stand for things outside the workspace: compilers, header trees, toolkits."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

from skrules.engine.files import write_if_changed
from skrules.toolchain.cache import Cache, key_of


def digest_tree(root: Path, patterns: Iterable[str] = ("**/*",)) -> str:
    """Return a digest of the names and contents of all files below `root` that match; "" adds nothing when there are none."""
    total = hashlib.sha256()
    for path in sorted({path for pattern in patterns for path in root.glob(pattern) if path.is_file()}):
        data = path.read_bytes()
        total.update(f"{path.relative_to(root).as_posix()}\0{len(data)}\0".encode())
        total.update(data)
    return total.hexdigest()[:32]


def digest_file(path: Path) -> str:
    """Return a digest of one file's contents."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:32]


def digest_large(path: Path, cache: Cache) -> str:
    """Return `digest_file` of a large file that seldom changes, such as a compiler.

    The digest is remembered in the user's cache under the file's path, inode, size and both its times, that of the last
    change of any kind too, so that a build does not read hundreds of megabytes each time.
    """
    real = path.resolve()
    stat = real.stat()
    identity = key_of(str(real), str(stat.st_ino), str(stat.st_size), str(stat.st_mtime_ns), str(stat.st_ctime_ns))
    memory = cache.root / "digests" / f"{identity}.json"
    try:
        known = json.loads(memory.read_text())["sha256"]
        if isinstance(known, str) and len(known) == 32:
            return known
    except (OSError, ValueError, KeyError, TypeError):
        pass  # never seen, or damaged: read the file
    digest = digest_file(real)
    with contextlib.suppress(OSError):
        write_if_changed(memory, json.dumps({"sha256": digest}).encode())
    return digest
