"""Finding torch: made-up installations, read and never imported."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from skrules.binding import probe
from skrules.binding.detect import TorchInfo, find_torch
from skrules.errors import ToolchainError

NEW = b"\0_ZN3c105ErrorC1ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE\0"
OLD = b"\0_ZN3c105ErrorC1ENS_14SourceLocationESs\0"


def install(folder: Path, *, abi: bytes = NEW, standard: str = "c++20", npu: str = "") -> Path:
    torch = folder / "torch"
    for path, data in {
        "__init__.py": b"raise RuntimeError('imported')\n",
        "version.py": b"from typing import Optional\n__all__ = ['__version__']\n__version__ = '2.13.0+cpu'\n",
        "utils/cpp_extension.py": f"cflags += ['-std={standard}', '-fPIC']\n".encode(),
        "lib/libc10.so": b"\x7fELF" + abi,
    }.items():
        (torch / path).parent.mkdir(parents=True, exist_ok=True)
        (torch / path).write_bytes(data)
    if npu:
        (folder / "torch_npu").mkdir()
        (folder / "torch_npu" / "__init__.py").write_text("raise ImportError('libhccl.so')\n")
        (folder / "torch_npu" / "version.py").write_text(f"__version__ = '{npu}'\n")
    return torch


@pytest.fixture
def found_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The one folder that packages are looked for in, besides the standard library."""
    monkeypatch.setattr(sys, "path", [str(tmp_path), *(path for path in sys.path if "site-packages" not in path)])
    for name in ("torch", "torch_npu"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    sys.path_importer_cache.pop(str(tmp_path), None)
    return tmp_path


def here() -> TorchInfo:
    found = find_torch()
    assert found is not None
    return found


@pytest.mark.usefixtures("found_in")
def test_no_torch() -> None:
    assert find_torch() is None


def test_a_folder_of_that_name_is_no_torch(found_in: Path) -> None:
    (found_in / "torch").mkdir()
    (found_in / "torch" / "notes.txt").write_text("")
    assert find_torch() is None


def test_torch_is_read_and_not_imported(found_in: Path) -> None:
    root = install(found_in)
    found = here()
    assert (found.version, found.standard, found.cxx11_abi, found.npu) == ("2.13.0+cpu", "c++20", True, None)
    assert found.include_dirs[:2] == (root / "include", root / "include/torch/csrc/api/include")
    assert (found.include_dirs[2] / "Python.h").name == "Python.h"
    assert found.library_dir == root / "lib"
    assert found.python_version == f"{sys.version_info[0]}.{sys.version_info[1]}"
    assert "torch" not in sys.modules


def test_the_older_abi_and_standard(found_in: Path) -> None:
    install(found_in, abi=OLD, standard="c++17")
    found = here()
    assert (found.standard, found.cxx11_abi) == ("c++17", False)


def test_torch_npu_is_found_without_cann(found_in: Path) -> None:
    install(found_in, npu="2.13.0.post1")
    npu = here().npu
    assert npu is not None
    assert npu.version == "2.13.0.post1"
    assert npu.include_dirs[1] == found_in / "torch_npu/include/third_party/acl/inc"


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ("version.py", r"version\.py cannot be read"),
        ("utils/cpp_extension.py", r"cpp_extension\.py cannot be read"),
        ("lib/libc10.so", r"libc10\.so cannot be read"),
    ],
)
def test_a_damaged_torch_is_an_error(found_in: Path, damage: str, message: str) -> None:
    (install(found_in) / damage).unlink()
    with pytest.raises(ToolchainError, match=message) as caught:
        find_torch()
    assert "reinstall torch" in caught.value.hint


def test_a_version_or_abi_that_cannot_be_told_is_an_error(found_in: Path) -> None:
    root = install(found_in, abi=b"")
    with pytest.raises(ToolchainError, match="does not show which C\\+\\+ ABI it has"):
        find_torch()
    (root / "version.py").write_text("nothing\n")
    with pytest.raises(ToolchainError, match=r"no version in .*version\.py"):
        find_torch()


def interpreter(tmp_path: Path, *lines: str) -> str:
    program = tmp_path / "python"
    program.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    program.chmod(0o755)
    return str(program)


def test_another_interpreter_is_asked(tmp_path: Path) -> None:
    root = install(tmp_path / "site")
    python = interpreter(tmp_path, f'PYTHONPATH={root.parent} exec {sys.executable} "$@"')
    found = find_torch(python)
    assert found is not None and found.root == root
    assert found.python == Path(python)
    assert found.python_abi == probe.probe()["soabi"]


@pytest.mark.parametrize("line", ["exit 3", "echo no", "echo broken >&2; exit 1"])
def test_an_interpreter_that_does_not_answer_is_an_error(tmp_path: Path, line: str) -> None:
    with pytest.raises(ToolchainError, match="does not tell about its torch"):
        find_torch(interpreter(tmp_path, line))
    with pytest.raises(ToolchainError, match="does not tell about its torch"):
        find_torch(str(tmp_path / "nobody"))
