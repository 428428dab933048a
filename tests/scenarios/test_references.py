"""References are the user's code, and compare programs the user's kernels: whatever they do, the run ends and says so."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

COMPARE = ("compare", "ops/scale", "ARCH=dav-2201")


def running(folder):
    """Return the processes that have something of `folder` in their command line."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if str(folder).encode() in path.read_bytes():
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


def wait_for(condition, message, seconds):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            pytest.fail(message)
        time.sleep(0.05)


def end_while_it_hangs(workspace, sent):
    """Start a comparison, send scons a signal as soon as the file `began` is there; return its exit status and output."""
    began = workspace.root / "began"
    began.unlink(missing_ok=True)
    scons = subprocess.Popen(
        [sys.executable, "-m", "SCons", "-Q", *COMPARE],
        cwd=workspace.root,
        env=workspace.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        wait_for(began.exists, "what hangs did not begin", 300)  # it is compiled first
        assert running(workspace.root)
        scons.send_signal(sent)
        output, _ = scons.communicate(timeout=10)
    finally:
        scons.kill()
    wait_for(lambda: not running(workspace.root), "something outlives scons", 10)
    return scons.returncode, output


BENT = """import numpy as np
np.array_equal = np.allclose = lambda *a, **b: True
np.isfinite = np.abs = np.count_nonzero = np.not_equal = lambda *a, **b: np.zeros(1024, bool)
def scale(x, factor):
    return x * 0 + 99
"""
# What is written into the reference, and what the run says of it.
REFERENCES = {
    "import os\ndef scale(x, factor):\n    os._exit(0)\n": "ops/scale/reference.py:2: the reference ended with status 0",
    "import os\nos._exit(0)\n": "ops/scale/reference.py: the reference cannot be loaded: its process ended with status 0",
    BENT: "the plain run differs from the reference in 1024 of 1024 elements",
}
FOREVER = "def scale(x):\n    open('began', 'w').close()\n    while True:\n        pass\n"


HANG = """#include <cstdio>

static void Hang() {
    std::fclose(std::fopen("began", "w"));
    for (volatile int i = 0;; i = 1) {
    }
}
"""


def test_no_reference_ends_bends_or_holds_the_run(workspace):
    reference = workspace.root / "ops/scale/reference.py"
    folder = workspace.root / "build/host/compare/dav-2201/ops/scale"
    for text, part in REFERENCES.items():
        reference.write_text(text)
        run = workspace.scons(*COMPARE)
        assert run.status == 3, run.output
        assert part in run.output
        assert "1 result: 0 passed, 1 failed" in run.output
        assert (folder / "verdict.failed.json").exists() and not (folder / "verdict.json").exists()
    reference.write_text(FOREVER)
    for sent, expected in ((signal.SIGINT, 2), (signal.SIGTERM, 2), (signal.SIGKILL, -9)):
        status, output = end_while_it_hangs(workspace, sent)
        assert status == expected, output
        assert ("the reference ops/scale/reference.py was interrupted" in output) == (expected == 2)
        assert not list(folder.glob("verdict*"))


def test_no_program_outlives_the_run_or_stays_nameless(workspace):
    workspace.edit("ops/scale/scale.asc", "// y = x", HANG + "\n// y = x")
    workspace.edit("ops/scale/scale.asc", "    if (count == 0) {", "    Hang();\n    if (count == 0) {")
    name = "build/host/compare/dav-2201/ops/scale/compare"
    for sent, expected in ((signal.SIGINT, 2), (signal.SIGKILL, -9)):
        status, output = end_while_it_hangs(workspace, sent)
        assert status == expected, output
        assert (f"//ops/scale dav-2201: the compare program {name} was interrupted" in output) == (expected == 2)
