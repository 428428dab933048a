"""What a build tells the user: whole lines from any thread, and on a terminal how far it is."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Callable
from typing import TextIO

_CLEAR = "\r\x1b[K"


def open_closed_streams() -> None:
    """Let a program that was started without standard output or error (`>&-`) write to nobody instead of failing."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if getattr(stream, "file", stream) is None:  # SCons wraps what Python has
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115 - for the whole run


def put(stream: TextIO | None, text: str) -> None:
    """Write text at once; characters that the stream's encoding does not have as escapes."""
    if stream is None:  # closed, and SCons has ended
        return
    try:
        stream.write(text)
    except UnicodeEncodeError:
        stream.write(text.encode(stream.encoding, "backslashreplace").decode(stream.encoding))
    stream.flush()


class Output:
    """Progress goes to standard output, complaints to standard error.

    `progress` gives the text of the last line of a terminal ("12 of 40 steps"); elsewhere it is not asked. It is kept
    out of the way of other text.
    """

    def __init__(self, *, silent: bool, progress: Callable[[], str] = lambda: "") -> None:
        self.progress = progress
        self._silent = silent
        self._lock = threading.Lock()
        self._shows_progress = not silent and sys.stdout.isatty()
        self._shown = False

    def tell(self, text: str) -> None:
        if not self._silent:
            self._write(sys.stdout, text)

    def complain(self, text: str) -> None:
        self._write(sys.stderr, text)

    def finish(self) -> None:
        """Take the line of progress away."""
        with self._lock:
            self._hide()
            self._shows_progress = False

    def _write(self, stream: TextIO, text: str) -> None:
        with self._lock:
            self._hide()
            put(stream, text)
            if self._shows_progress and (line := self.progress()):
                sys.stdout.write(line)
                sys.stdout.flush()
                self._shown = True

    def _hide(self) -> None:
        if self._shown:
            with contextlib.suppress(OSError, ValueError):
                sys.stdout.write(_CLEAR)
                sys.stdout.flush()
            self._shown = False
