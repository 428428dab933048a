"""What a kind of fix is, and what all of them say when they cannot be applied."""

from __future__ import annotations

from typing import Protocol

from skrules.findings import Fix


class Refused(Exception):
    """A fix that cannot be applied; `reason` is a word for programs, with what is to know behind a colon."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Kind(Protocol):
    """A kind of fix. `apply` has no state: equal text and fix give an equal result."""

    @property
    def name(self) -> str: ...

    def apply(self, text: str, fix: Fix) -> str:
        """Return `text` with the fix, or `text` itself where nothing is left to do.

        Text is bytes held as latin-1, without a byte order mark. Applied to its own result a fix changes nothing. Raises
        Refused.
        """


def held(value: str) -> str:
    """Return a value of a fix the way text is held. Raises Refused for what no file should get: a NUL, half a character."""
    try:
        data = value.encode()
    except UnicodeEncodeError:
        raise Refused("invalid_text") from None
    if b"\0" in data:
        raise Refused("invalid_text")
    return data.decode("latin-1")


def required(value: str, missing: str) -> str:
    """Return `held(value)`. Raises Refused with `missing` for nothing, and for blanks, which are everywhere."""
    if not value.strip():
        raise Refused(missing)
    return held(value)
