"""The JSON documents that tools before this one write about an operator, as rules on them look at them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

KINDS = ("layout", "build-context", "verify-context")


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """`kind` is one of `KINDS`; `path` as messages name it; `data` None: there is no such file, or it cannot be read.

    `folder` is where relative paths in it begin.
    """

    kind: str
    path: str
    data: bytes | None
    folder: Path


def read_document_file(kind: str, path: Path) -> Document:
    """Read a document; one that is not there is told by its rule, not here."""
    try:
        data = path.read_bytes()
    except OSError:
        data = None
    return Document(kind=kind, path=path.as_posix(), data=data, folder=path.parent)
