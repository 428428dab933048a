"""The machine that is looked at: everything that differs between machines goes through here."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

# What installs packages of the system, and its word for the C++ compiler and for Graphviz.
_INSTALLERS = (
    ("apt-get", "sudo apt-get install -y {}", "g++"),
    ("dnf", "sudo dnf install -y {}", "gcc-c++"),
    ("yum", "sudo yum install -y {}", "gcc-c++"),
    ("zypper", "sudo zypper install -y {}", "gcc-c++"),
    ("apk", "sudo apk add {}", "g++"),
    ("pacman", "sudo pacman -S {}", "gcc"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """`root` is the folder in which `/dev` and `/usr` lie; `folder` the one that builds are started in."""

    environ: Mapping[str, str]
    folder: Path = field(default_factory=Path.cwd)
    root: Path = Path("/")
    architecture: str = field(default_factory=platform.machine)
    is_root: bool = field(default_factory=lambda: os.geteuid() == 0)

    def which(self, program: str) -> str:
        """Return the path of a program, "" when there is none."""
        return shutil.which(program, path=self.environ.get("PATH") or os.defpath) or ""

    def installs_compiler(self) -> str:
        """Return the command that installs a C++ compiler."""
        there = (each for each in _INSTALLERS if self.which(each[0]))
        _, command, package = next(there, _INSTALLERS[0])
        text = command.format(package)
        return text.removeprefix("sudo ") if self.is_root else text
