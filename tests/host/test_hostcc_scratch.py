"""Where hostcc works: beside the output, in a folder of the same name each time, whatever happened there before."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from skrules.toolchain import hostcc

pytestmark = pytest.mark.skipif(not shutil.which("g++"), reason="no g++")

COMPILE = ["-c", "k.cpp", "-o", "out/k.o"]
TEMPORARY = Path("out/.k.o.tmp")
# Says what it was given, and does not begin until it may.
LAUNCHER = """\
#!/bin/sh
echo "$@" >> "$LOG"
while [ -e "$LOG.wait" ]; do sleep 0.02; done
exec "$@"
"""


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A source in the current folder and a launcher that writes this file, a line for each compile."""
    root = tmp_path / "workspace"
    root.mkdir()
    (root / "k.cpp").write_text("int value() { return 1; }\n")
    program = tmp_path / "launch"
    program.write_text(LAUNCHER)
    program.chmod(0o755)
    monkeypatch.chdir(root)
    monkeypatch.setenv("SKRULES_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HOSTCC_LAUNCHER", str(program))
    monkeypatch.setenv("LOG", str(tmp_path / "log"))
    monkeypatch.delenv("CXX", raising=False)
    return tmp_path / "log"


def start() -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-P", "-m", "skrules.toolchain.hostcc", *COMPILE], start_new_session=True)


def wait_for(lines: int, log: Path) -> list[str]:
    until = time.monotonic() + 30
    while time.monotonic() < until:
        found = log.read_text().splitlines() if log.exists() else []
        if len(found) >= lines:
            return found
        time.sleep(0.02)
    raise AssertionError(f"not {lines} compiles within 30 s")


def left() -> list[str]:
    return sorted(path.name for path in Path("out").iterdir())


def test_the_command_line_is_the_same_each_time(log: Path) -> None:
    assert [hostcc.main(COMPILE) for _ in range(2)] == [0, 0]
    first, second = log.read_text().splitlines()
    assert first == second
    assert str(TEMPORARY) in first
    assert left() == ["k.o"]


def test_what_a_killed_driver_left_is_removed(log: Path) -> None:
    (TEMPORARY / "folder").mkdir(parents=True)
    for name in ("out.o", "folder/kernel_operator.h"):
        (TEMPORARY / name).write_text("left behind")
    assert hostcc.main(COMPILE) == 0
    assert str(TEMPORARY) in log.read_text()
    assert left() == ["k.o"]


def test_two_at_the_same_time_do_not_meet(log: Path) -> None:
    Path(f"{log}.wait").touch()
    one = start()
    wait_for(1, log)
    other = start()
    first, second = wait_for(2, log)
    Path(f"{log}.wait").unlink()
    assert [one.wait(30), other.wait(30)] == [0, 0]
    assert str(TEMPORARY) in first
    assert str(TEMPORARY) not in second
    assert left() == ["k.o"]


def test_a_compiler_that_outlives_its_driver_writes_where_nobody_else_does(log: Path) -> None:
    Path(f"{log}.wait").touch()
    killed = start()
    wait_for(1, log)
    os.kill(killed.pid, signal.SIGKILL)  # the driver alone: its compiler goes on
    killed.wait(30)
    try:
        other = start()
        _, second = wait_for(2, log)
        assert str(TEMPORARY) not in second
    finally:
        Path(f"{log}.wait").unlink()
    assert other.wait(30) == 0
    assert Path("out/k.o").read_bytes().startswith(b"\x7fELF")
    # When that compiler is done, the next driver finds the folder free, and empties it.
    log.unlink()
    until = time.monotonic() + 30
    while time.monotonic() < until and TEMPORARY.exists():
        assert hostcc.main(COMPILE) == 0
    assert str(TEMPORARY) in log.read_text()
    assert left() == ["k.o"]


def test_a_launcher_that_is_not_there(log: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("HOSTCC_LAUNCHER", f"{log}/none")
    assert hostcc.main(COMPILE) == 4
    assert "hostcc: cannot run" in capfd.readouterr().err
    assert left() == []
