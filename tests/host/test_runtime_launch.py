"""Launches: what runs, what is refused, and that every failure is a message and not the end of the process."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def said(run: Run) -> list[str]:
    result = run("basic")
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.endswith("done\n")  # the launch after all these failures was right
    return result.stdout.splitlines()


@pytest.mark.parametrize(
    "line",
    [
        "[mix] deadlock: no core can make progress:",
        "    AIC block 0.0 waits for CrossCoreWaitFlag(3)",
        "    AIC block 1.0 waits for CrossCoreWaitFlag(3)",
        "    (2 of 6 cores stuck)",
        "[too_many AIV block 0.0 (GetBlockIdx=0)] SyncAll: the launch has 49 AIV cores but dav-2201 has 48: "
        "they cannot all be resident, the device hangs",
        "nothing: launch with 0 blocks",
        "negative: the number of blocks is none of 1..65535",
        "null: the function is null",
        "odd: 2 AIC and 1 AIV cores a block are no kernel type",
        "unknown: it was compiled for arch 1234, which is not in the arch table",
        "[null_access AIV block 0.0 (GetBlockIdx=0)] bad memory access: address 0x0 (a null pointer)",
        "[throwing AIV block 0.0 (GetBlockIdx=0)] exception escaped the kernel: not on a device",
        "[aborting AIV block 0.0 (GetBlockIdx=0)] abort() or a failed assertion",
        "[bad_ub AIV block 0.0 (GetBlockIdx=0)] bad memory access: address UB+196708 (UB has 196608 bytes)",
        "[dividing AIC block 0.0 (GetBlockIdx=0)] integer division by zero",
        "[bounds AIV block 0.0 (GetBlockIdx=0)] DataCopy: dst is out of bounds in GM: 16 bytes at offset 24 "
        "of an allocation of 32 bytes",
    ],
)
def test_failure_is_a_message(said: list[str], line: str) -> None:
    assert line in said


def test_stack_overflow_is_a_message(said: list[str]) -> None:
    (line,) = [line for line in said if line.startswith("[deep ")]
    assert line.endswith("(stack overflow: a kernel has 1 MiB of stack here)")


def test_errors_are_printed_once(run: Run) -> None:
    lines = run("basic").stderr.splitlines()
    assert [line for line in lines if "launch with 0 blocks" in line] == ["skrules-host: error: nothing: launch with 0 blocks"]


def test_threads_launch_at_the_same_time(run: Run) -> None:
    result = run("threads")
    assert (result.returncode, result.stdout) == (0, "done\n"), result.stdout + result.stderr


def test_acl_refuses_what_it_cannot_use(run: Run) -> None:
    result = run("acl")
    assert (result.returncode, result.stdout) == (0, "done\n"), result.stdout + result.stderr


def test_device_attributes_follow_the_arch(run: Run) -> None:
    assert run("acl", "info").stdout == "skrules-host-dav-2201 24 24 48\n"
    assert run("acl", "info", env={"SKRULES_HOST_ARCH": "2201", "SKRULES_HOST_SOC": "Mine"}).stdout == "Mine 24 24 48\n"
    assert run("acl", "info", env={"SKRULES_HOST_ARCH": "dav-3510"}).stdout.startswith("skrules-host-dav-3510 ")
    unknown = run("acl", "info", env={"SKRULES_HOST_ARCH": "42"})
    assert unknown.stdout == "aclrtGetDeviceInfo: SKRULES_HOST_ARCH=42 is not in the arch table\n"
