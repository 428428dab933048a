"""Scenario tests copy a small workspace, run the real `scons` in it and look at the exact list of actions."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.data import bisheng_stand_in

HERE = Path(__file__).parent
_ACTION = re.compile(r"^\[(\w+) +(\S*) *\] (.*)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """`actions` are "MNEMONIC arch //label", sorted; `order` the same as printed."""

    status: int
    output: str
    order: tuple[str, ...]

    @property
    def actions(self) -> list[str]:
        return sorted(self.order)


class ScenarioWorkspace:
    """A workspace in a folder of its own, with a user cache of its own unless told otherwise."""

    bisheng: Path  # the stand-in compiler, where there is one
    generator: Path  # the copy of skrules that is used, where it is not the installed one

    def __init__(self, root: Path, environment: dict[str, str]) -> None:
        self.root = root
        self.environment = environment

    def scons(self, *words: str, **environment: str) -> Run:
        done = subprocess.run(
            [sys.executable, "-m", "SCons", "-Q", *words],
            cwd=self.root,
            env={**self.environment, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=600,
        )
        actions = []
        for line in done.stdout.splitlines():
            match = _ACTION.match(line)
            if match:
                mnemonic, arch, rest = match.groups()
                actions.append(" ".join(word for word in (mnemonic, arch, rest.split()[0]) if word))
        return Run(status=done.returncode, output=done.stdout, order=tuple(actions))

    def edit(self, name: str, old: str, new: str) -> None:
        path = self.root / name
        text = path.read_text()
        assert old in text, f"{old!r} is not in {name}"
        path.write_text(text.replace(old, new))


def _environment(**more: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR", "CXX", "PYTHONPATH") if name in os.environ}
    return {**kept, "PYTHONDONTWRITEBYTECODE": "1", "SKRULES_CACHE_LIMIT": "0", **more}


@pytest.fixture(scope="session")
def session_cache(tmp_path_factory):
    """One user cache for all scenarios of a run, so that shared libraries are built once."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def workspace(tmp_path, session_cache):
    """The small workspace, built by the host toolchain."""
    root = tmp_path / "workspace"
    shutil.copytree(HERE / "workspace", root)
    return ScenarioWorkspace(root, _environment(SKRULES_CACHE=str(session_cache)))


@pytest.fixture
def bisheng_workspace(tmp_path, session_cache):
    """The small workspace, built by a stand-in `bisheng` on PATH that checks its arguments and logs them."""
    root = tmp_path / "workspace"
    shutil.copytree(HERE / "workspace", root)
    tools = tmp_path / "tools"
    environment = _environment(SKRULES_CACHE=str(session_cache))
    environment["PATH"] = f"{tools}{os.pathsep}{environment['PATH']}"
    copy = ScenarioWorkspace(root, environment)
    copy.bisheng = bisheng_stand_in.install(tools)
    return copy
