"""Compiled templates in the user's cache: used when they are whole and meant, compiled again otherwise."""

from __future__ import annotations

from pathlib import Path

import jinja2
import pytest

from skrules.compiled_shapes import CompiledShapes


def _render(folder: Path, cache: Path, options: str = "") -> str:
    loader = jinja2.FileSystemLoader(folder)
    environment = jinja2.Environment(loader=loader, bytecode_cache=CompiledShapes(cache, options), trim_blocks="trim" in options)
    return environment.get_template("greeting.j2").render(name="x")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "greeting.j2").write_text("{% if name %}\nhello {{ name }}{% endif %}")
    return tmp_path


def _kept(cache: Path) -> list[Path]:
    return sorted(cache.iterdir())


def test_a_template_is_compiled_once(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _render(folder, tmp_path / "cache") == "\nhello x"
    monkeypatch.setattr(jinja2.Environment, "_generate", None)  # what compiles
    assert _render(folder, tmp_path / "cache") == "\nhello x"


def test_another_text_takes_the_place_of_the_older_one(folder: Path, tmp_path: Path) -> None:
    _render(folder, tmp_path / "cache")
    (folder / "greeting.j2").write_text("good bye {{ name }}")
    assert _render(folder, tmp_path / "cache") == "good bye x"
    assert len(_kept(tmp_path / "cache")) == 1


def test_what_else_decides_about_the_result_is_part_of_the_name(folder: Path, tmp_path: Path) -> None:
    assert _render(folder, tmp_path / "cache") == "\nhello x"
    assert _render(folder, tmp_path / "cache", "trim") == "hello x"
    assert _render(folder, tmp_path / "cache") == "\nhello x"


@pytest.mark.parametrize("damage", [lambda data: data[:0], lambda data: data[:-1], lambda data: data[:60] + b"?" + data[61:]])
def test_a_damaged_one_is_compiled_again(folder: Path, tmp_path: Path, damage: object) -> None:
    assert callable(damage)
    _render(folder, tmp_path / "cache")
    [file] = _kept(tmp_path / "cache")
    whole = file.read_bytes()
    file.write_bytes(damage(whole))
    assert _render(folder, tmp_path / "cache") == "\nhello x"
    assert file.read_bytes() == whole


def test_a_cache_that_cannot_be_written_costs_nothing_but_time(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file, where a folder should be")
    assert _render(folder, tmp_path / "cache") == "\nhello x"


def test_another_python_has_its_own(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _render(folder, tmp_path / "cache")
    monkeypatch.setattr("skrules.compiled_shapes.MAGIC_NUMBER", b"other")
    _render(folder, tmp_path / "cache")
    assert len(_kept(tmp_path / "cache")) == 2
