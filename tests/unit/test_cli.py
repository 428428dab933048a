"""The `skrules` command itself: what is told where its surroundings do not hold."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_output_that_cannot_be_written_is_told_once(unbuffered):
    code = "import sys; from skrules.cli import main; sys.exit(main(['archs']))"
    with open("/dev/full", "w") as full:  # noqa: PTH123 - a device
        done = subprocess.run(
            [sys.executable, "-c", code],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=60,
            env={"PATH": os.environ["PATH"], "PYTHONUNBUFFERED": unbuffered},
        )
    assert (done.returncode, done.stderr) == (2, "error: cannot write what was to be told or made: No space left on device\n")


def test_a_folder_that_is_gone(tmp_path):
    (tmp_path / "gone").mkdir()
    code = "import os, sys; from skrules.cli import main; os.rmdir(os.getcwd()); sys.exit(main(['doctor']))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path / "gone", capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 2
    assert done.stderr.startswith("error: the folder that skrules was started in cannot be used: No such file or directory\n")
