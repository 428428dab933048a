"""Which toolchain: what the user asked for, else bisheng where there is one, else host."""

from __future__ import annotations

import os
import platform
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from skrules.engine.action import NO_LAUNCHER, Launcher
from skrules.errors import ToolchainError, UsageError, did_you_mean
from skrules.toolchain.base import Toolchain
from skrules.toolchain.bisheng import BishengToolchain, Toolkit
from skrules.toolchain.host import HostToolchain

CHOICES = ("auto", "host", "bisheng")

# Where bisheng lies below a toolkit, in the order in which public build scripts look; {machine} is x86_64 or aarch64.
_LAYOUTS = (
    *("{machine}-linux/ccec_compiler/bin", "{machine}-linux/bin", "bin", "compiler/bin", "tools/bisheng_compiler/bin"),
    *("compiler/ccec_compiler/bin", "ccec_compiler/bin"),
)
# Files that name the version of a toolkit, and the word before it.
VERSION_FILES = (
    *("{machine}-linux/ascend_toolkit_install.info", "ascend_toolkit_install.info", "version.info"),
    *("compiler/version.info", "{machine}-linux/compiler/version.info", "toolkit/version.info"),
)
VERSION_WORDS = re.compile(r"^\s*version\s*=\s*\"?\[?([0-9][^\s\]\":,]*)", re.I | re.M)


def select(
    choice: str,
    environ: Mapping[str, str],
    *,
    machine: str = "",
    launcher: Launcher = NO_LAUNCHER,
    jobs: int = 0,
) -> Toolchain:
    """Return the toolchain for `choice`: auto, host or bisheng. Its compilers run behind `launcher`.

    `jobs` is how many compilers a single step of it may run side by side; as many as there are cores when it is 0.

    `auto` takes bisheng where it is found, else host. Raises UsageError for another word, and ToolchainError when
    bisheng is asked for and not there, or when `BISHENG` or the CANN that `ASCEND_HOME_PATH` names is unusable: what the
    user has set is never passed over in silence.
    """
    if choice not in CHOICES:
        raise UsageError(f"unknown toolchain '{choice}'", allowed=CHOICES, hint=did_you_mean(choice, CHOICES))
    if choice == "host":
        return HostToolchain(environ=environ, why="TOOLCHAIN=host", launcher=launcher, jobs=jobs)
    machine = machine or platform.machine()
    looked: list[str] = []
    for program, why in _candidates(environ, machine):
        if program.is_file() and os.access(program, os.X_OK):
            toolkit = _toolkit(program, environ, machine)
            return BishengToolchain(program=program, toolkit=toolkit, environ=environ, why=why, launcher=launcher)
        looked.append(f"{program} ({why})")
    looked.append("bisheng on PATH")
    if choice == "bisheng":
        raise ToolchainError(
            "bisheng is not found",
            notes=[f"looked for {place}" for place in looked],
            hint="source set_env.sh of CANN, or set BISHENG to the compiler, or use TOOLCHAIN=host",
        )
    why = "no bisheng found: set BISHENG or ASCEND_HOME_PATH"
    return HostToolchain(environ=environ, why=why, launcher=launcher, jobs=jobs)


def _candidates(environ: Mapping[str, str], machine: str) -> Iterator[tuple[Path, str]]:
    explicit = environ.get("BISHENG", "")
    if explicit:
        program = shutil.which(explicit, path=environ.get("PATH", ""))
        if not program:
            raise ToolchainError(
                f"BISHENG is set to '{explicit}', which is not an executable file",
                hint="correct it, or unset it to search for bisheng",
            )
        yield Path(program).absolute(), "BISHENG"
    home = environ.get("ASCEND_HOME_PATH", "")
    if home:
        if not Path(home).is_dir():
            raise ToolchainError(
                f"ASCEND_HOME_PATH is set to '{home}', which is not a folder", hint="source set_env.sh of CANN, or unset it"
            )
        for layout in _LAYOUTS:
            yield Path(home) / layout.format(machine=machine) / "bisheng", "ASCEND_HOME_PATH"
    on_path = shutil.which("bisheng", path=environ.get("PATH", ""))
    if on_path:
        yield Path(on_path).absolute(), "PATH"


def _toolkit(program: Path, environ: Mapping[str, str], machine: str) -> Toolkit | None:
    """Return the CANN that `program` belongs to: the user's, if the compiler lies in it, else the folder above the compiler."""
    named = environ.get("ASCEND_HOME_PATH", "")
    real = program.resolve()
    if named and (real.is_relative_to(Path(named).resolve()) or program.is_relative_to(named)):
        return _toolkit_in(Path(named), machine)
    for home in real.parents[:6]:
        toolkit = _toolkit_in(home, machine)
        if toolkit.version and (home / "include").is_dir():
            return toolkit
    return None


def _toolkit_in(home: Path, machine: str) -> Toolkit:
    for name in VERSION_FILES:
        path = home / name.format(machine=machine)
        try:
            found = VERSION_WORDS.search(path.read_text(encoding="utf-8", errors="replace"))
        except OSError:
            continue
        if found:
            return Toolkit(home=home, version=found[1], named_in=path)
    return Toolkit(home=home, version="")
