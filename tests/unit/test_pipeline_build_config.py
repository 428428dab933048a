"""The build config: what is taken, and that nothing in it is passed over in silence."""

from __future__ import annotations

import json

import pytest

from skrules.errors import UsageError
from skrules.pipeline.build_config import read_build_config


def write(folder, **fields):
    path = folder / "config.json"
    path.write_text(json.dumps(fields))
    return path


def test_paths_are_relative_to_the_file(tmp_path):
    (tmp_path / "inc").mkdir()
    (tmp_path / "own").mkdir()
    (tmp_path / "first.h").write_text("")
    config = read_build_config(
        write(tmp_path, include_dirs=["inc"], support_dirs=["lib=own"], force_includes=["first.h"], compile_options=["-O1"]), ()
    )
    assert config.include_dirs == (tmp_path / "inc",)
    assert config.support_dirs == {"lib": tmp_path / "own"}
    assert config.force_includes == (tmp_path / "first.h",)
    assert config.to_json()["schema_version"] == "sk.operator.build_config.resolved.v1"


def test_empty_and_null_are_nothing(tmp_path):
    config = read_build_config(write(tmp_path, schema_version="", include_dirs=None, compile_options="", build_env=None), ())
    assert config.include_dirs == config.compile_options == ()


def test_an_unknown_key_is_an_error_that_names_what_was_meant(tmp_path):
    with pytest.raises(UsageError, match="unknown key 'compile_option'") as error:
        read_build_config(write(tmp_path, compile_option=["-O1"]), ())
    assert error.value.hint == "did you mean 'compile_options'?"


@pytest.mark.parametrize(
    "fields",
    [
        {"schema_version": "v2"},
        {"include_dirs": ["nowhere"]},
        {"force_includes": ["nowhere.h"]},
        {"compile_options": "-O1"},
        {"compile_options": [1]},
        {"compile_options": [""]},
        {"build_env": {"MY_FLAG": "1"}},
        {"build_env": {"CXX": 1}},
        {"runtime_env": {"ANY": "1"}},
        {"support_dirs": ["a=.", "a=.."]},
    ],
)
def test_what_is_wrong_or_would_have_no_effect_is_an_error(tmp_path, fields):
    with pytest.raises(UsageError):
        read_build_config(write(tmp_path, **fields), ())


def test_a_key_that_is_there_twice_is_an_error(tmp_path):
    path = tmp_path / "config.json"
    path.write_text('{"compile_options": ["-O1"], "compile_options": []}')
    with pytest.raises(UsageError, match="twice"):
        read_build_config(path, ())


@pytest.mark.parametrize("text", ["[]", "{", "1", "[" * 100_000])
def test_no_object_is_an_error(tmp_path, text):
    path = tmp_path / "config.json"
    path.write_text(text)
    with pytest.raises(UsageError):
        read_build_config(path, ())


def test_overrides_replace_fields(tmp_path):
    path = write(tmp_path, compile_options=["-O1"], build_env={"CXX": "a"})
    config = read_build_config(path, ['compile_options=["-O2"]', 'build_env.BISHENG="b"'])
    assert config.compile_options == ("-O2",)
    assert config.build_env == {"CXX": "a", "BISHENG": "b"}


@pytest.mark.parametrize("word", ["compile_option=[]", "compile_options", "compile_options=[", "build_env.X=1", "build_env.=''"])
def test_wrong_overrides_are_errors(word):
    with pytest.raises(UsageError):
        read_build_config(None, [word])


def test_flags_of_the_linker_are_for_a_setup_py(tmp_path):
    config = read_build_config(write(tmp_path, link_libraries=["m"]), ())
    assert config.unbuildable == ("link_libraries",)
    assert config.for_package() == {"link_libraries": ["m"]}
