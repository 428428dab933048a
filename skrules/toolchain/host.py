"""The `host` toolchain: AscendC compiled for the CPU, run by an emulation of the device.

What it makes cannot pass for a device binary: the objects hold no device code and need `libskrules_host.so`.
"""

from __future__ import annotations

import functools
import os
import posixpath
import shlex
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from skrules import resources
from skrules.arch import Arch
from skrules.engine.action import NO_LAUNCHER, Action, Launcher
from skrules.toolchain import cache, cxx
from skrules.toolchain.arch_header import arch_include
from skrules.toolchain.base import Commands, CompileCpp, CompileKernel, Link, Memory, prefixed
from skrules.toolchain.fingerprint import digest_tree

_LIBRARY = "libskrules_host.so"
# Modules that decide what hostcc makes of a source, and how it reads AscendC.
_DRIVER = ("engine/depfile.py", "toolchain/command_line.py", "toolchain/cxx.py", "toolchain/hostcc.py")
_LAUNCH_SYNTAX = ("toolchain/launch_*.py", "source/*.py")
# The emulation's own switches, documented in the guide.
_EMULATION = ("SKRULES_HOST_DEVICES", "SKRULES_HOST_RACE", "SKRULES_HOST_STRICT", "SKRULES_HOST_TIMEOUT")
# The cache of precompiled headers and the compiler need these; nothing else of the user's environment matters.
_PASSED_ON = ("HOME", "SKRULES_CACHE", "XDG_CACHE_HOME", "TMPDIR")

# A source may hold host code besides its kernels, which needs what nobody links here. Each function in a section of its own,
# the linker drops those that neither a launcher nor a registration (SK_BIND, a static object) reaches; those of a module
# must be hidden for that, since all that it exports counts as used.
_SECTIONS = ("-ffunction-sections", "-fdata-sections", "-fvisibility=hidden")
_DROP_UNUSED = "-Wl,--gc-sections"


class HostToolchain:
    """`why` says why it was chosen; `environ` is where compiler and cache are looked for.

    `jobs` is how many compilers a single step may run side by side.
    """

    name = "host"
    # Measured with g++ 12: kernels of a few hundred lines take 60, the compare program 160.
    memory = Memory(kernel=200, link=100)

    def __init__(
        self,
        *,
        environ: Mapping[str, str],
        why: str,
        launcher: Launcher = NO_LAUNCHER,
        jobs: int = 0,
    ) -> None:
        self.why = why
        self.environ = environ
        self.jobs = jobs or os.cpu_count() or 1
        self.given = launcher

    @functools.cached_property
    def launcher(self) -> Launcher:
        """The compiler that a launcher knows is the one behind hostcc, which puts it there."""
        if not self.given.words:
            return self.given
        return Launcher(environment={**self.given.environment, "HOSTCC_LAUNCHER": shlex.join(self.given.words)})

    @functools.cached_property
    def compiler(self) -> cxx.Compiler:
        """Looked for at first use, so that a query or a help text needs no compiler."""
        return cxx.find_compiler(self.environ)

    @property
    def summary(self) -> str:
        return f"toolchain: host ({self.why}); results are emulated, not device results"

    def key(self) -> Mapping[str, str]:
        """Identity of compiler and CPU flags, and digests of the emulation's headers and of the driver's own code."""
        return self._key

    @functools.cached_property
    def _key(self) -> Mapping[str, str]:
        with tempfile.TemporaryDirectory() as scratch:
            archs = digest_tree(arch_include(cache.Cache(cache.root(self.environ)), Path(scratch)), ("**/*.h",))
        return {
            "toolchain": "host",
            "compiler": self.compiler.identity,
            "machine": " ".join(cxx.this_machine_flags()),
            "toolkit headers": digest_tree(resources.toolchains() / "host" / "include"),
            "toolkit archs": archs,
            "toolkit driver": digest_tree(resources.package(), _DRIVER),
            "toolkit launch syntax": digest_tree(resources.package(), _LAUNCH_SYNTAX),
        }

    def files(self) -> tuple[str, ...]:
        return tuple(word for word in self.compiler.command if not word.startswith("-"))

    def environment(self) -> Mapping[str, str]:
        return self._environment

    @functools.cached_property
    def _environment(self) -> Mapping[str, str]:
        # Made once: every compile of a workspace has it.
        program = self.compiler.command
        return {
            **{name: self.environ[name] for name in _PASSED_ON if name in self.environ},
            "CXX": shlex.join(program),
            "PATH": os.pathsep.join(
                dict.fromkeys([*(str(Path(word).parent) for word in program if "/" in word), "/usr/bin", "/bin"])
            ),
            "LANG": "C",
            "LC_ALL": "C",
            "SOURCE_DATE_EPOCH": "0",
            "PYTHONPATH": str(resources.package().parent),
        }

    def device_environment(self, arch: Arch) -> Mapping[str, str]:
        """What the emulation is asked to do changes results, not objects: it is no part of `environment`."""
        asked = {name: self.environ[name] for name in _EMULATION if name in self.environ}
        return {**self.environment(), **asked, "SKRULES_HOST_ARCH": str(arch.npu_arch)}

    def compile_kernel(self, request: CompileKernel) -> Commands:
        return (
            (
                *_hostcc(),
                *("-x", "asc", f"--npu-arch={request.arch.name}", "-c", "-fPIC", "-std=c++17"),
                *_SECTIONS,
                *prefixed("-D", request.defines),
                *(word for folder in request.quote_dirs for word in ("-iquote", folder)),
                *prefixed("-I", request.include_dirs),
                *request.options,
                *(request.source, "-o", request.output),
                *_depfile(request.output, request.depfile),
            ),
        )

    def compile_cpp(self, request: CompileCpp) -> Commands:
        return (
            (
                *_hostcc(),
                *("-c", "-fPIC", "-std=c++17"),
                *prefixed("-D", request.defines),
                *prefixed("-I", request.include_dirs),
                *request.options,
                *(request.source, "-o", request.output),
                *_depfile(request.output, request.depfile),
            ),
        )

    def link(self, request: Link) -> Commands:
        """The emulation's library is found beside `output` at build time and at run time, wherever the folder is moved to."""
        beside = posixpath.dirname(request.output)
        given = [path for path in request.inputs if path.endswith(".so")]
        searched = dict.fromkeys(
            (*request.rpath_origin, *(posixpath.relpath(posixpath.dirname(path), beside or ".") for path in given))
        )
        return (
            (
                *_hostcc(),
                *(("-shared", "-fPIC") if request.kind == "module" else ()),
                _DROP_UNUSED,
                f"--npu-arch={request.arch.name}",
                *prefixed("-D", request.defines),
                *prefixed("-I", request.include_dirs),
                *request.options,
                *request.inputs,
                *("-o", request.output),
                *prefixed("-L", request.library_dirs),
                *(f"-L{posixpath.normpath(posixpath.join(beside, folder))}" for folder in request.rpath_origin),
                *prefixed("-l", request.libraries),
                *(() if any(path.endswith(_LIBRARY) for path in given) else ("-lskrules_host",)),
                *(f"-Wl,-rpath,$ORIGIN/{folder}" for folder in searched),
            ),
        )

    def support(self, archs: tuple[Arch, ...], build_dir: str) -> tuple[Action, ...]:  # noqa: ARG002 - one library serves all archs
        # Threads and the cache are needed by builds of this toolchain only.
        from skrules.toolchain.host_runtime import UNIT_MEMORY, make_runtime, runtime_digest, workers

        (library,) = self.module_inputs(build_dir)
        # How launches are rewritten does not matter to plain C++.
        key = {name: value for name, value in self.key().items() if name != "toolkit launch syntax"}
        environment = self.environment()
        at_once = workers(self.jobs)
        return (
            Action(
                mnemonic="RUNTIME",
                label="//toolchain:host",
                what=_LIBRARY,
                inputs=(),
                outputs=(library,),
                key={**key, "runtime": runtime_digest()},
                run=functools.partial(make_runtime, library, {**environment, **self.launcher.environment}, key, at_once=at_once),
                environment=environment,
                memory=at_once * UNIT_MEMORY,
            ),
        )

    def module_inputs(self, build_dir: str) -> tuple[str, ...]:
        return (f"{build_dir}/lib/{_LIBRARY}",)


def _hostcc() -> tuple[str, ...]:
    # -P: a folder called skrules in the workspace must not stand in for the package.
    return (sys.executable, "-P", "-m", "skrules.toolchain.hostcc")


def _depfile(output: str, depfile: str) -> tuple[str, ...]:
    return ("-MD", "-MF", depfile, "-MT", output) if depfile else ()
