"""Which steps may run at the same time: no more than fit into memory.

A number of jobs says nothing of memory: two compilers of a gigabyte each can end a machine on which sixteen small steps run well.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path

MIB = 1 << 20
# What is left to everything else, and to what a step takes beyond what was expected.
_SHARE = 0.85


class MemorySlots:
    """Memory in bytes that running steps may take together. A step that needs more than all of it runs alone."""

    def __init__(self, budget: int) -> None:
        self.budget = budget
        self._taken = 0
        self._running = 0
        self._changed = threading.Condition()

    @contextlib.contextmanager
    def take(self, amount: int) -> Iterator[None]:
        """Wait until `amount` bytes are free, or nothing else runs, and hold them."""
        with self._changed:
            self._changed.wait_for(lambda: self._running == 0 or self._taken + amount <= self.budget)
            self._taken += amount
            self._running += 1
        try:
            yield
        finally:
            with self._changed:
                self._taken -= amount
                self._running -= 1
                self._changed.notify_all()


def available_memory(proc: Path = Path("/proc"), cgroup: Path = Path("/sys/fs/cgroup")) -> int:
    """Return the bytes that steps may use: what Linux calls available, or what a container's limit leaves, if less."""
    found = [value for value in (_mem_available(proc / "meminfo"), _cgroup_left(cgroup)) if value is not None]
    return int(min(found) * _SHARE) if found else 1 << 62


def _mem_available(meminfo: Path) -> int | None:
    with contextlib.suppress(OSError, ValueError):
        for line in meminfo.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return None


def _cgroup_left(cgroup: Path) -> int | None:
    for limit, used in (
        ("memory.max", "memory.current"),  # cgroup 2, then 1
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
    ):
        with contextlib.suppress(OSError, ValueError):
            return int((cgroup / limit).read_text()) - int((cgroup / used).read_text())
    return None
