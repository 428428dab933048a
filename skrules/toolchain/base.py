"""What a toolchain is: three requests in, argument vectors out. It runs nothing itself.

All paths in requests and argument vectors are relative to the workspace root, where commands run, unless they lie
outside of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from skrules.arch import Arch
from skrules.engine.action import Action, Launcher

# One command after the other; each is a complete argument vector, no shell in between.
Commands = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """What one step usually takes, in MiB: the guess of a first run, which is measured."""

    kernel: int
    link: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileKernel:
    """AscendC source -> object for one arch.

    `quote_dirs` serve `#include "x"` only, `include_dirs` both forms. `defines` are `NAME` or `NAME=value`;
    `options` are the contract's own compiler options and come last, so that they win.
    """

    source: str
    output: str
    depfile: str = ""
    arch: Arch
    quote_dirs: tuple[str, ...] = ()
    include_dirs: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileCpp:
    """Plain C++ for the host processor -> object."""

    source: str
    output: str
    depfile: str = ""
    include_dirs: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """Objects -> shared module or program.

    `inputs` are objects and libraries by path; a `.cpp` among them is compiled in the same step, with `include_dirs`
    and `defines`. `rpath_origin` holds library folders relative to the folder of `output` (`../lib`).
    """

    kind: Literal["module", "program"]
    inputs: tuple[str, ...]
    output: str
    arch: Arch
    library_dirs: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    rpath_origin: tuple[str, ...] = ()
    include_dirs: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    options: tuple[str, ...] = ()


class Toolchain(Protocol):
    """A way to turn AscendC into something that runs."""

    @property
    def name(self) -> str:
        """`bisheng` or `host`."""

    @property
    def summary(self) -> str:
        """The one line that is printed: which toolchain, where it was found, and why this one."""

    @property
    def launcher(self) -> Launcher:
        """What the user wants in front of the commands of `compile_kernel` and `compile_cpp`. No part of `key`."""

    @property
    def memory(self) -> Memory: ...

    def key(self) -> Mapping[str, str]:
        """Return everything outside the workspace that object files depend on: identity, versions, digests.

        It holds no path: the same tools elsewhere give the same key.
        """

    def files(self) -> tuple[str, ...]:
        """Return the files outside the workspace whose change may change `key`: programs by path or name, version files."""

    def environment(self) -> Mapping[str, str]:
        """Return the whole environment of every command. Nothing else of the user's environment reaches them."""

    def device_environment(self, arch: Arch) -> Mapping[str, str]:
        """Return the whole environment of a program that runs on a device of `arch`, or on its emulation."""

    def compile_kernel(self, request: CompileKernel) -> Commands: ...

    def compile_cpp(self, request: CompileCpp) -> Commands: ...

    def link(self, request: Link) -> Commands: ...

    def support(self, archs: tuple[Arch, ...], build_dir: str) -> tuple[Action, ...]:
        """Return the steps that make what all operators share, in `build_dir`, the folder of this toolchain's results."""

    def module_inputs(self, build_dir: str) -> tuple[str, ...]:
        """Return the outputs of `support` that every link reads. `link` finds them by itself through `rpath_origin`."""


def prefixed(prefix: str, values: tuple[str, ...]) -> tuple[str, ...]:
    """Return compiler arguments of the form `-Ipath`, `-DNAME`: one word each."""
    return tuple(prefix + value for value in values)
