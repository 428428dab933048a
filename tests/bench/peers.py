"""The same work for other build tools: the graph that a SCons user would write, and ninja.

Both compile with the command of skrules, as often as skrules does. Their codegen only copies, where skrules reads the
kernel, checks it against the contract and adapts it: what they take is what their graph costs.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from tests.bench.workspace import ARCHS, BenchWorkspace

# -Q: what SCons says of its own phases is not looked at.
SCONS = (sys.executable, "-m", "SCons", "-Q")
_COPY = "cmp -s $in $out || cp $in $out"
_NAIVE = Path(__file__).parent / "naive.scons"


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """`command` builds everything, with the name of a folder below `folder` one operator. `folder` has all that is built."""

    name: str
    command: tuple[str, ...]
    folder: str

    def build(self, operator: str = "") -> tuple[str, ...]:
        return (*self.command, f"{self.folder}/{operator}") if operator else self.command


def compile_command(compiler: Path, *, arch: str, quote: str, source: str, output: str) -> tuple[str, ...]:
    """Return what skrules' bisheng toolchain says to the compiler, without its own folder of headers."""
    words = ("-x", "asc", f"--npu-arch={arch}", "-c", "-fPIC", "-std=c++17", "-O3", "-iquote", quote)
    return (str(compiler), *words, "-o", output, source, "-MD", "-MT", output, "-MF", f"{output}.d")


def naive_scons(workspace: BenchWorkspace, compiler: Path) -> Peer:
    """Write an SConstruct as the SCons guide teaches: one environment, a chain of small steps for each operator and arch."""
    command = compile_command(compiler, arch="$ARCH", quote="ops/$OPERATOR", source="$SOURCE", output="${TARGET}")
    text = f"COMMAND = {' '.join(command)!r}\nARCHS = {ARCHS!r}\n{_NAIVE.read_text()}"
    (workspace.root / "naive.py").write_text(text)
    return Peer(name="scons", command=(*SCONS, "-f", "naive.py"), folder="naive")


def ninja(workspace: BenchWorkspace, compiler: Path, program: str) -> Peer:
    """Write a build.ninja with the nodes of skrules' graph: codegen and table once, then a compile for each arch."""
    command = compile_command(compiler, arch="$arch", quote="$quote", source="$in", output="$out")
    lines = ["rule copy", f"  command = {_COPY}", "  restat = 1"]
    lines += ["rule asc", f"  command = {' '.join(command)}", "  depfile = $out.d", "  deps = gcc"]
    for name in workspace.operators:
        folder = f"out/{name}"
        made = [f"{folder}/{name}.asc", f"{folder}/table"]
        lines += [f"build {made[0]}: copy ops/{name}/{name}.asc", f"build {made[1]}: copy ops/{name}/contract.yaml"]
        for arch in ARCHS:
            made.append(f"{folder}/{arch}.o")
            lines += [f"build {made[-1]}: asc {made[0]}", f"  arch = {arch}", f"  quote = ops/{name}"]
        lines.append(f"build {folder}: phony {' '.join(made)}")
    (workspace.root / "build.ninja").write_text("\n".join(lines) + "\n")
    return Peer(name="ninja", command=(program, "-v"), folder="out")
