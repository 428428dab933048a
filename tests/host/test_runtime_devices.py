"""Several emulated devices: the current one of a thread, streams and memory of each, and work of the host in a capture."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]


def test_devices_are_told_apart(run: Run) -> None:
    assert run("devices").stdout == "done\n"


@pytest.mark.parametrize("given", ["1", "16"])
def test_there_are_as_many_as_the_environment_says(run: Run, given: str) -> None:
    assert run("devices", "count", env={"SKRULES_HOST_DEVICES": given}).stdout == f"{given} 0 \n"


@pytest.mark.parametrize("given", ["0", "17", "-1", "two", "2 "])
def test_a_number_that_is_none_is_refused(run: Run, given: str) -> None:
    said = run("devices", "count", env={"SKRULES_HOST_DEVICES": given}).stdout
    assert said == f"0 107001 aclrtGetDeviceCount: SKRULES_HOST_DEVICES={given} is none of 1..16\n"
