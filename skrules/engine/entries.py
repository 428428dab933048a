"""Entries of the step cache: what one key's step was seen to read, and what came out of it.

An entry holds several variants, because which headers a step reads is known only after it ran, and differs with their
contents. As bytes it is a line with the digest of the rest, then JSON that names its own key: an entry that was cut,
damaged, or handed out under another name is told from a good one before anything in it is believed.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

# A larger one is nobody's entry. Checked before it is read into memory.
LARGEST = 8 << 20
_MOST_VARIANTS = 16
_MAGIC = b"skrules-step 1 "
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Blob:
    """The content of one output file: its SHA-256 in hex, its size in bytes, and whether the file can be executed."""

    digest: str
    size: int
    executable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """What a step read beside its declared inputs, path -> content digest ("": must not exist), and its outputs by path.

    Raises ValueError for a path that is not relative and plain: an entry from elsewhere must not reach out of the workspace.
    """

    found: Mapping[str, str]
    outputs: Mapping[str, Blob]

    def __post_init__(self) -> None:
        for path in (*self.found, *self.outputs):
            if "\0" in path or any(part in ("", ".", "..") for part in path.split("/")):
                raise ValueError(f"{path!r}: no plain path below the workspace")
            os.fsencode(path)  # half a surrogate pair names no file; it raises a ValueError

    def fits(
        self,
        outputs: Iterable[str],
        digest_of: Callable[[str], str],
        also_found: Callable[[Iterable[str]], Iterable[str]],
    ) -> bool:
        """Tell whether running the step now would read exactly what this variant was made from.

        `digest_of(path)` is a file's digest now, "" when there is none; `also_found(paths)` are files that the step would
        read instead of one of `paths`, or beside it.
        """
        return (
            self.outputs.keys() == set(outputs)
            and all(digest_of(path) == digest for path, digest in self.found.items())
            and self.found.keys() >= set(also_found(tuple(path for path, digest in self.found.items() if digest)))
        )


def is_key(text: str) -> bool:
    """Tell whether `text` is a SHA-256 in hex, as keys and digests of blobs are, here and on any server."""
    return _SHA256.fullmatch(text) is not None


def with_variant(variants: Iterable[Variant], new: Variant) -> tuple[Variant, ...]:
    """Return the newest variants of an entry, newest first, `new` in the place of one that was made from the same."""
    return (new, *(variant for variant in variants if variant.found != new.found))[:_MOST_VARIANTS]


def encode(key: str, variants: Iterable[Variant]) -> bytes:
    """Return the bytes of an entry."""
    body = {
        "key": key,
        "variants": [
            {
                "found": dict(variant.found),
                "outputs": {path: [blob.digest, blob.size, blob.executable] for path, blob in variant.outputs.items()},
            }
            for variant in variants
        ],
    }
    text = json.dumps(body, separators=(",", ":")).encode()
    return _MAGIC + hashlib.sha256(text).hexdigest().encode() + b"\n" + text


def decode(key: str, data: bytes) -> tuple[Variant, ...] | None:
    """Return the variants of the entry of `key`, newest first, or None for bytes that are not a good entry of that key."""
    head, _, text = data.partition(b"\n")
    if head != _MAGIC + hashlib.sha256(text).hexdigest().encode():
        return None
    try:
        body = json.loads(text)
        if body["key"] != key:
            return None
        return tuple(_variant(record) for record in body["variants"])
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def _variant(record: Any) -> Variant:
    found = dict(record["found"].items())
    if not all(isinstance(digest, str) for digest in found.values()):
        raise ValueError(found)
    return Variant(found=found, outputs={path: _blob(*blob) for path, blob in record["outputs"].items()})


def _blob(digest: Any, size: Any, executable: Any) -> Blob:
    if not (is_key(digest) and type(size) is int and size >= 0 and type(executable) is bool):
        raise ValueError(digest)
    return Blob(digest=digest, size=size, executable=executable)
