"""Find PyTorch, and torch_npu, without importing them: `import torch` takes seconds, and torch_npu needs CANN's libraries."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from skrules.binding import probe
from skrules.errors import ToolchainError

_VERSION = re.compile(r"""^__version__\s*(?::[^=]*)?=\s*['"]([^'"]+)['"]""", re.M)
_STANDARD = re.compile(r"-std=(c\+\+\d\d)\b")
# A constructor that takes a std::string, in the mangling of either ABI of libstdc++.
_NEW_ABI = re.compile(rb"_ZN3c105ErrorC[12]E\w*NSt7__cxx1112basic_string")
_OLD_ABI = re.compile(rb"_ZN3c105ErrorC[12]E\w*S(?:s|bI)")

_PROBE_SECONDS = 60
_REINSTALL = "reinstall torch, or build without it in an environment that has none"


@dataclass(frozen=True, slots=True, kw_only=True)
class TorchNpuInfo:
    """An installed torch_npu. `root` is the package's folder."""

    version: str
    root: Path

    @property
    def include_dirs(self) -> tuple[Path, ...]:
        """Its own headers and the CANN runtime headers that it carries (`acl/acl_rt.h`)."""
        include = self.root / "include"
        return (include, include / "third_party" / "acl" / "inc", include / "third_party" / "hccl" / "inc")

    @property
    def library_dir(self) -> Path:
        return self.root / "lib"


@dataclass(frozen=True, slots=True, kw_only=True)
class TorchInfo:
    """An installed torch and the interpreter that has it.

    `standard` is the C++ standard that torch's own extension builder compiles with ("c++20" for torch 2.13);
    `cxx11_abi` tells which std::string its libraries use.
    """

    python: Path
    python_version: str  # "3.11"
    python_abi: str  # SOABI, "cpython-311-x86_64-linux-gnu"
    python_include: Path
    version: str  # "2.13.0+cpu"
    root: Path
    standard: str
    cxx11_abi: bool
    npu: TorchNpuInfo | None = None

    @property
    def include_dirs(self) -> tuple[Path, ...]:
        """Folders to include torch and Python headers from."""
        include = self.root / "include"
        return (include, include / "torch" / "csrc" / "api" / "include", self.python_include)

    @property
    def library_dir(self) -> Path:
        return self.root / "lib"


def find_torch(python: str = sys.executable) -> TorchInfo | None:
    """Return the torch that `python` would import, or None when it has none.

    Takes milliseconds for the running interpreter; another one is started once. Raises ToolchainError when `python`
    cannot be run, or when a torch is there but is damaged.
    """
    found = probe.probe() if Path(python) == Path(sys.executable) else _ask(python)
    if not found["torch"]:
        return None
    root = Path(found["torch"])
    return TorchInfo(
        python=Path(python),
        python_version=found["version"],
        python_abi=found["soabi"],
        python_include=Path(found["include"]),
        version=_version(root),
        root=root,
        standard=_standard(root),
        cxx11_abi=_cxx11_abi(root / "lib" / "libc10.so"),
        npu=_npu(found["torch_npu"]),
    )


def _npu(root: str) -> TorchNpuInfo | None:
    return TorchNpuInfo(version=_version(Path(root)), root=Path(root)) if root else None


def _ask(python: str) -> dict[str, str]:
    # As text on the command line, from the root folder: neither may add a folder to what the interpreter would import.
    text = Path(probe.__file__).read_text(encoding="utf-8")
    try:
        done = subprocess.run([python, "-c", text], cwd="/", capture_output=True, text=True, check=True, timeout=_PROBE_SECONDS)
        answer = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        said = (getattr(error, "stderr", "") or "").strip().splitlines()
        notes = said[-1:] or [str(error)]
        raise ToolchainError(f"the interpreter '{python}' does not tell about its torch", notes=notes) from error
    return {name: str(value) for name, value in answer.items()}


def _version(root: Path) -> str:
    """Read `__version__` from version.py, which torch and torch_npu are built with."""
    match = _VERSION.search(_text(root / "version.py"))
    if not match:
        raise ToolchainError(f"no version in {root / 'version.py'}", hint=_REINSTALL)
    return match[1]


def _standard(root: Path) -> str:
    """Return the standard that torch/utils/cpp_extension.py passes: torch's headers need it, and it changes with versions."""
    found = _STANDARD.findall(_text(root / "utils" / "cpp_extension.py"))
    return max(found, default="c++17")


def _cxx11_abi(library: Path) -> bool:
    try:
        data = library.read_bytes()
    except OSError as error:
        raise ToolchainError(f"{library} cannot be read: {error.strerror}", hint=_REINSTALL) from error
    if _NEW_ABI.search(data):
        return True
    if _OLD_ABI.search(data):
        return False
    raise ToolchainError(f"{library} does not show which C++ ABI it has", hint=_REINSTALL)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise ToolchainError(f"{path} cannot be read: {error.strerror}", hint=_REINSTALL) from error
