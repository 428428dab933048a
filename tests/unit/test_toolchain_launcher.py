"""What stands in front of compilers, and what decides nothing about results."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from skrules.engine.action import NO_LAUNCHER, Action, Launcher
from skrules.errors import ToolchainError, UsageError
from skrules.toolchain import host_runtime
from skrules.toolchain.bisheng import BishengToolchain
from skrules.toolchain.host import HostToolchain
from skrules.toolchain.launcher import find_launcher


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    for name in ("ccache", "distcc"):
        path = tmp_path / name
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)
    return tmp_path


def test_programs_are_named_by_their_path(tools: Path) -> None:
    environ = {"PATH": str(tools)}
    assert find_launcher("ccache", environ).words == (f"{tools}/ccache",)
    words = find_launcher("ccache -v 'two words' distcc A=b", environ).words
    assert words == (f"{tools}/ccache", "-v", "two words", f"{tools}/distcc", "A=b")
    assert find_launcher(f"{tools}/distcc", {}).words == (f"{tools}/distcc",)


def test_only_its_own_environment_goes_along(tools: Path) -> None:
    own = {"HOME": "/h", "CCACHE_DIR": "/c", "DISTCC_HOSTS": "a", "SCCACHE_REDIS": "b", "ICECC_CXX": "d", "XDG_CONFIG_HOME": "/x"}
    others = {"PATH": str(tools), "LD_PRELOAD": "x.so", "CPATH": "/y", "CCACHE": "z", "AWS_SECRET_ACCESS_KEY": "s"}
    assert find_launcher("ccache", {**own, **others}).environment == own


@pytest.mark.parametrize("text", ["", "  "])
def test_no_words_are_no_launcher(text: str) -> None:
    assert find_launcher(text, {"HOME": "/h", "CCACHE_DIR": "/c"}) == NO_LAUNCHER


def test_what_is_not_there(tools: Path) -> None:
    with pytest.raises(ToolchainError, match="no program 'sccache'"):
        find_launcher("sccache --fast", {"PATH": str(tools)})
    with pytest.raises(UsageError, match="is no command"):
        find_launcher('ccache "', {"PATH": str(tools)})


def test_it_is_no_part_of_a_step() -> None:
    action = Action(mnemonic="ASC", label="//a", inputs=(), outputs=("o",), command=(("cc", "-c"),), environment={"PATH": "/bin"})
    launched = replace(action, launcher=Launcher(words=("ccache",), environment={"CCACHE_DIR": "/c"}))
    assert (launched.digest(), launched.components()) == (action.digest(), action.components())


def test_it_is_no_part_of_a_toolchain(tools: Path) -> None:
    launcher = Launcher(words=("/bin/ccache", "a b"), environment={"CCACHE_DIR": "/c"})
    environ = {"PATH": str(tools), "SKRULES_CACHE": str(tools / "cache")}
    plain = BishengToolchain(program=tools / "ccache", toolkit=None, environ=environ, why="")
    launched = BishengToolchain(program=tools / "ccache", toolkit=None, environ=environ, why="", launcher=launcher)
    assert (plain.launcher, launched.launcher) == (NO_LAUNCHER, launcher)
    assert (plain.key(), plain.environment()) == (launched.key(), launched.environment())
    host = HostToolchain(environ=environ, why="", launcher=launcher)
    assert host.launcher == Launcher(environment={"CCACHE_DIR": "/c", "HOSTCC_LAUNCHER": "/bin/ccache 'a b'"})
    assert HostToolchain(environ=environ, why="").launcher == NO_LAUNCHER


def test_one_step_runs_no_more_compilers_than_jobs_or_memory_allow(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = 100_000
    monkeypatch.setattr(host_runtime, "available_memory", lambda: memory << 20)
    units = host_runtime.workers(1000)
    assert 1 < units < 10
    assert (host_runtime.workers(1), host_runtime.workers(2)) == (1, 2)
    memory = 2 * host_runtime.UNIT_MEMORY + 1
    assert host_runtime.workers(1000) == 2
    memory = 10
    assert host_runtime.workers(1000) == 1
