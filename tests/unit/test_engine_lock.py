"""One build at a time, and no compiler of a killed one beside it."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from skrules.engine.lock import BuildLock
from skrules.engine.orphans import alive, end, identity

# Takes the lock, starts something that sleeps (whose own child does too), notes it, and says so; ends as it is told.
HOLDER = """\
import os, subprocess, sys
from pathlib import Path
from skrules.engine.lock import BuildLock
lock = BuildLock(Path(sys.argv[1]))
lock.acquire(lambda text: print(text, flush=True))
child = subprocess.Popen(["sh", "-c", "sleep 60 & wait"])
lock.note(child.pid)
print(child.pid, flush=True)
sys.stdin.readline()
lock.release()
"""


@pytest.fixture
def holder(tmp_path):
    """A process that has the lock, and the one that it started."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path / "state/lock")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    child = identity(int(process.stdout.readline()))
    yield process, child
    process.kill()
    end(child)
    process.communicate()


def test_it_is_taken_again_after_release(tmp_path):
    said = []
    for _ in range(2):
        lock = BuildLock(tmp_path / "state/lock")
        now = lock.acquire(said.append)
        assert now == (tmp_path / "state/lock").stat().st_mtime_ns
        assert (tmp_path / "state/lock").read_text() == f"{os.getpid()}\n"
        lock.release()
        assert (tmp_path / "state/lock").read_text() == ""
    assert said == []


def test_a_new_folder_is_older_than_the_lock(tmp_path):
    lock = BuildLock(tmp_path / "build/state/lock")
    now = lock.acquire(print)
    assert tmp_path.stat().st_ctime_ns < now
    lock.release()


def test_the_next_one_waits_and_says_for_whom(tmp_path, holder):
    process, child = holder
    said = []

    def say(text):
        said.append(text)
        process.stdin.write("\n")  # now it may end
        process.stdin.flush()

    lock = BuildLock(tmp_path / "state/lock")
    lock.acquire(say)
    lock.release()
    assert said == [f"waiting for another build in this folder (process {process.pid})"]
    assert alive(child)  # who ended well has nothing to be ended


def test_what_a_killed_one_had_started_is_ended(tmp_path, holder):
    process, child = holder
    process.kill()
    process.wait()
    assert alive(child)
    said = []
    lock = BuildLock(tmp_path / "state/lock")
    lock.acquire(said.append)
    assert not alive(child)
    assert said == [f"ending process {child.partition(':')[0]}, which a build that was killed had started"]
    lock.release()


def test_what_is_started_while_another_one_waits_is_ended_too(tmp_path, holder):
    process, child = holder
    late = subprocess.Popen(["sleep", "60"])

    def say(text):
        if text.startswith("waiting"):
            with (tmp_path / "state/lock").open("a") as file:
                file.write(f"{identity(late.pid)}\n")
            process.kill()

    lock = BuildLock(tmp_path / "state/lock")
    lock.acquire(say)
    assert late.wait(5) == -9
    assert not alive(child)
    lock.release()


def test_a_removed_lock_is_not_waited_for_twice(tmp_path, holder):
    process, _ = holder
    path = tmp_path / "state/lock"
    other = BuildLock(path)

    def say(_text):
        path.unlink()
        process.stdin.write("\n")
        process.stdin.flush()

    other.acquire(say)
    assert path.read_text() == f"{os.getpid()}\n"
    other.release()


@pytest.mark.parametrize("text", [b"\xff\xfe", b"1\n\n:::\nx:y:z\n1\n-1:2:3\n", b"99999999999999999999:1:2\n" * 2])
def test_garbage_in_the_lock_ends_nothing(tmp_path, text):
    (tmp_path / "lock").write_bytes(text)
    said = []
    lock = BuildLock(tmp_path / "lock")
    lock.acquire(said.append)
    lock.release()
    assert said == []


def test_a_name_is_that_of_one_process():
    name = identity(os.getpid())
    assert alive(name) == os.getpid()
    pid, started, boot = name.split(":")
    assert alive(f"{pid}:{int(started) + 1}:{boot}") == 0  # the same number, another process
    assert alive(f"{pid}:{started}:another") == 0
    child = subprocess.Popen(["sleep", "60"])
    name = identity(child.pid)
    child.kill()
    time.sleep(0.05)
    assert alive(name) == 0  # dead, and not collected yet
    child.wait()


def test_everything_below_is_ended_too(tmp_path):
    note = tmp_path / "pid"
    child = subprocess.Popen(["sh", "-c", f"sleep 60 & echo $! > {note}; wait"], start_new_session=True)
    while not note.exists() or not note.read_text().strip():
        time.sleep(0.01)
    below = identity(int(note.read_text()))
    assert alive(below)
    name = identity(child.pid)
    end(name)
    assert not alive(name)
    assert not alive(below)
    child.wait()
