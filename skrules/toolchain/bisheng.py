"""The `bisheng` toolchain: CANN's compiler, with documented options only.

Public sources of the command lines, all in asc-devkit (https://github.com/mirror-cann/asc-devkit, commit 82b89a1):

- [U] docs/zh/guide/编程指南/编译与运行/算子编译/AI-Core算子编译基本用法.md, usage and table of options
- [C] cmake/asc/asc_modules/CMakeASCInformation.cmake, the compile and link rules of CMake's language ASC
- [F] cmake/asc/asc_modules/FindASC.cmake, include and library folders of the toolkit
"""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from skrules.arch import Arch
from skrules.engine.action import NO_LAUNCHER, Action, Launcher
from skrules.toolchain import cache
from skrules.toolchain.base import Commands, CompileCpp, CompileKernel, Link, Memory, prefixed
from skrules.toolchain.fingerprint import digest_large

# Set by the toolkit's set_env.sh; bisheng finds its own headers and libraries through them.
_CANN_VARIABLES = ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME", "ASCEND_OPP_PATH", "TOOLCHAIN_HOME")

# What a program that captures and optimises a SuperKernel links: the libraries of the toolkit's own comparison project.
PROGRAM_LIBRARIES = (
    *("ascendsk", "acl_rt", "acl_rtc", "ascendcl", "ascend_dump", "runtime", "error_manager", "c_sec", "unified_dlog"),
    *("ascendc_runtime", "profapi", "profimpl", "msprofiler", "stdc++", "pthread"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolkit:
    """A CANN installation: its folder, and the version its own file `named_in` names, or "" when none does."""

    home: Path
    version: str
    named_in: Path | None = None


class BishengToolchain:
    """`program` is the compiler; `why` how it was found; `toolkit` the CANN it belongs to, None when that is unknown."""

    name = "bisheng"
    # Builds of operators with many template kernels report more than a gigabyte a compiler.
    memory = Memory(kernel=1200, link=400)

    def __init__(
        self,
        *,
        program: Path,
        toolkit: Toolkit | None,
        environ: Mapping[str, str],
        why: str,
        launcher: Launcher = NO_LAUNCHER,
    ) -> None:
        self.program = program
        self.toolkit = toolkit
        self.environ = environ
        self.why = why
        self.launcher = launcher

    @property
    def summary(self) -> str:
        version = f", CANN {self.toolkit.version}" if self.toolkit and self.toolkit.version else ""
        return f"toolchain: bisheng ({self.program}, {self.why}{version})"

    def key(self) -> Mapping[str, str]:
        """Contents of the compiler and the version of its CANN; the toolkit's headers are as fixed as its version."""
        return self._key

    @functools.cached_property
    def _key(self) -> Mapping[str, str]:
        return {
            "toolchain": "bisheng",
            "compiler": digest_large(self.program, cache.Cache(cache.root(self.environ))),
            "toolkit": (self.toolkit.version or "unknown") if self.toolkit else "unknown",
        }

    def files(self) -> tuple[str, ...]:
        named_in = self.toolkit.named_in if self.toolkit else None
        return (str(self.program), *([str(named_in)] if named_in else []))

    def environment(self) -> Mapping[str, str]:
        return self._environment

    @functools.cached_property
    def _environment(self) -> Mapping[str, str]:
        # Made once: every compile of a workspace has it.
        return {
            **{name: self.environ[name] for name in _CANN_VARIABLES if name in self.environ},
            **self._library_path(),
            "PATH": os.pathsep.join(dict.fromkeys([str(self.program.parent), "/usr/bin", "/bin"])),
            "LANG": "C",
            "LC_ALL": "C",
            "SOURCE_DATE_EPOCH": "0",
        }

    def device_environment(self, arch: Arch) -> Mapping[str, str]:  # noqa: ARG002
        """The driver's libraries lie outside of the toolkit, and the user says which devices a program may see."""
        mine = {name: value for name, value in self.environ.items() if name.startswith(("ASCEND", "LD_LIBRARY_PATH"))}
        return {**self.environment(), **mine}

    def compile_kernel(self, request: CompileKernel) -> Commands:
        return (
            (
                str(self.program),
                *("-x", "asc", f"--npu-arch={request.arch.name}", "-c", "-fPIC"),  # [U]
                *("-std=c++17", "-O3"),  # [C]: the default standard, and the level of a Release build
                *prefixed("-D", request.defines),  # [U]
                *(word for folder in request.quote_dirs for word in ("-iquote", folder)),  # bisheng is clang
                *prefixed("-I", request.include_dirs),  # [U]
                *request.options,
                *("-o", request.output, request.source),
                *_depfile(request.output, request.depfile),
            ),
        )

    def compile_cpp(self, request: CompileCpp) -> Commands:
        return (
            (
                str(self.program),
                *("-c", "-fPIC", "-std=c++17", "-O2"),  # [U]: bisheng -c main.cpp -o main.o
                *prefixed("-D", request.defines),
                *prefixed("-I", request.include_dirs),
                *self._toolkit_include(),
                *request.options,
                *("-o", request.output, request.source),
                *_depfile(request.output, request.depfile),
            ),
        )

    def link(self, request: Link) -> Commands:
        program = request.kind == "program"
        compiles = any(path.endswith(".cpp") for path in request.inputs)
        return (
            (
                str(self.program),
                *(() if program else ("-shared", "-fPIC")),  # [U]: -shared ... -fPIC
                f"--npu-arch={request.arch.name}",
                *(("-std=c++17", *prefixed("-D", request.defines), *prefixed("-I", request.include_dirs)) if compiles else ()),
                *(self._toolkit_include() if compiles else ()),
                *request.options,
                *("-o", request.output),
                *request.inputs,
                *prefixed("-L", request.library_dirs),
                *((f"-L{self.toolkit.home / 'lib64'}",) if self.toolkit else ()),  # [F]
                *prefixed("-l", request.libraries),
                *(prefixed("-l", PROGRAM_LIBRARIES) if program else ()),
                # The toolkit's libraries need the driver's, which a build machine does not have.
                *(("-Wl,--allow-shlib-undefined",) if program else ()),
                *(f"-Wl,-rpath,$ORIGIN/{folder}" for folder in request.rpath_origin),
            ),
        )

    def support(self, archs: tuple[Arch, ...], build_dir: str) -> tuple[Action, ...]:  # noqa: ARG002
        return ()

    def module_inputs(self, build_dir: str) -> tuple[str, ...]:  # noqa: ARG002
        return ()

    def _library_path(self) -> dict[str, str]:
        """Only the toolkit's own folders: what else the user has there must not rebuild everything when it changes."""
        home = self.environ.get("ASCEND_HOME_PATH", "")
        folders = [
            path
            for path in self.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep)
            if path and home and Path(path).is_relative_to(home)
        ]
        return {"LD_LIBRARY_PATH": os.pathsep.join(folders)} if folders else {}

    def _toolkit_include(self) -> tuple[str, ...]:
        """Only plain C++ needs to be told: with `-x asc` bisheng knows its own headers. [U]: -I${INSTALL_DIR}/include"""
        return (f"-I{self.toolkit.home / 'include'}",) if self.toolkit else ()


def _depfile(output: str, depfile: str) -> tuple[str, ...]:
    return ("-MD", "-MT", output, "-MF", depfile) if depfile else ()  # [C]: CMAKE_DEPFILE_FLAGS_ASC
