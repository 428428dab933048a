"""The compiled half of the device: `toolchains/host/npu/`, made once for a torch, a compiler and these sources."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from skrules import resources
from skrules.arch_file import load_archs
from skrules.binding.detect import TorchInfo
from skrules.errors import BuildError
from skrules.toolchain import cache
from skrules.toolchain.base import Commands, CompileCpp, Link
from skrules.toolchain.fingerprint import digest_tree
from skrules.toolchain.host import HostToolchain
from skrules.toolchain.host_runtime import LIBRARY, make_runtime, runtime_digest

NAME = "skrules_hostnpu.so"

_OBJECT = "skrules_hostnpu.o"
_CACHED = "host-npu"
_KEPT = 4  # of two megabytes: torch versions in use
_TORCH_LIBRARIES = ("torch", "torch_cpu", "c10")


def sources() -> Path:
    """Return the folder of the C++ sources."""
    return resources.toolchains() / "host" / "npu"


def provide(torch: TorchInfo, environ: Mapping[str, str]) -> Path:
    """Return the folder with NAME and the emulated device's library beside it, compiled when the cache has none.

    Says so first, in one line on stderr. Raises ToolchainError without a C++ compiler, BuildError when it does not compile.
    """
    toolchain = HostToolchain(environ=environ, why="skrules.hostnpu")
    store = cache.Cache(cache.root(environ))

    def build(folder: Path) -> None:
        kept = f"kept in {store.root}" if folder.is_relative_to(store.root) else f"it cannot be kept in {store.root}"
        said = f"skrules.hostnpu: compiling the npu device for torch {torch.version}; done once, {kept}"
        print(said, file=sys.stderr, flush=True)
        # What the runtime has to say belongs to no program's output.
        with contextlib.redirect_stdout(sys.stderr):
            make_runtime(LIBRARY, toolchain.environment(), _runtime_key(toolchain), folder)
        for command in (*_compile(torch, toolchain), *_link(torch, toolchain)):
            _run(command, folder, toolchain.environment())
        (folder / _OBJECT).unlink()

    words = {**toolchain.key(), "runtime": runtime_digest(), "npu": digest_tree(sources()), **_identity(torch)}
    entry = store.cached(_CACHED, cache.key_of(*(f"{part}={value}" for part, value in sorted(words.items()))), build, keep=_KEPT)
    if entry is None:
        # Not removed: this process has it loaded.
        entry = Path(tempfile.mkdtemp(prefix="skrules-hostnpu."))
        build(entry)
    return entry


def _runtime_key(toolchain: HostToolchain) -> dict[str, str]:
    # As a build has it, so that both share one library.
    return {part: value for part, value in toolchain.key().items() if part != "toolkit launch syntax"}


def _identity(torch: TorchInfo) -> dict[str, str]:
    # The folder too: headers are compiled in from there, and libraries are linked from there.
    return {
        "torch": torch.version,
        "torch root": str(torch.root.resolve()),
        "standard": torch.standard,
        "abi": str(int(torch.cxx11_abi)),
    }


def _compile(torch: TorchInfo, toolchain: HostToolchain) -> Commands:
    # As system headers: what torch's own warn of is not ours.
    includes = tuple(word for folder in torch.include_dirs for word in ("-isystem", str(folder)))
    return toolchain.compile_cpp(
        CompileCpp(
            source=str(sources() / "npu.cpp"),
            output=_OBJECT,
            defines=(f"_GLIBCXX_USE_CXX11_ABI={int(torch.cxx11_abi)}",),
            options=(f"-std={torch.standard}", "-O1", "-fvisibility=hidden", *includes),
        )
    )


def _link(torch: TorchInfo, toolchain: HostToolchain) -> Commands:
    # Any arch: there is no kernel in it.
    arch = load_archs().archs[0]
    return toolchain.link(
        Link(
            kind="module",
            inputs=(_OBJECT,),
            output=NAME,
            arch=arch,
            rpath_origin=(".",),
            library_dirs=(str(torch.library_dir),),
            libraries=_TORCH_LIBRARIES,
        )
    )


def _run(command: tuple[str, ...], folder: Path, environment: Mapping[str, str]) -> None:
    done = subprocess.run(command, cwd=folder, env=dict(environment), capture_output=True, text=True, check=False)
    if done.returncode:
        raise BuildError("the npu device does not compile", notes=(done.stdout + done.stderr).strip().splitlines()[-40:])
