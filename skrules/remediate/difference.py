"""Changes as a unified diff, which `patch` and `git apply` read."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator

from skrules.remediate.remediation import Change

_NO_END = "\n\\ No newline at end of file\n"


def unified(changes: Iterable[Change]) -> bytes:
    """Return the diff of files, byte for byte. Line ends other than LF are part of their line, as for git."""
    return "".join(line for change in changes for line in _lines(change)).encode("utf-8", "surrogateescape")


def _lines(change: Change) -> Iterator[str]:
    before, after = (_split(data.decode("utf-8", "surrogateescape")) for data in (change.before, change.after))
    for line in difflib.unified_diff(before, after, f"a/{change.file}", f"b/{change.file}"):
        yield line if line.endswith("\n") else line + _NO_END


def _split(text: str) -> list[str]:
    parts = text.split("\n")
    return [f"{part}\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])
