"""The user's cache of things made once per machine: precompiled headers, runtime libraries, digests.

Everything in it can be thrown away at any time; a cache that cannot be written costs time, never correctness.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from skrules.errors import UsageError

_DONE = ".complete"  # sizes of all files, written last: an entry without it, or that differs from it, is not used


def root(environ: Mapping[str, str]) -> Path:
    """Return `$SKRULES_CACHE`, else `$XDG_CACHE_HOME/skrules`, else `~/.cache/skrules`. Relative values are ignored.

    Raises UsageError where there is none of them: a user without a home, as in containers.
    """
    explicit = Path(environ.get("SKRULES_CACHE", ""))
    if explicit.is_absolute():
        return explicit
    xdg = Path(environ.get("XDG_CACHE_HOME", ""))
    if xdg.is_absolute():
        return xdg / "skrules"
    home = environ.get("HOME", "")
    try:
        return (Path(home) if home else Path.home()) / ".cache" / "skrules"
    except RuntimeError as error:
        raise UsageError(
            "this user has no home folder to keep caches in", hint="set SKRULES_CACHE or HOME to a folder"
        ) from error


def key_of(*parts: str) -> str:
    """Return a digest of `parts` that can name a cache entry."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


@contextlib.contextmanager
def lock(path: Path, *, wait: bool = True) -> Iterator[bool]:
    """Hold an OS lock on `path`; it goes away with the process. Yields False when `wait` is off and another holds it."""
    with path.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            yield False
            return
        yield True


class Cache:
    """Complete folders by name and key."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def find(self, name: str, key: str) -> Path | None:
        """Return the complete folder of an entry, or None."""
        entry = self.root / name / key
        return entry if _is_complete(entry) else None

    def cached(self, name: str, key: str, build: Callable[[Path], None], *, wait: bool = True, keep: int = 0) -> Path | None:
        """Return the folder of an entry, made by `build(folder)` when it is not there or was damaged.

        Exceptions of `build` pass through and leave nothing behind, but an OSError means that the cache is of no use.
        Returns None then, or, with `wait` off, when another process is making this very entry: the caller does without.
        With `keep`, only so many entries of this name stay, the newest.
        """
        found = self.find(name, key)
        if found:
            return found
        parent = self.root / name
        try:
            parent.mkdir(parents=True, exist_ok=True)
            locked = lock(parent / f"{key}.lock", wait=wait)
            mine = locked.__enter__()
        except OSError:
            return None
        with contextlib.ExitStack() as stack:
            stack.push(locked)
            if not mine:
                return None
            made = self.find(name, key) or self._make(parent, key, build)
            if made and keep:
                for old in _oldest_first(parent)[:-keep]:
                    shutil.rmtree(old, ignore_errors=True)
            return made

    def _make(self, parent: Path, key: str, build: Callable[[Path], None]) -> Path | None:
        try:
            temporary = Path(tempfile.mkdtemp(prefix=f"{key}.", dir=parent))
        except OSError:
            return None
        try:
            build(temporary)
            (temporary / _DONE).write_text(_sizes(temporary))
            entry = parent / key
            shutil.rmtree(entry, ignore_errors=True)
            temporary.replace(entry)
            return entry
        except OSError:  # a full disk, a lost mount
            return None
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


def _oldest_first(parent: Path) -> list[Path]:
    """Return the complete entries of a name. Other processes make and remove entries at the same time."""
    found: list[tuple[float, Path]] = []
    for path in parent.glob(f"*/{_DONE}"):
        with contextlib.suppress(OSError):
            found.append((path.parent.stat().st_mtime, path.parent))
    return [entry for _, entry in sorted(found)]


def _sizes(folder: Path) -> str:
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != _DONE)
    return "".join(f"{path.relative_to(folder)} {path.stat().st_size}\n" for path in files)


def _is_complete(entry: Path) -> bool:
    try:
        return (entry / _DONE).read_text() == _sizes(entry)
    except (OSError, UnicodeDecodeError):
        return False
