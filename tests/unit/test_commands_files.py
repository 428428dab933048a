"""Folders that a command fills whole or not at all."""

from __future__ import annotations

import errno
import io
from pathlib import Path

import pytest

from skrules.commands.files import OutputFolder, read_object, write_result
from skrules.errors import UsageError


def names(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def killed_at(monkeypatch, step):
    """Make the `step`-th rename of a run its last act, as a kill would: nothing is cleaned up."""
    done = []
    rename = Path.replace

    def replace(self, target):
        done.append(target)
        if len(done) == step:
            raise KeyboardInterrupt
        return rename(self, target)

    monkeypatch.setattr(Path, "replace", replace)


def test_publishes_all_and_leaves_nothing_else(tmp_path):
    with OutputFolder(tmp_path / "a" / "b", trees=("tree",)) as output:
        output.publish({"tree/x/y": b"1", "tree/z": b"2", "note.json": b"3"})
    assert names(tmp_path / "a" / "b") == ["note.json", "tree/x/y", "tree/z"]


def test_a_tree_that_is_there_is_refused_and_kept(tmp_path):
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "mine").write_text("mine")
    with pytest.raises(UsageError, match="exists already"), OutputFolder(tmp_path, trees=("tree",)):
        pass
    assert names(tmp_path) == ["tree/mine"]


def test_a_folder_that_must_be_empty(tmp_path):
    (tmp_path / "mine").touch()
    with pytest.raises(UsageError, match="not empty"), OutputFolder(tmp_path, empty=True):
        pass


def test_a_document_is_replaced(tmp_path):
    for text in (b"old", b"new"):
        with OutputFolder(tmp_path) as output:
            output.publish({"note.json": text})
    assert (tmp_path / "note.json").read_bytes() == b"new"


@pytest.mark.parametrize("step", [1, 2])
def test_a_killed_run_does_not_block_the_next(tmp_path, monkeypatch, step):
    files = {"tree/x": b"1", "note.json": b"2"}
    with monkeypatch.context() as patch:
        killed_at(patch, step)
        with pytest.raises(KeyboardInterrupt), OutputFolder(tmp_path, trees=("tree",)) as output:
            output.publish(files)
    with OutputFolder(tmp_path, trees=("tree",)) as output:
        output.publish(files)
    assert names(tmp_path) == ["note.json", "tree/x"]


def test_a_failing_run_leaves_no_folder(tmp_path):
    with pytest.raises(ZeroDivisionError), OutputFolder(tmp_path / "a" / "b"):
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


def test_two_runs_exclude_one_another(tmp_path):
    with OutputFolder(tmp_path), pytest.raises(UsageError, match="another run"), OutputFolder(tmp_path):
        pass


def test_a_file_in_the_way(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="cannot make the folder"), OutputFolder(tmp_path / "file"):
        pass


def test_a_result_never_replaces_what_it_is_made_from(tmp_path):
    source, link = tmp_path / "k.asc", tmp_path / "link.asc"
    source.write_bytes(b"mine")
    link.symlink_to(source)
    for output in (source, tmp_path / "." / "k.asc", link):
        with pytest.raises(UsageError, match="is what the result is made from"):
            write_result(b"new", output, [tmp_path / "other", source])
    assert source.read_bytes() == b"mine"
    write_result(b"new", tmp_path / "deep" / "o.asc", [source])
    assert (tmp_path / "deep" / "o.asc").read_bytes() == b"new"


@pytest.mark.parametrize("output", ["", "folder", "file/below", "/dev/full", "/proc/none/o.asc"])
def test_a_result_that_cannot_be_written_is_a_usage_error(output, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("text")
    with pytest.raises(UsageError, match="cannot write"):
        write_result(b"new", Path(output), [])
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "folder"]


def test_a_standard_output_that_is_full_or_closed_is_a_usage_error(monkeypatch):
    class Full(io.BytesIO):
        def write(self, _):
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(Full()))
    with pytest.raises(UsageError, match="cannot write to standard output: No space left"):
        write_result(b"new", None, [])
    monkeypatch.setattr("sys.stdout", None)
    with pytest.raises(UsageError, match="no standard output"):
        write_result(b"new", None, [])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "the file must hold an object"),
        ('{"a": {"b": 1, "b": 2}}', "the key 'b' is there twice"),
    ],
)
def test_a_document_that_is_no_object_is_told_with_its_file(tmp_path, text, message):
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(UsageError, match=f"a.json: {message}"):
        read_object(path)
