"""What binding to torch costs: its headers are compiled once, however many operators there are, and never for one more."""

from __future__ import annotations

import importlib.util
import shutil

import pytest

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="modules are built with torch, which is not there"),
    pytest.mark.skipif(shutil.which("g++") is None, reason="no g++"),
]

# Writes down how it was started. What would make a file makes an empty one: the starts count here, not the results.
COMPILER = """#!/bin/sh
printf '%s\\n' "$*" >> "$0.log"
words="$*" made="" rule=""
while [ $# -gt 0 ]; do
    case "$1" in
        -o) made="$2" ;;
        -MF) rule="$2" ;;
    esac
    shift
done
[ -n "$made" ] || exec g++ $words
: > "$made"
[ -z "$rule" ] || printf '%s:\\n' "$made" > "$rule"
"""


@pytest.fixture
def counted(workspace, tmp_path):
    """The workspace with an operator `scale` alone, and a compiler that is counted, with a cache of its own."""
    compiler = tmp_path / "counted-g++"
    compiler.write_text(COMPILER)
    compiler.chmod(0o755)
    workspace.environment |= {"CXX": str(compiler), "SKRULES_CACHE": str(tmp_path / "cache")}
    shutil.rmtree(workspace.root / "ops/shift")
    return workspace


def add_operators(workspace, first: int, last: int) -> None:
    for number in range(first, last + 1):
        folder = workspace.root / f"ops/scale{number}"
        folder.mkdir()
        for path in (workspace.root / "ops/scale").iterdir():
            text = path.read_text().replace("scale", f"scale{number}")
            (folder / path.name.replace("scale", f"scale{number}")).write_text(text)


def starts(workspace) -> tuple[int, int]:
    """Return how many compilers have read torch's headers since this was last asked, and how many there were."""
    log = workspace.root.parent / "counted-g++.log"
    compiles = [line for line in log.read_text().splitlines() if " -c " in f" {line} "]
    log.unlink()
    return sum("/torch/include" in line for line in compiles), len(compiles)


def test_twenty_operators_and_one_more(counted):
    add_operators(counted, 2, 20)
    run = counted.scons("ARCH=dav-2201")
    assert run.status == 0, run.output
    assert sum(step.startswith("LINK") for step in run.actions) == 20
    with_torch, all_of_them = starts(counted)
    assert with_torch == 1
    assert all_of_them >= 21
    add_operators(counted, 21, 21)
    run = counted.scons("ARCH=dav-2201")
    assert run.status == 0, run.output
    assert run.actions == ["ADAPT //ops/scale21", "ASC dav-2201 //ops/scale21", "LINK dav-2201 //ops/scale21"]
    with_torch, _ = starts(counted)
    assert with_torch == 0


def test_a_new_build_folder_compiles_none(counted):
    assert counted.scons("ops/scale", "ARCH=dav-2201").status == 0
    assert starts(counted)[0] == 1
    shutil.rmtree(counted.root / "build")
    run = counted.scons("ops/scale", "ARCH=dav-2201")
    assert "BINDING //toolchain:binding" in run.actions
    assert starts(counted)[0] == 0
