"""What a build does, as it does it: one JSON object a line, for programs that watch or analyse builds."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import TextIO


class EventLog:
    """Writes events to a file; without a file it does nothing. Safe to use from several threads."""

    def __init__(self, path: Path | None = None) -> None:
        self._file: TextIO | None = path.open("w", encoding="utf-8") if path else None
        self._lock = threading.Lock()

    def write(self, event: str, **fields: object) -> None:
        """Write one event with the seconds since the epoch. `fields` must be plain data."""
        if self._file is None:
            return
        line = json.dumps({"event": event, "time": round(time.time(), 3), **fields}, separators=(",", ":"))
        with self._lock:
            self._file.write(line + "\n")
            self._file.flush()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None
