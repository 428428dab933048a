"""`replace-pattern`: a regular expression and what to put in place of its matches, both in the language of Python's `re`."""

from __future__ import annotations

import contextlib
import re
import signal
from collections.abc import Iterator

from skrules.findings import Fix
from skrules.remediate.kind import Refused, held, required

_SECONDS = 5.0  # more than any sensible expression needs; some take longer than anybody lives
_LARGEST = 64 << 20  # characters of a result


class ReplacePattern:
    """Replaces matches anywhere in a text, comments and strings included: a comment such as `// sk-arch:` may be the point.

    A match that already stands in its replacement is left alone, as `x` is in `xy` when `x` becomes `xy`: what was replaced
    once is not replaced again. An expression that matches nothing at all, which is everywhere, is refused.
    """

    name = "replace-pattern"

    def apply(self, text: str, fix: Fix) -> str:
        required(fix.old_value, "missing_pattern")
        held(fix.new_value)
        # Expressions speak of characters, and bytes that are none must survive.
        characters = text.encode("latin-1").decode("utf-8", "surrogateescape")
        with _limited_time():
            result = _replaced(characters, fix.old_value, fix.new_value)
        return result.encode("utf-8", "surrogateescape").decode("latin-1")


def _replaced(text: str, old: str, new: str) -> str:
    try:
        pattern = re.compile(old)
    except (re.error, OverflowError, RecursionError, MemoryError) as error:
        raise Refused(f"invalid_regex:{error}") from None
    try:
        pattern.sub(new, "")  # reads the replacement, matches or not
        if pattern.match(""):
            raise Refused("empty_match")
        return "".join(_pieces(text, pattern, new))
    except (re.error, IndexError) as error:
        raise Refused(f"invalid_replacement:{error}") from None
    except (RecursionError, MemoryError) as error:
        raise Refused(f"invalid_regex:{error}") from None


def _pieces(text: str, pattern: re.Pattern[str], new: str) -> Iterator[str]:
    at = size = 0
    for match in pattern.finditer(text):
        if match.start() == match.end():
            raise Refused("empty_match")
        replacement = match.expand(new)
        if _stands_already(text, match, replacement):
            continue
        size += len(replacement)
        if size > _LARGEST:
            raise Refused("result_too_large")
        yield text[at : match.start()]
        yield replacement
        at = match.end()
    yield text[at:]


def _stands_already(text: str, match: re.Match[str], replacement: str) -> bool:
    """Tell whether the text around a match is the replacement, with the match as a part of it."""
    inner = replacement.find(match.group())
    while inner >= 0:
        start = match.start() - inner
        if start >= 0 and text.startswith(replacement, start):
            return True
        inner = replacement.find(match.group(), inner + 1)
    return False


@contextlib.contextmanager
def _limited_time() -> Iterator[None]:
    """Refuse what takes too long. `re` looks for signals while it searches; they reach the main thread only."""

    def refuse(*_: object) -> None:
        raise Refused("took_too_long")

    before = signal.signal(signal.SIGALRM, refuse)
    signal.setitimer(signal.ITIMER_REAL, _SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
