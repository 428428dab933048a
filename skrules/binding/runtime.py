"""The binding runtime: how `templates/binding/runtime.cpp` is compiled, and what a module links with.

One object serves every operator and arch of a toolchain. It takes half a minute, because of torch's headers, so the
object is kept in the user's cache and the step in a build is a copy.
"""

from __future__ import annotations

import functools
import hashlib
import os
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from skrules.binding import templates
from skrules.binding.detect import TorchInfo, TorchNpuInfo
from skrules.engine.action import Action
from skrules.engine.files import write_if_changed
from skrules.errors import BuildError, ToolchainError
from skrules.toolchain import cache
from skrules.toolchain.base import CompileCpp, Toolchain

_OBJECT = "skrules_binding.o"
_CACHED = "binding-runtime"
_MEMORY = 1000  # MiB, measured with g++ 12: torch's headers decide it, not the toolchain
_KEPT = 4  # objects of half a megabyte: torch versions and toolchains in use

# Parts of a toolchain's key that decide over kernels only: the runtime is plain C++ and includes no device header.
_KERNELS_ONLY = frozenset({"toolkit headers", "toolkit archs", "toolkit launch syntax"})

# Where torch lies says nothing about the object, and must not be in what is shipped: its headers have messages with `__FILE__`.
_NO_PATHS = "-ffile-prefix-map"

# No rpath: `import torch` has loaded these before a module is imported, wherever they lie.
_TORCH_LIBRARIES = ("torch_python", "torch", "torch_cpu", "c10")
_NPU_LIBRARIES = ("torch_npu", "ascendcl")


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeFlags:
    """Compiler and linker words that torch decides; paths outside the workspace are absolute."""

    include_dirs: tuple[str, ...]
    defines: tuple[str, ...]
    options: tuple[str, ...]
    library_dirs: tuple[str, ...]
    libraries: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeRequest:
    """The step that makes the runtime's object `output`, and what every module links with besides."""

    action: Action
    output: str
    library_dirs: tuple[str, ...]
    libraries: tuple[str, ...]


def runtime_sources() -> tuple[Path, ...]:
    """Return the source of the runtime, first, and its headers."""
    folder = templates.directory()
    tables = (folder / "skrules_descriptor.h", folder / "skrules_wrapper.h")
    return (folder / "runtime.cpp", *tables, *sorted((folder / "runtime").glob("*.h")))


def runtime_flags(torch: TorchInfo, toolchain: str) -> RuntimeFlags:
    """Return the flags of the runtime for `toolchain`, "bisheng" or "host".

    bisheng needs torch_npu, for its streams; host never uses it, even where it is installed. Raises ToolchainError when
    torch_npu is missing or was made for another torch.
    """
    npu = _require_npu(torch) if toolchain == "bisheng" else None
    npu_includes = npu.include_dirs if npu else ()
    return RuntimeFlags(
        include_dirs=tuple(str(path) for path in (templates.directory(), *torch.include_dirs, *npu_includes)),
        defines=(f"_GLIBCXX_USE_CXX11_ABI={int(torch.cxx11_abi)}", *(("SKRULES_TORCH_NPU",) if npu else ())),
        options=(f"-std={torch.standard}", "-O2", "-fvisibility=hidden"),
        library_dirs=tuple(str(path) for path in (torch.library_dir, *((npu.library_dir,) if npu else ()))),
        libraries=(*_TORCH_LIBRARIES, *(_NPU_LIBRARIES if npu else ())),
    )


def runtime_key(torch: TorchInfo, toolchain: str, identity: Mapping[str, str]) -> dict[str, str]:
    """Return everything that the runtime's object depends on; `identity` is the toolchain's own key.

    No path is in it: the same torch in another folder gives the same object.
    """
    sources = hashlib.sha256()
    for path in runtime_sources():
        data = path.read_bytes()
        sources.update(f"{path.name}\0{len(data)}\0".encode() + data)
    flags = runtime_flags(torch, toolchain)
    return {
        **{part: value for part, value in identity.items() if part not in _KERNELS_ONLY},
        "runtime": sources.hexdigest(),
        "torch": torch.version,
        "torch_npu": torch.npu.version if torch.npu and toolchain == "bisheng" else "",
        "python": f"{torch.python_version} {torch.python_abi}",
        "flags": " ".join((*flags.defines, *flags.options, _NO_PATHS)),
    }


def runtime_request(torch: TorchInfo, toolchain: Toolchain, build: str) -> RuntimeRequest:
    """Return how to make the runtime's object below `build`, relative to the workspace. Raises as `runtime_flags`."""
    flags = runtime_flags(torch, toolchain.name)
    output = f"{build}/lib/{_OBJECT}"
    key = runtime_key(torch, toolchain.name, toolchain.key())
    action = Action(
        mnemonic="BINDING",
        label="//toolchain:binding",
        what=f"binding runtime for torch {torch.version}",
        inputs=(),
        outputs=(output,),
        key=key,
        run=functools.partial(_make, output, key, flags, toolchain),
        environment=toolchain.environment(),
        memory=_MEMORY,
    )
    return RuntimeRequest(action=action, output=output, library_dirs=flags.library_dirs, libraries=flags.libraries)


def _require_npu(torch: TorchInfo) -> TorchNpuInfo:
    if torch.npu is None:
        raise ToolchainError(
            f"torch {torch.version} is there, but no torch_npu: modules for an NPU need its streams",
            hint=f"pip install torch-npu=={_release(torch.version)}, or use TOOLCHAIN=host",
        )
    if _release(torch.npu.version).split(".")[:2] != _release(torch.version).split(".")[:2]:
        raise ToolchainError(
            f"torch_npu {torch.npu.version} is not made for torch {torch.version}",
            hint=f"pip install torch-npu=={_release(torch.version)}",
        )
    return torch.npu


def _release(version: str) -> str:
    return version.partition("+")[0]


def _make(output: str, key: Mapping[str, str], flags: RuntimeFlags, toolchain: Toolchain, workspace: Path) -> None:
    """Bring the object into the workspace; it is compiled once per user and key."""

    def compile_into(folder: Path) -> None:
        _compile(folder / _OBJECT, flags, toolchain, workspace)

    name = cache.key_of(*(f"{part}={value}" for part, value in sorted(key.items())))
    entry = cache.Cache(cache.root(os.environ)).cached(_CACHED, name, compile_into, keep=_KEPT)
    target = workspace / output
    if entry:
        write_if_changed(target, (entry / _OBJECT).read_bytes())
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        compile_into(target.parent)


def _compile(output: Path, flags: RuntimeFlags, toolchain: Toolchain, workspace: Path) -> None:
    request = CompileCpp(
        source=str(runtime_sources()[0]),
        output=str(output),
        include_dirs=flags.include_dirs,
        defines=flags.defines,
        options=(*flags.options, *(f"{_NO_PATHS}={folder}/=" for folder in flags.include_dirs)),
    )
    launcher = toolchain.launcher
    environment = {**toolchain.environment(), **launcher.environment}
    for command in toolchain.compile_cpp(request):
        words = (*launcher.words, *command)
        done = subprocess.run(words, cwd=workspace, env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise BuildError("the binding runtime does not compile", notes=list(_last(done.stdout + done.stderr)))


def _last(text: str) -> Iterator[str]:
    yield from text.strip().splitlines()[-40:]
