"""The sources of a small workspace, and the edits that people make to them."""

from __future__ import annotations

import os
import random
import shutil
from dataclasses import dataclass, field
from pathlib import Path

from tests.bench.workspace import make_workspace

_OPERATORS = 4
_OWN_HEADER = "#pragma once\n// own 0000\n"


@dataclass(frozen=True, slots=True)
class _Version:
    data: bytes
    mtime_ns: int


@dataclass(slots=True)
class Sources:
    """A workspace whose files change; every version that a file had is remembered, with its time.

    Its operators include a shared header of another package, and one through an include folder, which a header of the same
    name in an earlier folder can hide. The options of one say whether a file matches a pattern.
    """

    root: Path
    choice: random.Random
    _past: dict[str, list[_Version]] = field(default_factory=dict)
    _edition: int = 0

    def create(self) -> None:
        bench = make_workspace(self.root, _OPERATORS)
        self._write("extra/SConscript", 'headers(name="extra", hdrs=["apart.h"])\n')
        self._write("extra/apart.h", "#pragma once\n// apart 0000\n")
        for number, name in enumerate(bench.operators):
            kernel = self.root / f"ops/{name}/{name}.asc"
            kernel.write_text(f'#include "own.h"\n#include "apart.h"\n{kernel.read_text()}// 0000\n')
            self._write(f"{name}/own.h", _OWN_HEADER)
            text = (self.root / f"ops/{name}/SConscript").read_text().replace('    deps=["//ops/common"],\n', "")
            text = text.replace(
                ")\n", '    deps=["//ops/common", "//ops/extra"],\n    options=["-Iops/extra"],\n    defines=["EDITION=0"],\n)\n'
            )
            if number == 1:
                text = text.replace('["-Iops/extra"]', '["-Iops/extra", *(f"-DHAS_{name[:4]}" for name in glob("more*.txt"))]')
            (self.root / f"ops/{name}/SConscript").write_text(text)

    @property
    def operators(self) -> list[str]:
        return sorted(path.parent.name for path in (self.root / "ops").glob("op_*/SConscript"))

    def files(self) -> list[str]:
        found = (path for path in (self.root / "ops").rglob("*") if path.is_file())
        return sorted(path.relative_to(self.root).as_posix() for path in found)

    def copy_to(self, root: Path) -> None:
        """Make another checkout: the same files, with times of their own."""
        shutil.rmtree(root / "ops", ignore_errors=True)
        root.mkdir(parents=True, exist_ok=True)
        shutil.copytree(self.root / "ops", root / "ops", copy_function=shutil.copyfile)
        shutil.copyfile(self.root / "SConstruct", root / "SConstruct")

    def edit(self) -> str:
        """Change the content of one file: another number of the same length, or another line."""
        name = self.choice.choice(self.files())
        self._remember(name)
        path = self.root / name
        self._edition = (self._edition + 1) % 10000
        if path.suffix == ".yaml":
            self._replace(path, "launch: ", f"    launch: {{block_dim: {10 + self._edition % 30}}}")
        elif path.name == "SConscript" and "EDITION" in path.read_text():
            self._replace(path, "defines=", f'    defines=["EDITION={self._edition % 3}"],')
        elif path.name == "SConscript":
            path.write_text(path.read_text() + f"# {self._edition:04d}\n")
        else:
            lines = path.read_text().splitlines()
            place = next(number for number in reversed(range(len(lines))) if lines[number].startswith("//"))
            lines[place] = f"// {self._edition:04d}"
            path.write_text("\n".join(lines) + "\n")
        return f"edit {name}"

    def touch(self) -> str:
        name = self.choice.choice(self.files())
        os.utime(self.root / name, ns=(0, self.choice.choice((1, 2_000_000_000)) * 1_000_000_000))
        return f"touch {name}"

    def revert(self) -> str:
        """Give a file an earlier content again, half of the times with the time that it had then."""
        known = sorted(name for name, versions in self._past.items() if versions and (self.root / name).is_file())
        if not known:
            return self.edit()
        name = self.choice.choice(known)
        version = self.choice.choice(self._past[name])
        self._remember(name)
        (self.root / name).write_bytes(version.data)
        is_old = self.choice.random() < 0.5
        if is_old:
            os.utime(self.root / name, ns=(version.mtime_ns, version.mtime_ns))
        return f"revert {name}{' with its time' if is_old else ''}"

    def swap(self) -> str:
        """Change a file and keep its size and its time."""
        headers = [name for name in self.files() if name.endswith(".h")]
        name = self.choice.choice(headers)
        self._remember(name)
        path = self.root / name
        status, text = path.stat(), path.read_text()
        path.write_text(text.translate(str.maketrans("0123456789", "1234567890")) if "//" in text else text)
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        return f"change {name} behind its time"

    def shadow(self) -> str:
        """Put a header before the one that an operator finds in an include folder, or take it away again."""
        path = self.root / f"ops/{self.choice.choice(self.operators)}/apart.h"
        if path.exists():
            path.unlink()
            return f"remove {path.relative_to(self.root)}"
        path.write_text("#pragma once\n// nearer 0000\n")
        return f"add {path.relative_to(self.root)}"

    def match(self) -> str:
        """Add a file that a pattern matches, or take it away again."""
        path = self.root / "ops/op_0001/more.txt"
        if path.exists():
            path.unlink()
            return "remove ops/op_0001/more.txt"
        path.write_text("// 0000\n")
        return "add ops/op_0001/more.txt"

    def package(self) -> str:
        """Add an operator, or take it away again."""
        folder = self.root / "ops/op_9999"
        if folder.exists():
            shutil.rmtree(folder)
            return "remove ops/op_9999"
        shutil.copytree(self.root / "ops/op_0002", folder)
        for path in sorted(folder.iterdir()):
            path.write_text(path.read_text().replace("op_0002", "op_9999"))
            path.rename(path.with_name(path.name.replace("op_0002", "op_9999")))
        return "add ops/op_9999"

    def break_one(self) -> str:
        """Make a source that cannot be compiled; `mend` makes it good again."""
        name = f"ops/{self.choice.choice(self.operators)}/own.h"
        (self.root / name).write_text("#pragma once\n#error broken\n// 0000\n")
        return f"break {name}"

    def mend(self) -> None:
        for path in (self.root / "ops").glob("*/own.h"):
            if "#error" in path.read_text():
                path.write_text(_OWN_HEADER)

    def _write(self, name: str, text: str) -> None:
        path = self.root / "ops" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def _remember(self, name: str) -> None:
        path = self.root / name
        self._past.setdefault(name, []).append(_Version(path.read_bytes(), path.stat().st_mtime_ns))

    def _replace(self, path: Path, start: str, line: str) -> None:
        lines = path.read_text().splitlines()
        place = next(number for number, text in enumerate(lines) if text.strip().startswith(start))
        lines[place] = line
        path.write_text("\n".join(lines) + "\n")
