"""Super kernels: fused execution equals plain launches, evidence that twins ran, and the mistakes that only fusing shows."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]


def reports(text: str, word: str) -> list[list[dict[str, Any]]]:
    """Every JSON text that a program printed after `word`."""
    return [json.JSONDecoder().raw_decode(part)[0] for part in text.split(f"{word} ")[1:]]


@pytest.fixture
def fused(run: Run) -> str:
    result = run("fused")
    assert result.returncode == 0 and result.stdout.endswith("done\n"), result.stdout + result.stderr
    return result.stdout


@pytest.fixture
def mistakes(run: Run) -> subprocess.CompletedProcess[str]:
    result = run("mistakes")
    assert result.returncode == 0 and result.stdout.endswith("done\n"), result.stdout + result.stderr
    return result


def test_scope_is_one_super_kernel_and_runs_twice(fused: str) -> None:
    first, second = reports(fused, "report")
    assert first == second
    assert [node["twin_runs"] for node in first] == [8, 4, 2, 8, 0]
    assert [node["sk_blocks"] for node in first] == [8, 8, 8, 8, 0]
    assert [node["blocks"] for node in first] == [8, 4, 2, 8, 1]
    assert {node["super_kernel"] for node in first[:4]} == {"sk_0_layer"}
    assert first[4] == {
        "kernel": "outside", "scope": "", "fused": False, "super_kernel": "", "blocks": 1, "sk_blocks": 0,
        "reason": "NOT_IN_SCOPE", "twin_runs": 0,
    }  # fmt: skip


def test_reasons_not_to_fuse(fused: str) -> None:
    (nodes,) = reports(fused, "reasons")
    assert {node["kernel"]: node["reason"] for node in nodes} == {
        "silent": "",
        "silentSystem": "",
        "unbound": "OP_UNSUPPORT [FUNC_NOT_FOUND]",
        "aclrtMemsetAsync": "DEFAULT_NODE",
        "conflicting": "OP_UNSUPPORT [BINDMAP_ENTRY_CONFLICT]",
        "wide": "EXCEED_CORE_MAX",
        "kept out": "IN_UNFUSIBLE_SCOPE",
    }


def test_sync_all_with_fewer_blocks_than_the_super_kernel(mistakes: subprocess.CompletedProcess[str]) -> None:
    lines = [line.strip() for line in mistakes.stdout.splitlines()]
    assert lines[0] == "[sk_0_none] deadlock: no core can make progress:"
    assert lines[1] == "AIV block 0.0 in meeting waits for SyncAll (4 of 8 cores arrived)"
    assert lines[5] == "AIV block 4.0 waits for CrossCoreWaitFlag(14)"
    assert lines[9] == "(8 of 8 cores stuck)"


def test_what_a_sub_kernel_leaves_is_named(mistakes: subprocess.CompletedProcess[str]) -> None:
    warnings = [line for line in mistakes.stderr.splitlines() if "warning" in line]
    place = "skrules-host: warning: [sk_0_none:leaking AIV block 0.0 (GetBlockIdx=0)] sub-kernel leaking leaves "
    inherits = "; the next sub-kernel of the super kernel inherits it"
    assert warnings == [
        place + "SetFlag<MTE2_V>(EVENT_ID3) without WaitFlag" + inherits,
        place + "atomic mode on" + inherits,
        place + "counter mask mode on" + inherits,
    ]


def test_each_core_takes_its_split(mistakes: subprocess.CompletedProcess[str]) -> None:
    lines = [line for line in mistakes.stdout.splitlines() if line.startswith("splits")]
    assert lines == [
        "splits 4 of 4: 0 1 2 3 0 1 2 3",
        "splits 4 of 3: 0 1 2 0 1 2 0 1",
        "splits 4 of 2: 0 1 0 1 0 1 0 1",
        "splits 4 of 1: 0 0 0 0 0 0 0 0",
        "splits 3 of 4: 0 1 2 0 0 1 2 0",
        "splits 2 of 4: 0 1 0 1 0 1 0 1",
        "splits 1 of 4: 0 0 0 0 0 0 0 0",
    ]


def test_mixed_kinds_share_an_entry(mistakes: subprocess.CompletedProcess[str]) -> None:
    (nodes,) = reports(mistakes.stdout, "mix")
    assert [node["twin_runs"] for node in nodes] == [8, 6, 6, 3]
    assert {node["sk_blocks"] for node in nodes} == {6}


KERNEL = '#include "skrules_host/sk.h"\nvoid kernel(int *x, short a, short b) { *x = a + b; }\nvoid bare() {}\n'
REFUSED = {
    "a field is missing": (
        "struct Args { int *x; };\nvoid twin(const Args *) {}\nSK_BIND(kernel, 4, twin);",
        "the Args struct does not have the size of the kernel's argument block",
    ),
    "no Args": (
        "void twin(sk::SkSystemArgs *) {}\nSK_BIND(kernel, 4, twin);",
        "the kernel has parameters but the SK function takes no Args",
    ),
    "Args of a kernel without parameters": (
        "struct Args { int x; };\nvoid twin(const Args *) {}\nSK_BIND(bare, 4, twin);",
        "the kernel has no parameters but the SK function takes an Args struct",
    ),
    "not an SK function": ("void twin(int, int) {}\nSK_BIND(bare, 4, twin);", "an SK function is void f(const Args *)"),
    "five splits": ("void twin() {}\nSK_BIND(bare, 4, twin, twin, twin, twin, twin);", "a kernel binds one to four SK functions"),
    "unknown capability": ("void twin() {}\nSK_BIND(bare, 16, twin);", "capabilities are the bits 1, 2, 4 and 8"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_wrong_binding_does_not_compile(host_runtime: Any, tmp_path: Path, name: str) -> None:
    source = tmp_path / "binding.cpp"
    source.write_text(KERNEL + REFUSED[name][0])
    result = host_runtime.compiled(source, "-fsyntax-only")
    assert result.returncode != 0
    assert REFUSED[name][1] in result.stderr


def test_right_binding_compiles(host_runtime: Any, tmp_path: Path) -> None:
    source = tmp_path / "binding.cpp"
    source.write_text(
        KERNEL + "struct Args { int *x; alignas(4) short a; alignas(4) short b; };\nvoid twin(const Args *) {}\nvoid none() {}\n"
        "SK_BIND(kernel, 4, twin);\nSK_BIND(bare, 4, none);"
    )
    assert host_runtime.compiled(source, "-fsyntax-only").stderr == ""


def test_wrong_layout_of_the_right_size_is_refused(run: Run) -> None:
    result = run("layout")
    assert result.stdout == (
        "500001 aclskOptimize: SK_BIND(packed, 4, packedTwin): field 3 of the Args struct lies at offset 10, the argument block "
        "of the kernel has parameter 3 at 12: same order, alignas(4) on values smaller than 4 bytes\n"
    )
