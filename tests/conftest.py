"""Options and fixtures of all tests."""

from __future__ import annotations

import importlib
import shutil
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write what the code makes now as the expected output")


@pytest.fixture
def check_golden(request: pytest.FixtureRequest) -> Callable[[Path, bytes], None]:
    """Compare bytes with an expected file, or write that file under --update-golden."""

    def check(path: Path, made: bytes) -> None:
        if request.config.getoption("--update-golden"):
            path.write_bytes(made)
        assert path.is_file(), f"{path} is missing: run pytest with --update-golden and read what it writes"
        assert made.decode("latin-1") == path.read_bytes().decode("latin-1")

    return check


@pytest.fixture(scope="session")
def npu() -> ModuleType:
    """`torch.npu`, emulated in this process. The first time on a machine this compiles for half a minute."""
    if shutil.which("g++") is None:
        pytest.skip("no g++ to compile the device with")
    importlib.import_module("skrules.hostnpu")
    return importlib.import_module("torch.npu")
