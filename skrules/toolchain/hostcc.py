"""A compiler driver with bisheng's command line that compiles AscendC for the CPU.

    python -m skrules.toolchain.hostcc -x asc --npu-arch=dav-2201 -c add.asc -o add.o -MD -MF add.d -MT add.o
    python -m skrules.toolchain.hostcc -shared -fPIC --npu-arch=dav-2201 add.o -o libadd.so

It rewrites `kernel<<<...>>>(...)`, which is not C++, into calls of the emulated runtime, and hands the rest to g++ or
clang++. Exit status: 1 when that compiler fails, 2 for a wrong command line, 4 when there is no compiler.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from skrules import resources
from skrules.errors import BuildError, SkrulesError, ToolchainError, UsageError
from skrules.toolchain import cache, cxx, depfile
from skrules.toolchain.fingerprint import digest_file, digest_tree

# First words of every compilation, so that options given by the user win.
_DEFAULTS = ("-std=c++17", "-O1", "-fPIC")
# -ffp-contract: results must not depend on whether the CPU has fused multiply-add. -fno-gnu-unique: modules for two archs
# may meet in one process and must not share the inline variables of the API headers.
_FIXED = {"gcc": ("-ffp-contract=off", "-fno-gnu-unique"), "clang": ("-ffp-contract=off",)}
_KERNEL_HEADER = "kernel_operator.h"
_PRECOMPILED_KEPT = 6  # ~100 MB each: archs x optimisation levels in use

# Options of bisheng that say how device code is made and mean nothing here, with the number of words that follow. From
# docs/zh/guide/编程指南/编译与运行/算子编译/AI-Core算子编译基本用法.md and FindASC.cmake of asc-devkit.
_DEVICE_ONLY = {
    "--cce-": 0,
    "-cce-": 0,
    "--npu-soc": 0,
    "--asc-aicore-lang": 0,
    "--sanitizer": 0,
    "--enable-simt": 0,
    "-mllvm": 1,
}
_JOINED = ("-I", "-D", "-U", "-L", "-l")
_SEPARATE = ("-iquote", "-isystem", "-include", "-Xlinker", "-MF", "-MT", "-MQ", "-o", "-x")
_CPP = (".cpp", ".cc", ".cxx")


@dataclass(slots=True, kw_only=True)
class Invocation:
    """A parsed command line. `options` go on to the C++ compiler in their order, objects and libraries among them."""

    arch: str = ""
    compile_only: bool = False
    output: str = ""
    depfile: str = ""
    target: str = ""
    asc: list[str] = field(default_factory=list)
    cpp: list[str] = field(default_factory=list)
    options: list[str] = field(default_factory=list)


def parse(arguments: Sequence[str]) -> Invocation:
    """Read a command line in bisheng's form. Raises UsageError when it cannot be carried out."""
    found = Invocation()
    language = ""
    words = iter(_without_sections(arguments))
    for word in words:
        name = next(
            (option for option in (*_SEPARATE, *_JOINED) if word == option or (word.startswith(option) and option in _JOINED)), ""
        )
        value = word[len(name) :] or next(words, "") if name else ""
        if name and not value:
            raise UsageError(f"hostcc: option '{name}' needs a value")
        if word == "-lib":
            raise UsageError("hostcc: static libraries (-lib) are not made", hint="link the objects themselves")
        if name == "-x":
            language = value
        elif name == "-o":
            found.output = value
        elif name == "-MF":
            found.depfile = value
        elif name in ("-MT", "-MQ"):
            found.target = value
        elif name:
            found.options += [name + value] if name in _JOINED else [name, value]
        elif word in ("-MD", "-MMD"):
            pass  # -MF says it all
        elif word in ("-c", "-dc"):
            found.compile_only = True
        elif word.startswith("--npu-arch="):
            found.arch = word.partition("=")[2]
        elif device := next((option for option in _DEVICE_ONLY if word.startswith(option)), ""):
            for _ in range(_DEVICE_ONLY[device]):
                next(words, "")
        elif word.startswith("-"):
            found.options.append("-shared" if word == "--shared" else word)
        elif language == "asc" or (not language and word.endswith(".asc")):
            found.asc.append(word)
        elif word.endswith(_CPP):
            found.cpp.append(word)
        else:
            found.options.append(word)
    sources = [*found.asc, *found.cpp]
    if not found.output:
        raise UsageError("hostcc: -o is missing")
    if found.compile_only and len(sources) != 1:
        raise UsageError(f"hostcc: -c takes exactly one source, not {len(sources)}", notes=sources)
    if found.asc and not found.arch:
        raise UsageError("hostcc: --npu-arch is missing", hint="for example --npu-arch=dav-2201")
    return found


def _without_sections(arguments: Sequence[str]) -> list[str]:
    """Resolve `-Xhost-start ... -Xhost-end`, all of it kept, and `-Xaicore-start ... -Xaicore-end`: definitions and paths."""
    words: list[str] = []
    section = ""
    for word in arguments:
        if marker := re.fullmatch(r"-X(host|aicore)-(start|end)", word):
            section = marker[1] if marker[2] == "start" else ""
        elif section != "aicore" or word.startswith(("-D", "-U", "-I")):
            words.append(word)
    return words


class Driver:
    """What all compilations of one process share."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.environ = dict(environ)
        self.compiler = cxx.find_compiler(environ)
        self.cache = cache.Cache(cache.root(environ))
        self.include = resources.toolchains() / "host" / "include"

    def run(self, arguments: Sequence[str]) -> None:
        """Carry out one command line. Raises BuildError when the C++ compiler, whose messages are out already, fails."""
        work = parse(arguments)
        output = Path(work.output)
        output.parent.mkdir(parents=True, exist_ok=True)
        # Beside the output, so that the last step is a rename; a folder of its own, so that no header of the build
        # folder can stand in for one beside the user's source.
        with _temporary(output) as folder:
            if work.compile_only:
                dependencies = self.compile(work, folder, folder / "out.o")
                if work.depfile:
                    text = depfile.render(work.target or work.output, dependencies)
                    cache.write_if_changed(Path(work.depfile), text.encode("utf-8", "surrogateescape"))
                (folder / "out.o").replace(output)
            else:
                self.link(work, folder)
                (folder / output.name).replace(output)

    def compile(self, work: Invocation, folder: Path, output: Path) -> tuple[str, ...]:
        """Compile the one source of `work` to `output`; return the files it read, other than the toolchain's own."""
        source = (work.asc or work.cpp)[0]
        text = folder / f"{Path(source).stem}.cpp"
        list_of_files = folder / "out.d"
        flags = [*self.flags(), *self.arch_flags(work, folder)]
        if work.asc:
            text.write_bytes(self.rewritten(source))
            flags += self.precompiled([*flags, *_codegen(work.options)], folder)
            # `#include "x"` is looked for beside the file being compiled, which is the rewritten one.
            places = ["-iquote", str(Path(source).parent)]
        else:
            places, text = [], Path(source)
        reproducible = [f"-frandom-seed={source}", f"-ffile-prefix-map={folder}/="]
        making = ["-c", "-x", "c++", str(text), "-o", str(output), "-MMD", "-MF", str(list_of_files), "-MT", "x"]
        self.call([*_DEFAULTS, *flags, *places, *work.options, *self.headers(folder), *reproducible, *making])
        listed = depfile.parse(list_of_files.read_text(encoding="utf-8", errors="surrogateescape"))
        own = (f"{folder}/", f"{self.cache.root}/", f"{self.include}/")
        others = (os.path.normpath(path) for path in listed if not path.startswith(own))
        return tuple(dict.fromkeys([source, *others]))

    def link(self, work: Invocation, folder: Path) -> None:
        """Make a shared library or program; sources among the inputs are compiled on the way."""
        objects: list[str] = []
        for number, source in enumerate(work.asc):
            one = Invocation(arch=work.arch, asc=[source], options=[word for word in work.options if not _for_linker(word)])
            objects.append(str(folder / f"{number}.o"))
            self.compile(one, folder, Path(objects[-1]))
        compiling = [*_DEFAULTS, *self.flags(), *self.arch_flags(work, folder), *self.headers(folder)] if work.cpp else ["-fPIC"]
        self.call([*compiling, *work.cpp, *objects, *work.options, "-o", str(folder / Path(work.output).name)])

    def rewritten(self, source: str) -> bytes:
        """Return the C++ text of an AscendC source; messages and `__FILE__` keep naming the user's file."""
        from skrules.toolchain.launch_syntax import rewrite_launches

        try:
            data = Path(source).read_bytes().removeprefix(b"\xef\xbb\xbf")
        except OSError as error:
            raise UsageError(f"hostcc: cannot read {source}: {error.strerror}") from error
        text = rewrite_launches(data.decode("utf-8", "surrogateescape"), source)
        name = source.replace("\\", "\\\\").replace('"', '\\"')
        return f'#line 1 "{name}"\n'.encode() + text.encode("utf-8", "surrogateescape")

    def flags(self) -> list[str]:
        return [*cxx.this_machine_flags(), *_FIXED[self.compiler.kind]]

    def arch_flags(self, work: Invocation, folder: Path) -> list[str]:
        """Define `__NPU_ARCH__`. Raises ToolchainError for an arch that the table does not have."""
        if not work.arch:
            return []
        known = re.findall(r'"(dav-\d+)"', (self.arch_table(folder) / "skrules_host" / "arch_table.h").read_text())
        if work.arch not in known:
            raise ToolchainError(f"hostcc: unknown arch '{work.arch}'", allowed=known)
        return [f"-D__NPU_ARCH__={work.arch.removeprefix('dav-')}"]

    def headers(self, folder: Path) -> list[str]:
        # As system headers they give no warnings and no dependencies: the toolchain is in the key of every action.
        return ["-isystem", str(self.include), "-isystem", str(self.arch_table(folder)), f"-ffile-prefix-map={self.include}/="]

    def arch_table(self, folder: Path) -> Path:
        """Return the include folder with the generated `skrules_host/arch_table.h`."""
        table = resources.toolchains() / "ascend.yaml"
        key = cache.key_of(digest_file(table), digest_file(Path(__file__).with_name("arch_header.py")))

        def write(into: Path) -> None:
            # Only here: reading YAML costs more than the rest of this program.
            from skrules.arch import load_archs
            from skrules.toolchain.arch_header import render_arch_table

            (into / "skrules_host").mkdir(exist_ok=True)
            (into / "skrules_host" / "arch_table.h").write_text(render_arch_table(load_archs(table)))

        entry = self.cache.cached("arch-table", key, write)
        if entry is None:
            entry = folder / "arch-table"
            if not entry.exists():
                entry.mkdir()
                write(entry)
        return entry

    def precompiled(self, flags: list[str], folder: Path) -> list[str]:
        """Return where a precompiled kernel header lies, or nothing.

        GCC takes it by itself, in place of the header of that name, where that gives the same result: the kernel header
        must be the first that a file includes, under the same options. So nothing is included that the file does not ask for.
        """
        if self.compiler.kind != "gcc" or not (self.include / _KERNEL_HEADER).is_file():
            return []
        table = self.arch_table(folder)
        key = cache.key_of(
            self.compiler.identity, str(self.include), digest_tree(self.include), digest_tree(table), *_DEFAULTS, *flags
        )

        def make(into: Path) -> None:
            made = ["-x", "c++-header", str(self.include / _KERNEL_HEADER), "-o", str(into / f"{_KERNEL_HEADER}.gch")]
            command = [*self.compiler.command, *_DEFAULTS, *flags, *self.headers(folder), *made]
            run = subprocess.run(command, env=self.environ, capture_output=True, check=False)
            if run.returncode:
                raise OSError("the kernel header does not compile by itself; compiling the kernel will tell why")

        # Without waiting: another process that makes it now takes longer than this one gains.
        entry = self.cache.cached("precompiled", key, make, wait=False, keep=_PRECOMPILED_KEPT)
        return ["-isystem", str(entry)] if entry else []

    def call(self, arguments: Sequence[str]) -> None:
        run = subprocess.run([*self.compiler.command, *arguments], env=self.environ, check=False)
        if run.returncode:
            raise BuildError(f"{Path(self.compiler.command[-1]).name} failed with exit status {run.returncode}")


def _codegen(options: Sequence[str]) -> list[str]:
    """Return the options that a precompiled header depends on; GCC itself compares the definitions."""
    words = iter(options)
    kept = []
    for word in words:
        if word in _SEPARATE:
            next(words, "")
        elif word.startswith("-") and not word.startswith(_JOINED):
            kept.append(word)
    return kept


def _for_linker(word: str) -> bool:
    return not word.startswith("-") or word.startswith(("-l", "-L", "-Wl,", "-shared"))


@contextmanager
def _temporary(output: Path) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix=f".{output.name}.", dir=output.parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the driver; returns the exit status."""
    try:
        Driver(os.environ).run(sys.argv[1:] if arguments is None else arguments)
    except BuildError:
        return BuildError.exit_code  # the compiler has said what is wrong
    except SkrulesError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
