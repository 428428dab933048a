"""What a kernel may ask of its core: flags, events, barriers, device memory, race tracking."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]

FIRST = "[k AIV block 0.0 (GetBlockIdx=0)] "

FAILURES = {
    "wait_without_set": FIRST + "WaitFlag<MTE2_V>(EVENT_ID1) with no earlier SetFlag: the V pipe hangs on the device",
    "event_id": FIRST + "SetFlag<MTE2_V>: event id 8 is none of 0..7",
    "events": FIRST + "AllocEventID<V_MTE3>: all 8 ids are taken",
    "cross_id": FIRST + "CrossCoreSetFlag: flag id 16 is none of 0..15",
    "cross_mode": FIRST + "CrossCoreSetFlag: mode 3 is none of 0, 1, 2 and (dav-3510) 4",
    "cross_mode_4": "[k AIC block 0.0 (GetBlockIdx=0)] CrossCoreSetFlag<4> needs dav-3510, this launch runs on dav-2201",
    "cross_overflow": "[k AIV block 3.0 (GetBlockIdx=3)] CrossCoreSetFlag: more than 15 pending on flag 1 of AIV block 0.0",
    "cross_one_kind": FIRST
    + "CrossCoreSetFlag<2>: it is between the AIC and the AIV cores of a block, this launch has one kind only",
    "sync_parties": FIRST + "SyncAll: 5 cores are to meet, the launch has 4",
    "out_of_turn": "[k AIV block 1.0 (GetBlockIdx=1)] NotifyNextBlock out of turn: WaitPreBlock comes first",
}
FINE = ("pair", "handshake_3510", "sync_some", "block_flags", "turns")
STUCK = {
    "pair_alone": ("AIV block 3.0 waits for CrossCoreWaitFlag(1)", "(4 of 12 cores stuck)"),
    "block_flag_never": ("AIV block 0.0 waits for IBWait(block 7, event 1)", "(4 of 4 cores stuck)"),
    "spin": ("AIV block 0.0 waits for a change in global memory (it spins)", "(4 of 4 cores stuck)"),
}


@pytest.mark.parametrize("name", FAILURES)
def test_misuse_fails(run: Run, name: str) -> None:
    assert run("inside", name).stdout == f"{name}: {FAILURES[name]}\n"


@pytest.mark.parametrize("name", FINE)
def test_right_use_passes(run: Run, name: str) -> None:
    result = run("inside", name, env={"SKRULES_HOST_STRICT": "1"})
    assert (result.stdout, result.stderr) == (f"{name}: fine\n", "")


@pytest.mark.parametrize("name", STUCK)
def test_deadlock_names_who_waits(run: Run, name: str) -> None:
    lines = [line.strip() for line in run("inside", name).stdout.splitlines()]
    assert lines[0] == f"{name}: [k] deadlock: no core can make progress:"
    assert STUCK[name][0] in lines and lines[-1] == STUCK[name][1]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("set_twice", "SetFlag<MTE2_V>(EVENT_ID0) is set already, with no WaitFlag since"),
        ("left_set", "the kernel ends and leaves SetFlag<MTE2_V>(EVENT_ID2) without WaitFlag"),
        ("cross_left", "the kernel ends and leaves CrossCoreSetFlag(1) without CrossCoreWaitFlag"),
    ],
)
def test_leak_warns_once_and_fails_when_strict(run: Run, name: str, text: str) -> None:
    lenient = run("inside", name, name)
    assert lenient.stdout == f"{name}: fine\n" * 2
    assert lenient.stderr == f"skrules-host: warning: {FIRST}{text}\n"
    assert run("inside", name, env={"SKRULES_HOST_STRICT": "1"}).stdout == f"{name}: {FIRST}{text} (SKRULES_HOST_STRICT)\n"


def test_endless_loop_ends(run: Run) -> None:
    result = run("inside", "endless", "pair", env={"SKRULES_HOST_TIMEOUT": "0.1"})
    assert "the launch takes longer than SKRULES_HOST_TIMEOUT allows" in result.stdout
    assert result.stdout.endswith("pair: fine\n")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "raw",
            "RACE Add: pipe V reads UB+0, last written by pipe MTE2 with no SetFlag/WaitFlag<MTE2_V> (or queue/barrier) between",
        ),
        ("war", "RACE DataCopy: pipe MTE2 overwrites UB+0 that pipe V may still read: no SetFlag/WaitFlag<V_MTE2> between"),
    ],
)
def test_race_is_found(run: Run, name: str, text: str) -> None:
    assert run("inside", name).stdout == f"{name}: fine\n"
    assert run("inside", name, env={"SKRULES_HOST_RACE": "1"}).stdout == f"{name}: {FIRST}{text}\n"


@pytest.mark.parametrize("name", ["raw_flag", "raw_queue", "raw_barrier", "raw_scalar"])
def test_synchronised_pipes_do_not_race(run: Run, name: str) -> None:
    assert run("inside", name, env={"SKRULES_HOST_RACE": "1"}).stdout == f"{name}: fine\n"


def test_foreign_memory_is_out_of_bounds(run: Run) -> None:
    assert run("inside", "freed").stdout.endswith(" was freed\n")
    assert run("inside", "stranger").stdout.endswith(" lies in no device allocation\n")
    assert run("inside", "reused").stdout.endswith("out of bounds in GM: 4 bytes at offset 512 of an allocation of 512 bytes\n")
