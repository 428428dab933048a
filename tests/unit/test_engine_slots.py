"""Memory that running steps share: no more at once than fits."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from skrules.engine.slots import MIB, MemorySlots, available_memory

GIB = 1024 * MIB


class Meter:
    """Holds slots until told to let go, and remembers the most that was held at once."""

    def __init__(self, slots: MemorySlots) -> None:
        self.slots = slots
        self.lock = threading.Lock()
        self.held: list[int] = []
        self.most: list[int] = []
        self.changed = threading.Semaphore(0)
        self.go = threading.Semaphore(0)

    def step(self, amount: int) -> None:
        with self.slots.take(amount):
            with self.lock:
                self.held.append(amount)
                self.most = max(self.most, list(self.held), key=len)
            self.changed.release()
            self.go.acquire()
            with self.lock:
                self.held.remove(amount)


@pytest.mark.parametrize(
    ("amounts", "at_once"),
    [
        pytest.param([300 * MIB] * 9, 3, id="as many as fit"),
        pytest.param([1200 * MIB] * 4, 1, id="more than there is, one after the other"),
        pytest.param([0] * 8, 8, id="what takes nothing never waits"),
        pytest.param([GIB] * 3, 1, id="exactly all of it"),
    ],
)
def test_no_more_than_fit_run_at_once(amounts: list[int], at_once: int) -> None:
    meter = Meter(MemorySlots(GIB))
    with ThreadPoolExecutor(len(amounts)) as pool:
        done = [pool.submit(meter.step, amount) for amount in amounts]
        for _ in range(at_once):
            assert meter.changed.acquire(timeout=10)
        # All that fit are inside; none of the others may follow until one has left.
        assert not meter.changed.acquire(timeout=0.05)
        for _ in amounts:
            meter.go.release()
        for each in done:
            each.result(timeout=10)
    assert len(meter.most) == at_once
    assert sum(meter.most) <= max(GIB, amounts[0])


def test_small_steps_run_beside_a_large_one() -> None:
    meter = Meter(MemorySlots(GIB))
    with ThreadPoolExecutor(4) as pool:
        done = [pool.submit(meter.step, amount * MIB) for amount in (900, 60, 60)]
        for _ in range(3):
            assert meter.changed.acquire(timeout=10)
        waits = pool.submit(meter.step, 60 * MIB)
        assert not meter.changed.acquire(timeout=0.05)
        for _ in range(4):
            meter.go.release()
        for each in (*done, waits):
            each.result(timeout=10)


def test_a_step_that_fails_gives_its_memory_back() -> None:
    slots = MemorySlots(GIB)
    for _ in range(3):
        with pytest.raises(ValueError, match="broken"), slots.take(GIB):
            raise ValueError("broken")
    with slots.take(GIB):
        pass


def _write(root: Path, **files: str) -> Path:
    for name, text in files.items():
        path = root / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


@pytest.mark.parametrize(
    ("cgroup", "expected"),
    [
        ({}, 4000 * 1024),
        ({"memory.max": "3000000", "memory.current": "1000000"}, 2000000),
        ({"memory.max": "max", "memory.current": "1000000"}, 4000 * 1024),
        ({"memory__memory.limit_in_bytes": "1500000", "memory__memory.usage_in_bytes": "500000"}, 1000000),
    ],
)
def test_a_container_has_what_its_limit_leaves(tmp_path: Path, cgroup: dict[str, str], expected: int) -> None:
    proc = _write(tmp_path / "proc", meminfo="MemTotal: 9000 kB\nMemAvailable: 4000 kB\n")
    assert available_memory(proc, _write(tmp_path / "cgroup", **cgroup)) == int(expected * 0.85)


def test_where_nothing_is_known_nothing_is_held_back(tmp_path: Path) -> None:
    assert available_memory(tmp_path, tmp_path) > 1 << 50
