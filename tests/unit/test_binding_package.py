"""The package of a build tree: explicit loading, nothing guessed."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest
from test_binding_launcher import check_golden

from skrules.binding.package import module_name, render_package_init
from skrules.errors import UsageError

MODULES = [("mul", "dav-3510"), ("add", "dav-3510"), ("add", "dav-2201")]


def test_a_package_as_a_whole() -> None:
    check_golden("package_init.py", render_package_init(MODULES, toolchain="bisheng"))


def test_the_order_of_modules_changes_nothing() -> None:
    assert render_package_init(MODULES, toolchain="host") == render_package_init(MODULES[::-1], toolchain="host")


def test_two_modules_of_one_name() -> None:
    assert module_name("add", "dav-2201") == "add_dav_2201"
    with pytest.raises(UsageError, match="two modules would be named add_dav_2201: add for dav-2201, add_dav for 2201"):
        render_package_init([("add", "dav-2201"), ("add_dav", "2201")], toolchain="host")


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    folder = tmp_path / "built_operators"
    folder.mkdir()
    (folder / "__init__.py").write_text(render_package_init(MODULES, toolchain="host"))
    (folder / "add_dav_2201.py").write_text("import torch\n")
    (tmp_path / "torch.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    for name in [name for name in sys.modules if name.partition(".")[0] in ("built_operators", "torch")]:
        monkeypatch.delitem(sys.modules, name)
    return importlib.import_module("built_operators")


def test_nothing_is_imported_before_it_is_asked_for(package: ModuleType) -> None:
    assert "torch" not in sys.modules
    module = package.load("add", "dav-2201")
    assert module.__name__ == "built_operators.add_dav_2201"
    assert package.load("add", "dav-2201") is module


@pytest.mark.parametrize("wanted", [("add", "dav_2201"), ("add", ""), ("sub", "dav-2201")])
def test_what_was_not_built_is_refused_with_what_was(package: ModuleType, wanted: tuple[str, str]) -> None:
    with pytest.raises(KeyError, match="built: add for dav-2201, add for dav-3510, mul for dav-3510"):
        package.load(*wanted)


def test_a_module_that_is_gone_is_an_import_error(package: ModuleType) -> None:
    with pytest.raises(ImportError):
        package.load("mul", "dav-3510")
