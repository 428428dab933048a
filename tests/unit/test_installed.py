"""Versions of installed distributions are those that importlib.metadata tells."""

from __future__ import annotations

import sys
from importlib import metadata
from pathlib import Path

import pytest

from skrules import installed


@pytest.mark.parametrize("name", ["scons", "SCons", "PyYAML", "pyyaml", "jinja2", "pytest", "skrules"])
def test_a_version_is_the_one_that_python_finds(name: str) -> None:
    assert installed.version(name) == metadata.version(name)


def test_the_first_folder_of_the_path_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder, version in (("first", "2.0"), ("second", "1.0")):
        (tmp_path / folder / f"some_library-{version}.dist-info").mkdir(parents=True)
    (tmp_path / "first" / "some_library_more-9.0.dist-info").mkdir()
    monkeypatch.setattr("sys.path", [str(tmp_path / "absent"), str(tmp_path / "first"), str(tmp_path / "second")])
    assert installed.version("Some-Library") == "2.0"


def test_metadata_of_another_form_is_found_as_python_finds_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    egg = tmp_path / "old_library.egg-info"
    egg.mkdir()
    (egg / "PKG-INFO").write_text("Metadata-Version: 1.0\nName: old-library\nVersion: 3.1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert installed.version("old-library") == "3.1"


def test_what_is_not_installed_is_an_error() -> None:
    with pytest.raises(metadata.PackageNotFoundError):
        installed.version("no-such-library-of-anybody")


def test_the_older_form_goes_first_where_it_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    egg = tmp_path / "first" / "a_library-4.0-py3.11.egg-info"
    egg.mkdir(parents=True)
    (egg / "PKG-INFO").write_text("Metadata-Version: 1.0\nName: a-library\nVersion: 4.0\n")
    (tmp_path / "second" / "a_library-1.0.dist-info").mkdir(parents=True)
    monkeypatch.setattr("sys.path", [str(tmp_path / "first"), str(tmp_path / "second"), *sys.path])
    assert installed.version("a-library") == "4.0"
