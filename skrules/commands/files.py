"""Files that a command is given, and folders that it fills whole or not at all."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from skrules.engine.files import bytes_of, write_if_changed
from skrules.errors import Location, UsageError

_STAGE = ".skrules-partial"
_MOVES = "moves"


def json_bytes(document: Mapping[str, Any]) -> bytes:
    """Return a document the way the public tool writes it: two blanks of indent, ASCII."""
    return (json.dumps(document, indent=2) + "\n").encode()


def read_object(path: Path) -> dict[str, Any]:
    """Read a JSON file that holds an object. Raises UsageError for another one, and for a key that is there twice."""
    at = Location(file=str(path))

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            twice = next(key for key, _ in pairs if sum(other == key for other, _ in pairs) > 1)
            raise UsageError(f"the key '{twice}' is there twice", at=at)
        return found

    try:
        document = json.loads(bytes_of(path), object_pairs_hook=once)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"not JSON: {error}", at=at) from error
    if not isinstance(document, dict):
        raise UsageError("the file must hold an object", at=at)
    return document


def write_result(data: bytes, output: Path | None, inputs: Sequence[Path]) -> None:
    """Write what a command has made to the file `output`, or to standard output. Raises UsageError where that cannot be, and for
    a file that is one of the `inputs`: what users wrote is never written over."""
    if output is not None and any(output.exists() and each.exists() and output.samefile(each) for each in inputs):
        raise UsageError(f"{output} is what the result is made from", hint="write the result to another file")
    if output is not None and (output.name == "" or (output.exists() and not output.is_file())):
        raise UsageError(f"cannot write {output}: it is no regular file")
    try:
        if output is not None:
            write_if_changed(output, data)
        elif sys.stdout is None:
            raise UsageError("there is no standard output to write to", hint="-o FILE writes to a file")
        else:
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        if output is None:
            sys.stdout = None  # so that the interpreter does not try again when it ends
        raise UsageError(f"cannot write {output or 'to standard output'}: {error.strerror}") from error


class OutputFolder:
    """An `--output-dir` while a command works on it.

    What is published is written beside first and then renamed into place, so that there is all of it or nothing. A run that
    was killed leaves at most a hidden folder, which tells the next run what to clear away. Two runs at once exclude one
    another. Raises UsageError on entry when one of `trees` is there already, or, with `empty`, anything at all.
    """

    def __init__(self, path: Path, *, trees: Sequence[str] = (), empty: bool = False) -> None:
        self._path = path
        self._trees = tuple(trees)
        self._empty = empty
        self._created: list[Path] = []
        self._lock = -1

    def __enter__(self) -> OutputFolder:
        missing = [folder for folder in (self._path, *self._path.parents) if not folder.exists()]
        try:
            self._path.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(self._path, os.O_RDONLY | os.O_DIRECTORY)
        except OSError as error:
            raise UsageError(f"cannot make the folder {self._path}: {error.strerror}") from error
        self._created = missing
        try:
            self._begin()
        except BaseException:
            self._leave()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._leave()

    def publish(self, files: Mapping[str, bytes]) -> None:
        """Write files by their paths inside the folder. Top-level names come into place in the order given, trees first."""
        stage = self._path / _STAGE
        tops = list(dict.fromkeys(path.partition("/")[0] for path in files))
        tops.sort(key=lambda name: name not in self._trees)
        try:
            for path, data in files.items():
                target = stage / "content" / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(data)
            (stage / _MOVES).write_text("\n".join(tops), encoding="utf-8")
            for top in tops:
                (stage / "content" / top).replace(self._path / top)
            (stage / _MOVES).unlink()
        except OSError as error:
            self._forget(stage)
            raise UsageError(f"cannot write into {self._path}: {error.strerror}") from error
        shutil.rmtree(stage, ignore_errors=True)

    def _begin(self) -> None:
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise UsageError(f"another run writes into {self._path}") from error
        self._forget(self._path / _STAGE)
        for tree in self._trees:
            if os.path.lexists(self._path / tree):
                raise UsageError(f"{self._path / tree} exists already", hint="remove it, or choose another folder")
        if self._empty and any(self._path.iterdir()):
            raise UsageError(f"the folder {self._path} is not empty", hint="remove it, or choose another folder")

    def _forget(self, stage: Path) -> None:
        """Clear away what a run that did not end has left: its stage, and what it had moved out of it already."""
        if not stage.is_dir():
            return
        moves = stage / _MOVES
        for name in moves.read_text(encoding="utf-8").splitlines() if moves.is_file() else ():
            moved = self._path / name
            if os.path.lexists(stage / "content" / name) or not os.path.lexists(moved):
                continue
            if moved.is_dir() and not moved.is_symlink():
                shutil.rmtree(moved)
            else:
                moved.unlink()
        shutil.rmtree(stage, ignore_errors=True)

    def _leave(self) -> None:
        os.close(self._lock)
        for folder in self._created:  # innermost first; those that hold something stay
            try:
                folder.rmdir()
            except OSError:
                break
