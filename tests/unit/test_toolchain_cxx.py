"""The C++ compiler: what is taken for one, and programs in its place that are none."""

from __future__ import annotations

import time

import pytest

from skrules.errors import ToolchainError
from skrules.toolchain import cxx
from skrules.toolchain.cxx import find_compiler

GCC = "gcc version 99.1.0 (Some 99)"


def script(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return {"CXX": str(path), "PATH": "/usr/bin:/bin"}


def test_a_compiler_is_known_by_what_it_says(tmp_path):
    environ = script(tmp_path / "cc", f"echo 'Target: some-machine' >&2; echo '{GCC}' >&2")
    found = find_compiler(environ)
    assert (found.command, found.kind, found.identity) == ((environ["CXX"],), "gcc", f"{GCC} some-machine")


@pytest.mark.parametrize(
    "text",
    [
        "sleep 60",
        "sleep 60 & sleep 60",
        "sleep 60 & exit 0",
        "yes >&2",
        "trap '' PIPE; while :; do echo x >&2 || :; done",
        "printf '\\377\\376' >&2",
        f"echo 'Target: t' >&2; echo '{GCC}' >&2; exit 1",
        "kill -9 $$",
    ],
)
def test_what_hangs_floods_or_fails_is_no_compiler(tmp_path, monkeypatch, text):
    monkeypatch.setattr(cxx, "_PATIENCE_S", 0.3)
    environ = script(tmp_path / "cc", text)
    before = time.monotonic()
    with pytest.raises(ToolchainError, match="which is no C\\+\\+ compiler that runs"):
        find_compiler(environ)
    assert time.monotonic() - before < 10


def test_signs_that_are_no_text_beside_a_version(tmp_path):
    environ = script(tmp_path / "cc", f"printf '\\377\\n' >&2; echo 'Target: t' >&2; echo '{GCC}' >&2")
    assert find_compiler(environ).identity == f"{GCC} t"
