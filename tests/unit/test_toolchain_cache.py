"""The user's cache: found, made once, repaired, done without."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from skrules.errors import UsageError
from skrules.toolchain import cache
from skrules.toolchain.cache import Cache
from skrules.toolchain.fingerprint import digest_file, digest_large, digest_tree


def writer(calls: list[Path], text: str = "x"):
    def build(folder: Path) -> None:
        calls.append(folder)
        (folder / "file").write_text(text)

    return build


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"SKRULES_CACHE": "/a", "XDG_CACHE_HOME": "/b", "HOME": "/c"}, "/a"),
        ({"XDG_CACHE_HOME": "/b", "HOME": "/c"}, "/b/skrules"),
        ({"HOME": "/c"}, "/c/.cache/skrules"),
        ({"SKRULES_CACHE": "relative", "XDG_CACHE_HOME": "", "HOME": "/c"}, "/c/.cache/skrules"),
    ],
)
def test_root(environ, expected):
    assert cache.root(environ) == Path(expected)


def test_an_entry_is_made_once(tmp_path):
    calls: list[Path] = []
    store = Cache(tmp_path)
    first = store.cached("n", "k", writer(calls))
    again = Cache(tmp_path).cached("n", "k", writer(calls))
    assert first == again == tmp_path / "n" / "k"
    assert len(calls) == 1
    assert (first / "file").read_text() == "x"


def test_a_failed_build_leaves_nothing(tmp_path):
    def build(folder: Path) -> None:
        (folder / "half").write_text("x")
        raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        Cache(tmp_path).cached("n", "k", build)
    assert [path.name for path in (tmp_path / "n").iterdir()] == ["k.lock"]
    assert Cache(tmp_path).cached("n", "k", writer([])) is not None


@pytest.mark.parametrize("damage", ["truncate", "remove", "mark", "garbage"])
def test_a_damaged_entry_is_made_again(tmp_path, damage):
    calls: list[Path] = []
    entry = Cache(tmp_path).cached("n", "k", writer(calls, "content"))
    if damage == "truncate":
        (entry / "file").write_text("con")
    elif damage == "remove":
        (entry / "file").unlink()
    elif damage == "mark":
        (entry / ".complete").unlink()
    else:
        (entry / ".complete").write_bytes(b"\xff\xfe\x00")
    assert Cache(tmp_path).find("n", "k") is None
    assert Cache(tmp_path).cached("n", "k", writer(calls, "content")) == entry
    assert (entry / "file").read_text() == "content"
    assert len(calls) == 2


def test_a_cache_that_cannot_be_written_is_done_without(tmp_path):
    (tmp_path / "file").write_text("")
    assert Cache(tmp_path / "file").cached("n", "k", writer([])) is None


def test_a_full_disk_is_done_without(tmp_path):
    def build(_folder: Path) -> None:
        raise OSError(28, "No space left on device")

    assert Cache(tmp_path).cached("n", "k", build) is None


def test_an_entry_in_the_making_is_not_waited_for(tmp_path):
    seen: list[Path | None] = []

    def build(folder: Path) -> None:
        seen.append(Cache(tmp_path).cached("n", "k", writer([]), wait=False))
        (folder / "file").write_text("x")

    assert Cache(tmp_path).cached("n", "k", build) is not None
    assert seen == [None]


def test_only_the_newest_entries_stay(tmp_path):
    store = Cache(tmp_path)
    for number in range(4):
        entry = store.cached("n", f"k{number}", writer([]), keep=2)
        os.utime(entry, (number, number))
    assert sorted(path.name for path in (tmp_path / "n").iterdir() if path.is_dir()) == ["k2", "k3"]


def test_a_key_tells_parts_apart():
    assert cache.key_of("ab", "c") != cache.key_of("a", "bc")


def test_digest_of_a_tree(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x.h").write_text("1")
    (tmp_path / "y.txt").write_text("2")
    before = digest_tree(tmp_path)
    headers = digest_tree(tmp_path, ("**/*.h",))
    (tmp_path / "y.txt").write_text("3")
    assert digest_tree(tmp_path) != before
    assert digest_tree(tmp_path, ("**/*.h",)) == headers
    (tmp_path / "a" / "x.h").rename(tmp_path / "x.h")
    assert digest_tree(tmp_path, ("**/*.h",)) != headers


def test_the_digest_of_a_large_file_is_remembered(tmp_path, monkeypatch):
    store = Cache(tmp_path / "cache")
    program = tmp_path / "program"
    program.write_bytes(b"one")
    os.utime(program, ns=(1, 1))
    assert digest_large(program, store) == digest_file(program)
    with monkeypatch.context() as unreadable:
        unreadable.setattr("skrules.toolchain.fingerprint.digest_file", None)
        assert digest_large(program, store) == digest_file(program)
    time.sleep(0.02)
    program.write_bytes(b"two")
    os.utime(program, ns=(1, 1))  # the same size, inode and time, as `cp -p` leaves them
    assert digest_large(program, store) == digest_file(program)


def test_a_user_without_a_home_is_told(monkeypatch):
    def homeless():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", homeless)
    with pytest.raises(UsageError, match="no home folder"):
        cache.root({})


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"sha256": 3}', "\xff"])
def test_a_damaged_memory_is_ignored(tmp_path, text):
    store = Cache(tmp_path / "cache")
    program = tmp_path / "program"
    program.write_bytes(b"one")
    digest_large(program, store)
    (memory,) = (tmp_path / "cache" / "digests").iterdir()
    memory.write_bytes(text.encode("latin-1"))
    assert digest_large(program, store) == digest_file(program)
