"""The small workspace with everything that a build rests on in reach: a copy of skrules, a compiler, a toolkit.

`ways` are edits of each kind of input. Two equal copies and one edit show whether a build that may look at `stat` alone does
exactly what one does that looks at everything.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from skrules import resources
from tests.data import bisheng_stand_in

_WORKSPACE = Path(__file__).parents[1] / "scenarios" / "workspace"
_STEP = re.compile(r"^\[(\w+) +(\S*) *\] (\S+)", re.M)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """`steps` are "MNEMONIC arch //label", sorted."""

    status: int
    output: str
    steps: list[str]


class MovingWorkspace:
    """Below `folder`: `workspace`, `toolkit` with its compiler, `skrules-source`, `cache`. Nothing is shared with another one."""

    def __init__(self, folder: Path) -> None:
        self.root, self.toolkit = folder / "workspace", folder / "toolkit"
        self.tools = self.toolkit / "bin"
        self.skrules, self.cache = folder / "skrules-source", folder / "cache"
        shutil.copytree(_WORKSPACE, self.root)
        self.compiler = bisheng_stand_in.install(self.tools)
        ignored = shutil.ignore_patterns("__pycache__", "_data", "host")
        shutil.copytree(resources.package(), self.skrules / "skrules", ignore=ignored)
        shutil.copytree(resources.templates(), self.skrules / "templates")
        shutil.copytree(resources.toolchains(), self.skrules / "toolchains", ignore=ignored)
        info = self.toolkit / f"{platform.machine()}-linux"
        info.mkdir(parents=True)
        (self.toolkit / "include").mkdir()
        self.version = info / "ascend_toolkit_install.info"
        self.version.write_text("package_name=Ascend-cann-toolkit\nversion=8.5.0\n")
        self.environment = {
            **{name: os.environ[name] for name in ("HOME", "LANG", "TMPDIR") if name in os.environ},
            "PATH": f"{self.tools}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(self.skrules),
            "PYTHONDONTWRITEBYTECODE": "1",
            "SKRULES_CACHE": str(self.cache),
            "SKRULES_CACHE_LIMIT": "0",
        }

    def scons(self, *words: str) -> Ran:
        done = self.run([sys.executable, "-m", "SCons", "-Q", "TOOLCHAIN=bisheng", *words])
        steps = sorted(" ".join(filter(None, match.groups())) for match in _STEP.finditer(done.stdout))
        return Ran(status=done.returncode, output=done.stdout, steps=steps)

    def why(self, *words: str) -> str:
        done = self.run([sys.executable, "-c", "import sys; from skrules.cli import main; sys.exit(main())", "why", *words])
        assert done.returncode == 0, done.stdout
        return done.stdout

    def run(self, command: Sequence[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd=self.root,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=120,
        )

    def write(self, name: str, text: str) -> None:
        """Make a file of the workspace hold `text`, even where it is read-only."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def edit(self, name: str, old: str, new: str) -> None:
        path = self.root / name
        text = path.read_text()
        assert old in text, f"{old!r} is not in {name}"
        path.write_text(text.replace(old, new))


def _edit(name: str, old: str, new: str) -> Callable[[MovingWorkspace], None]:
    return lambda workspace: workspace.edit(name, old, new)


def _append(pick: Callable[[MovingWorkspace], Path], text: str) -> Callable[[MovingWorkspace], None]:
    def way(workspace: MovingWorkspace) -> None:
        path = pick(workspace)
        path.write_text(path.read_text() + text)

    return way


def _shadow(workspace: MovingWorkspace) -> None:
    workspace.write("ops/scale/far.h", "#pragma once\n// nearer\n")


def _behind_its_time(workspace: MovingWorkspace) -> None:
    path = workspace.root / "ops/common/part.h"
    status, text = path.stat(), path.read_text()
    path.write_text(text.replace("takes what is left", "takes that is left"))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def _removed(workspace: MovingWorkspace) -> None:
    shutil.rmtree(workspace.root / "ops/shift")


def _library(workspace: MovingWorkspace) -> None:
    info = workspace.skrules / "PyYAML-99.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: PyYAML\nVersion: 99.0\n")


def _copy_operator(workspace: MovingWorkspace, folder: str) -> None:
    name = folder.rpartition("/")[2]
    shutil.copytree(workspace.root / "ops/scale", workspace.root / folder)
    for path in sorted((workspace.root / folder).iterdir()):
        path.write_text(path.read_text().replace("scale", name).replace("../common", "../../ops/common"))
        path.rename(path.with_name(path.name.replace("scale", name)))


def _new_package(workspace: MovingWorkspace) -> None:
    _copy_operator(workspace, "ops/third")


def _more_folders(workspace: MovingWorkspace) -> None:
    _copy_operator(workspace, "more/fourth")
    workspace.edit("SConstruct", '["ops"]', '["ops", "more"]')


def _environment(workspace: MovingWorkspace) -> None:
    # Passed on to the compiler, which finds its own parts by it.
    workspace.environment["TOOLCHAIN_HOME"] = "/opt/other"


def prepare(workspace: MovingWorkspace) -> None:
    """Give the workspace what the edits need: a header in an include folder, and a declaration that looks for files."""
    workspace.write("ops/far/SConscript", 'headers(name="far", hdrs=["far.h"])\n')
    workspace.write("ops/far/far.h", "#pragma once\n")
    workspace.edit("ops/scale/scale.asc", '#include "../common/part.h"', '#include "../common/part.h"\n#include "far.h"')
    workspace.edit(
        "ops/scale/SConscript",
        'deps=["//ops/common"],',
        'deps=["//ops/common", "//ops/far"],\n    options=["-Iops/far", *("-g" for name in glob("*.txt"))],',
    )


WAYS: Mapping[str, Callable[[MovingWorkspace], None]] = {
    "source": _edit("ops/scale/scale.asc", "if (count == 0) {", "if (count == 0) {  // none"),
    "header": _edit("ops/common/part.h", "#pragma once", "#pragma once\n// edited"),
    "header with its old time": _behind_its_time,
    "contract": _edit("ops/scale/contract.yaml", "block_dim: 4", "block_dim: 5"),
    "SConscript": _edit("ops/scale/SConscript", 'name="scale",', 'name="scale",\n    defines=["FAST=1"],'),
    "SConstruct": _more_folders,
    "cases": _append(lambda workspace: workspace.root / "ops/scale/cases.yaml", "# edited\n"),
    "reference": _append(lambda workspace: workspace.root / "ops/scale/reference.py", "# edited\n"),
    "template": lambda workspace: _replaced(workspace.skrules / "templates/adapt/binding.j2", "do not edit", "do not change"),
    "generator": _append(lambda workspace: workspace.skrules / "skrules/adapt/bind.py", "\n# edited\n"),
    "library": _library,
    "compiler": _append(lambda workspace: workspace.compiler, "\n# another version\n"),
    "compiler in an earlier folder": lambda workspace: _earlier(workspace),
    "toolkit": lambda workspace: _replaced(workspace.version, "8.5.0", "8.6.0"),
    "environment": _environment,
    "output": _append(lambda workspace: workspace.root / "build/bisheng/obj/dav-2201/ops/scale/scale.o", "x"),
    "generated source": _append(lambda workspace: workspace.root / "build/bisheng/gen/ops/scale/scale.asc", "\n"),
    "depfile": _append(lambda workspace: workspace.root / "build/bisheng/obj/dav-2201/ops/scale/scale.d", "\n"),
    "output that is gone": lambda workspace: (workspace.root / "build/bisheng/gen/ops/scale/descriptor.cpp").unlink(),
    "folder of outputs that is gone": lambda workspace: shutil.rmtree(workspace.root / "build/bisheng/obj/dav-3510"),
    "file that a pattern matches": lambda workspace: workspace.write("ops/scale/more.txt", ""),
    "new package": _new_package,
    "package that is gone": _removed,
    "header in an earlier folder": _shadow,
}


def _replaced(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def _earlier(workspace: MovingWorkspace) -> None:
    folder = workspace.toolkit / "earlier"
    bisheng_stand_in.install(folder).write_text(workspace.compiler.read_text() + "\n# earlier\n")
    workspace.environment["PATH"] = f"{folder}{os.pathsep}{workspace.environment['PATH']}"
