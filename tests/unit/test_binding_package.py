"""The package of a build tree: explicit loading, nothing guessed."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest

from skrules.binding.package import module_name, render_package_init


def test_the_module_of_an_operator_and_arch() -> None:
    assert module_name("add_custom", "dav-2201") == "add_custom_dav_2201"


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    folder = tmp_path / "built_operators"
    folder.mkdir()
    (folder / "__init__.py").write_text(render_package_init("host"))
    (folder / "add_dav_2201.py").write_text("import torch\n")
    (tmp_path / "torch.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    for name in [name for name in sys.modules if name.partition(".")[0] in ("built_operators", "torch")]:
        monkeypatch.delitem(sys.modules, name)
    return importlib.import_module("built_operators")


def test_importing_the_package_loads_torch_and_no_operator(package: ModuleType) -> None:
    assert "torch" in sys.modules
    assert "built_operators.add_dav_2201" not in sys.modules
    module = package.load("add", "dav-2201")
    assert module.__name__ == "built_operators.add_dav_2201"
    assert package.load("add", "dav-2201") is module


@pytest.mark.parametrize("wanted", [("add", "dav-3510"), ("add", ""), ("sub", "dav-2201"), ("../add", "dav-2201")])
def test_what_was_not_built_is_refused_with_what_was(package: ModuleType, wanted: tuple[str, str]) -> None:
    with pytest.raises(KeyError, match="built: add_dav_2201"):
        package.load(*wanted)


def test_modules_that_come_later_are_found(package: ModuleType) -> None:
    Path(package.__file__ or "").with_name("mul_dav_3510.py").write_text("")
    importlib.invalidate_caches()
    assert package.modules() == ["add_dav_2201", "mul_dav_3510"]
    assert package.load("mul", "dav-3510").__name__ == "built_operators.mul_dav_3510"


def test_the_real_device_needs_torch_npu() -> None:
    assert "import torch_npu" in render_package_init("bisheng")
    assert "torch_npu" not in render_package_init("host")
