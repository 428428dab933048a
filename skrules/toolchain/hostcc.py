"""A compiler driver with bisheng's command line that compiles AscendC for the CPU.

    python -m skrules.toolchain.hostcc -x asc --npu-arch=dav-2201 -c add.asc -o add.o -MD -MF add.d -MT add.o
    python -m skrules.toolchain.hostcc -shared -fPIC --npu-arch=dav-2201 add.o -o libadd.so

It rewrites `kernel<<<...>>>(...)`, which is not C++, into calls of the emulated runtime, and hands the rest to g++ or
clang++: `$CXX`, or the first that is found, and `$HOSTCC_LAUNCHER` in front of it when it compiles. Exit status: 1 when
that compiler fails, 2 for a wrong command line, 4 when there is no compiler.
"""

from __future__ import annotations

import fcntl
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from skrules import resources
from skrules.engine.depfile import escaped, read_depfile
from skrules.engine.files import write_if_changed
from skrules.errors import BuildError, SkrulesError, ToolchainError, UsageError
from skrules.source.includes import local_headers
from skrules.toolchain import cache, cxx
from skrules.toolchain.arch_header import arch_include
from skrules.toolchain.command_line import Invocation, angled_folders, codegen_options, include_folders, parse
from skrules.toolchain.fingerprint import digest_file, digest_tree
from skrules.toolchain.launch_syntax import rewrite_launches

# First words of every compilation, so that options given by the user win.
_DEFAULTS = ("-std=c++17", "-O1", "-fPIC")
# -ffp-contract: results must not depend on whether the CPU has fused multiply-add. -fno-gnu-unique: modules for two archs
# may meet in one process and must not share the inline variables of the API headers.
_FIXED = {"gcc": ("-ffp-contract=off", "-fno-gnu-unique"), "clang": ("-ffp-contract=off",)}
_KERNEL_HEADER = "kernel_operator.h"
_PRECOMPILED_KEPT = 6  # ~100 MB each: archs x optimisation levels in use


class CompilerFailed(BuildError):
    """The C++ compiler failed, and has said why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scratch:
    """An empty folder while it is in use. `held` is its lock: an open file, or nothing where no other driver can have it."""

    path: Path
    held: tuple[int, ...] = ()


class Driver:
    """What all compilations of one process share."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.environ = dict(environ)
        self.compiler = cxx.find_compiler(environ)
        self.launcher = tuple(shlex.split(environ.get("HOSTCC_LAUNCHER", "")))
        self.cache = cache.Cache(cache.root(environ))
        self.include = resources.toolchains() / "host" / "include"

    def run(self, arguments: Sequence[str]) -> None:
        """Carry out one command line. Raises CompilerFailed, or BuildError for a launch that cannot be rewritten."""
        work = parse(arguments)
        output = Path(work.output)
        output.parent.mkdir(parents=True, exist_ok=True)
        # Beside the output, so that the last step is a rename; a folder of its own, so that no header of the build
        # folder can stand in for one beside the user's source.
        with _scratch(output) as scratch:
            folder = scratch.path
            if work.compile_only:
                dependencies = self.compile(work, scratch, folder / "out.o")
                if work.depfile:
                    text = _rule(work.target or work.output, dependencies)
                    write_if_changed(Path(work.depfile), text.encode("utf-8", "surrogateescape"))
                (folder / "out.o").replace(output)
            else:
                self.link(work, scratch)
                (folder / output.name).replace(output)

    def compile(self, work: Invocation, scratch: Scratch, output: Path) -> tuple[str, ...]:
        """Compile the one source of `work` to `output`; return the files it read, other than the toolchain's own."""
        source, folder = (work.asc or work.cpp)[0], scratch.path
        text = folder / f"{Path(source).stem}.cpp"
        list_of_files = folder / "out.d"
        flags = [*self.flags(), *self.arch_flags(work, folder)]
        if work.asc:
            rewritten = self.rewritten(source, work)
            text.write_bytes(rewritten)
            flags += self.precompiled([*flags, *codegen_options(work.options)], folder)
            # `#include "x"` is looked for beside the file being compiled, which is the rewritten one.
            places = ["-iquote", str(Path(source).parent)]
            if b"::skhost::launch" in rewritten and _KERNEL_HEADER.encode() not in rewritten:
                # A file that only launches kernels of others need not include their header.
                places += ["-include", str(self.include / "skrules_host" / "launch.h")]
        else:
            places, text = [], Path(source)
        reproducible = [f"-ffile-prefix-map={folder}/=", *([f"-frandom-seed={source}"] if self.compiler.kind == "gcc" else [])]
        making = ["-c", "-x", "c++", str(text), "-o", str(output), "-MD", "-MF", str(list_of_files), "-MT", "x"]
        arguments = [*_DEFAULTS, *flags, *places, *work.options, *self.headers(folder, work.options), *reproducible, *making]
        self.call(arguments, scratch, launcher=self.launcher)
        listed = read_depfile(list_of_files.read_text(encoding="utf-8", errors="surrogateescape"))
        own = (f"{folder}/", f"{self.cache.root}/", f"{self.include}/")
        others = (os.path.normpath(path) for path in listed if not path.startswith(own))
        # Not -MMD, which leaves out what -isystem or a pragma makes a system header of, wherever it lies.
        here = (f"{Path.cwd()}/", *(f"{folder}/" for folder in include_folders(work.options)))
        return tuple(dict.fromkeys([source, *(path for path in others if not path.startswith("/") or path.startswith(here))]))

    def link(self, work: Invocation, scratch: Scratch) -> None:
        """Make a shared library or program; sources among the inputs are compiled on the way."""
        folder, objects = scratch.path, list[str]()
        for number, source in enumerate(work.asc):
            objects.append(str(folder / f"{number}.o"))
            self.compile(replace(work, asc=[source], cpp=[]), scratch, Path(objects[-1]))
        compiling = [*_DEFAULTS, *self.flags(), *self.arch_flags(work, folder)] if work.cpp else ["-fPIC"]
        options = [*compiling, *work.options, *(self.headers(folder, work.options) if work.cpp else [])]
        self.call([*options, *work.cpp, *objects, *work.linking, "-o", str(folder / Path(work.output).name)], scratch)

    def rewritten(self, source: str, work: Invocation) -> bytes:
        """Return the C++ text of an AscendC source; messages and `__FILE__` keep naming the user's file."""
        try:
            data = Path(source).read_bytes()
        except OSError as error:
            raise UsageError(f"hostcc: cannot read {source}: {error.strerror}") from error
        headers = self.local_headers(source, work) if b"<<<" in data else {}
        return rewrite_launches(data, source, int(work.arch.removeprefix("dav-")), headers=headers)

    def local_headers(self, source: str, work: Invocation) -> dict[str, bytes]:
        return local_headers(source, include_folders(work.options), angled=angled_folders(work.options))

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

    def headers(self, folder: Path, options: Sequence[str] = ()) -> list[str]:
        # As system headers they give no warnings and no dependencies: the toolchain is in the key of every action. Neither
        # their folder nor that of the workspace, which -g among the `options` writes down, may be in what is shipped.
        # Without it the workspace is not named: launchers are to find the same command line in another checkout.
        here = [f"-ffile-prefix-map={Path.cwd()}=."] if any(word.startswith("-g") for word in options) else []
        places = [*here, f"-ffile-prefix-map={self.include}/="]
        return ["-isystem", str(self.include), "-isystem", str(self.arch_table(folder)), *places]

    def arch_table(self, folder: Path) -> Path:
        """Return the include folder with the generated `skrules_host/arch_table.h`."""
        return arch_include(self.cache, folder)

    def precompiled(self, flags: list[str], folder: Path) -> list[str]:
        """Return where a precompiled kernel header lies, or nothing.

        GCC takes it by itself, in place of the header of that name, where that gives the same result: the kernel header
        must be the first that a file includes, under the same options. So nothing is included that the file does not ask for.
        """
        if self.compiler.kind != "gcc" or not (self.include / _KERNEL_HEADER).is_file():
            return []
        table = self.arch_table(folder)
        headers = (str(self.include), digest_tree(self.include), digest_tree(table))
        key = cache.key_of(self.compiler.identity, digest_file(Path(__file__)), *headers, *_DEFAULTS, *flags)

        def make(into: Path) -> None:
            # A header of its own, that leads to the real one: GCC may meet the name again where it cannot take the
            # precompiled form, and the real one, not being the main file, is then known to have been read.
            header = into / _KERNEL_HEADER
            header.write_text(f'#include "{self.include / _KERNEL_HEADER}"\n')
            made = ["-x", "c++-header", str(header), "-o", f"{header}.gch"]
            command = [*self.compiler.command, *_DEFAULTS, *flags, *self.headers(folder, flags), *made]
            run = subprocess.run(command, env=self.environ, capture_output=True, check=False)
            if run.returncode:
                raise OSError("the kernel header does not compile by itself; compiling the kernel will tell why")

        # Without waiting for another process that makes it just now: that takes longer than this compilation would gain.
        # But a launcher such as ccache must see the command line that it will see the next time.
        entry = self.cache.cached("precompiled", key, make, wait=bool(self.launcher), keep=_PRECOMPILED_KEPT)
        return ["-isystem", str(entry)] if entry else []

    def call(self, arguments: Sequence[str], scratch: Scratch, *, launcher: Sequence[str] = ()) -> None:
        command = [*launcher, *self.compiler.command, *arguments]
        try:
            # It gets the lock too: a compiler that outlives a killed driver may still write into the folder.
            run = subprocess.run(command, env=self.environ, check=False, pass_fds=scratch.held)
        except OSError as error:
            raise ToolchainError(f"hostcc: cannot run {command[0]}: {error.strerror}") from error
        name = Path(self.compiler.command[0]).name
        if run.returncode < 0:
            # A compiler that fails says why; one that was killed cannot.
            print(f"hostcc: {name} was ended by signal {-run.returncode}; out of memory?", file=sys.stderr)
        if run.returncode:
            raise CompilerFailed(f"{name} failed")


def _rule(target: str, files: Sequence[str]) -> str:
    """Return a Makefile rule, one prerequisite a line."""
    return " \\\n ".join([f"{escaped(target)}:", *map(escaped, files)]) + "\n"


@contextmanager
def _scratch(output: Path) -> Iterator[Scratch]:
    """Make an empty folder beside `output` while it is used, of the same name each time.

    A compiler's command line names it, and what a launcher such as ccache finds again depends on that. When it is in use,
    by a driver that makes the same output just now, or when it cannot be locked, the folder gets a name of its own.
    """
    folder = output.parent / f".{output.name}.tmp"
    held = _hold(folder)
    if held is None:
        folder = Path(tempfile.mkdtemp(prefix=f".{output.name}.", dir=output.parent))
    try:
        yield Scratch(path=folder, held=() if held is None else (held,))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if held is not None:
            os.close(held)


def _hold(folder: Path) -> int | None:
    """Make and lock `folder`, emptied of what a driver that was killed left there; None when another one has it."""
    held = None
    with suppress(OSError):
        folder.mkdir(exist_ok=True)
        held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # One that was removed between the two lines above must not be taken for the one that is there.
        if os.path.samestat(os.fstat(held), folder.stat()):
            for path in folder.iterdir():
                shutil.rmtree(path) if path.is_dir() else path.unlink()
            return held
    if held is not None:
        os.close(held)
    return None


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the driver; returns the exit status."""
    try:
        Driver(os.environ).run(sys.argv[1:] if arguments is None else arguments)
    except CompilerFailed as error:
        return error.exit_code
    except SkrulesError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
