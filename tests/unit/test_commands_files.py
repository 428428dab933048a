"""Folders that a command fills whole or not at all."""

from __future__ import annotations

import pytest

from skrules.commands.files import OutputFolder
from skrules.errors import UsageError


def names(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def killed_at(monkeypatch, step):
    """Make the `step`-th rename of a run its last act, as a kill would: nothing is cleaned up."""
    from pathlib import Path

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
