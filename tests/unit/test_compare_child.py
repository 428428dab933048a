from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from skrules.compare.child import Ending, never, run_child, tail
from skrules.errors import BuildError

# A program with a child of its own; both would go on for a minute.
HANGS = ["/bin/sh", "-c", "sleep 60 & echo $$ $! >pids.new; mv pids.new pids; wait"]
# Whoever started the tests in the background may have told them to ignore Ctrl-C, and that is inherited.
BUILDER = f"""import os, signal, sys
from skrules.compare.child import never, run_child
signal.signal(signal.SIGINT, signal.default_int_handler)
with open("out", "wb") as out:
    run_child({HANGS!r}, env=os.environ, stdout=out, stderr=out, timeout_s=60, interrupted=never, what="it")
"""


def _run(folder: Path, command: list[str], *, env: dict[str, str] | None = None, timeout_s: float = 20.0) -> tuple[Ending, str]:
    out = folder / "out"
    with out.open("wb") as file:
        ending = run_child(
            command, env=env or {}, stdout=file, stderr=file, timeout_s=timeout_s, interrupted=never, what="the program"
        )
    return ending, tail(out)


def _pids(folder: Path) -> list[int]:
    _until(lambda: (folder / "pids").exists(), "the program did not start")
    return [int(word) for word in (folder / "pids").read_text().split()]


def _until(condition, message: str) -> None:
    for _ in range(500):
        if condition():
            return
        time.sleep(0.02)
    pytest.fail(message)


def _gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


@pytest.mark.parametrize(
    ("script", "text", "good"),
    [
        ("exit 0", "ended with status 0", True),
        ("exit 7", "ended with status 7", False),
        ("exit 255", "ended with status 255", False),
        ("kill -SEGV $$", "was ended by SIGSEGV", False),
        ("kill -KILL $$", "was ended by SIGKILL", False),
        ("kill -40 $$", "was ended by signal 40", False),
        ("kill -TERM 0", "was ended by SIGTERM", False),
        ("kill -KILL $PPID; sleep 60", "was ended by SIGKILL", False),
    ],
)
def test_how_a_program_ends_is_said_in_words(tmp_path: Path, script: str, text: str, good: bool) -> None:
    ending, _ = _run(tmp_path, ["/bin/sh", "-c", script], env={"PATH": os.environ["PATH"]})
    assert ending == Ending(text=text, good=good)


@pytest.mark.parametrize(
    ("content", "mode", "reason"),
    [
        (None, 0, "No such file or directory"),
        (b"\x7fELF nonsense", 0o755, "Exec format error"),
        (b"#!/bin/sh\n", 0o644, "denied"),
    ],
)
def test_what_cannot_be_started_says_why(tmp_path: Path, content: bytes | None, mode: int, reason: str) -> None:
    program = tmp_path / "program"
    if content is not None:
        program.write_bytes(content)
        program.chmod(mode)
    ending, _ = _run(tmp_path, [str(program)])
    assert not ending.started and ending.text.startswith("cannot be started: ") and reason in ending.text


def test_a_program_has_the_given_environment_no_input_and_default_signals(tmp_path: Path) -> None:
    env = {"ONLY": "one", "LARGE": "x" * 120_000, "ODD": "é\udcff"}
    ending, said = _run(tmp_path, ["/bin/sh", "-c", "cat; env | cut -c1-9; grep SigIgn /proc/self/status"], env=env)
    assert ending.good
    lines = said.splitlines()
    assert "ONLY=one" in lines and not any(line.startswith(("HOME", "PATH=/", "SKRULES")) for line in lines)
    assert int(lines[-1].split()[1], 16) & (1 << (signal.SIGPIPE - 1)) == 0


def test_it_runs_in_any_thread(tmp_path: Path) -> None:
    found: list[Ending] = []
    thread = threading.Thread(target=lambda: found.append(_run(tmp_path, ["/bin/sh", "-c", "exit 3"])[0]))
    thread.start()
    thread.join()
    assert found[0].text == "ended with status 3"


def test_an_interruption_ends_all_of_it_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with (tmp_path / "out").open("wb") as out, pytest.raises(BuildError, match="//ops/a: the program was interrupted"):
        run_child(
            HANGS,
            env=os.environ,
            stdout=out,
            stderr=out,
            timeout_s=60,
            interrupted=(tmp_path / "pids").exists,
            what="//ops/a: the program",
        )
    _until(lambda: all(map(_gone, _pids(tmp_path))), "the program outlives the interruption")


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_nothing_outlives_the_process_that_asked_for_it(tmp_path: Path, sent: signal.Signals) -> None:
    root = Path(__file__).parents[2]
    builder = subprocess.Popen(
        [sys.executable, "-c", BUILDER], cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(root)}, stderr=subprocess.DEVNULL
    )
    pids = _pids(tmp_path)
    assert not any(map(_gone, pids))
    builder.send_signal(sent)
    builder.wait(20)
    _until(lambda: all(map(_gone, pids)), "the program outlives the build")
