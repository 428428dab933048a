"""Results are written whole or not at all, and only when they changed."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from skrules.engine.files import bytes_of, names_below, write_atomically, write_if_changed
from skrules.errors import UsageError


def test_equal_content_is_left_alone(tmp_path):
    path = tmp_path / "folder" / "file"
    assert write_if_changed(path, b"one")
    os.utime(path, (1, 1))
    assert not write_if_changed(path, b"one")
    assert path.stat().st_mtime == 1
    assert write_if_changed(path, b"two")
    assert path.read_bytes() == b"two"


def test_a_failed_write_leaves_the_old_content_and_nothing_else(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with pytest.raises(TypeError):
        write_atomically(path, "not bytes")
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_files_are_as_readable_as_any(tmp_path):
    (tmp_path / "plain").write_bytes(b"")
    write_atomically(tmp_path / "file", b"")
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("plain", "file")]
    assert modes[0] == modes[1]


def test_a_pipe_in_the_place_of_a_result_is_replaced(tmp_path):
    os.mkfifo(tmp_path / "out")
    assert write_if_changed(tmp_path / "out", b"x")
    assert (tmp_path / "out").read_bytes() == b"x"


def test_files_of_a_folder_without_what_is_hidden_and_results(tmp_path):
    for name in ("b.asc", "a/c.asc", "a/c.txt", ".git/d.asc", "out/e.asc", "a/out/f.asc"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    assert names_below(tmp_path, (".asc",), tmp_path / "out") == ["a/c.asc", "a/out/f.asc", "b.asc"]


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to(path.name), lambda path: path.symlink_to("gone")])
def test_what_has_the_name_of_a_source_and_is_no_file(tmp_path, make):
    (tmp_path / "b.asc").write_text("")
    (tmp_path / ".#b.asc").symlink_to("me@here.1")  # an editor has b.asc open
    assert names_below(tmp_path, (".asc",), None) == ["b.asc"]
    make(tmp_path / "k.asc")
    with pytest.raises(UsageError, match=r"cannot read .*k\.asc: it is no regular file"):
        names_below(tmp_path, (".asc",), None)


def test_what_is_no_file_is_read_to_its_end_if_it_has_one(tmp_path):
    reader, writer = os.pipe()
    os.write(writer, b"text")
    os.close(writer)
    assert bytes_of(Path(f"/dev/fd/{reader}")) == b"text"  # as a shell gives the output of a command
    os.close(reader)
    assert bytes_of(Path("/dev/null")) == b""
    for name, said in {"/dev/zero": "has no end", str(tmp_path): "Is a directory", str(tmp_path / "x"): "No such file"}.items():
        with pytest.raises(UsageError, match=said):
            bytes_of(Path(name))
