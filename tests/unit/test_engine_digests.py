"""What is remembered of files, and when it is believed."""

from __future__ import annotations

import os
import threading
import time

import pytest

from skrules.engine.digests import FileDigests, Known, digest_of, is_racy, is_unchanged

SECOND = 1_000_000_000
TIME = 1_700_000_000 * SECOND + 123_456_789


def settled(path):
    """Return what is known of a file when it has rested for a while."""
    known = FileDigests(path.parent).look(path.name)
    return known._replace(looked_at=known.ctime_ns + SECOND)


def test_a_file_is_read_once(tmp_path, monkeypatch):
    path = tmp_path / "a"
    path.write_text("one")
    digests = FileDigests(tmp_path, {"a": settled(path)})
    monkeypatch.setattr("skrules.engine.digests.digest_of", lambda _place: pytest.fail("read again"))
    assert digests.digest("a") == digest_of(str(path))


@pytest.mark.parametrize("place", ["missing", ".", "a/below", "nul\0", "x" * 300])
def test_what_is_no_file_has_no_digest(tmp_path, place):
    (tmp_path / "a").write_text("")
    assert FileDigests(tmp_path).digest(place) == ""
    assert FileDigests(tmp_path).look(place) is None


def test_an_absolute_path_is_its_own(tmp_path):
    (tmp_path / "a").write_text("x")
    assert FileDigests(tmp_path / "elsewhere").digest(str(tmp_path / "a")) == digest_of(str(tmp_path / "a"))


def test_other_content_of_the_same_size_and_time_is_seen(tmp_path):
    path = tmp_path / "a"
    path.write_text("one")
    os.utime(path, ns=(TIME, TIME))
    known = settled(path)
    assert is_unchanged(known, str(path))
    time.sleep(0.02)  # the clock of the file system goes on
    path.write_text("two")
    os.utime(path, ns=(TIME, TIME))
    assert path.stat().st_mtime_ns == known.mtime_ns
    assert not is_unchanged(known, str(path))
    assert FileDigests(tmp_path, {"a": known}).digest("a") == digest_of(str(path)) != known.digest


def test_a_replaced_file_is_another(tmp_path):
    path = tmp_path / "a"
    path.write_text("one")
    known = settled(path)
    (tmp_path / "b").write_text("two")
    (tmp_path / "b").rename(path)
    assert not is_unchanged(known, str(path))


@pytest.mark.parametrize(
    ("mtime", "ctime", "looked_at", "racy"),
    [
        (TIME, TIME, TIME + 1, True),  # within a tick
        (TIME, TIME, TIME + SECOND, False),
        (TIME - SECOND * 99, TIME, TIME + 1, True),  # an old time that was just set
        (TIME + SECOND * 99, TIME, TIME + SECOND, False),  # a time to come, set long ago
        (TIME, TIME + SECOND * 99, TIME + SECOND, True),  # a clock that is ahead of ours
        (TIME // SECOND * SECOND, TIME // SECOND * SECOND, TIME + SECOND, True),  # a file system that counts in seconds
    ],
)
def test_racy(mtime, ctime, looked_at, racy):
    assert is_racy(mtime, ctime, looked_at) is racy
    assert Known(mtime, ctime, 1, 1, "", looked_at).is_racy() is racy


def test_a_racy_file_is_read_whatever_stat_says(tmp_path):
    path = tmp_path / "a"
    path.write_text("one")
    known = settled(path)._replace(digest="of something else")
    assert is_unchanged(known, str(path))  # it is believed
    assert not is_unchanged(known._replace(looked_at=known.ctime_ns), str(path))
    assert FileDigests(tmp_path, {"a": known._replace(looked_at=known.ctime_ns)}).digest("a") == digest_of(str(path))


def test_settle_leaves_nothing_racy(tmp_path):
    (tmp_path / "a").write_text("one")
    digests = FileDigests(tmp_path)
    digests.digest("a")
    digests.settle()
    assert not digests.known()["a"].is_racy()


def test_untouched(tmp_path):
    path = tmp_path / "a"
    path.write_text("one")
    digests = FileDigests(tmp_path)
    known = digests.look("a")
    assert digests.is_untouched("a", known)
    time.sleep(0.02)
    path.write_text("one")  # the same content: but who knows what it was in between
    assert not digests.is_untouched("a", known)
    path.unlink()
    assert not digests.is_untouched("a", known)
    assert not digests.is_untouched("a", None)


def test_threads_may_ask_at_once(tmp_path):
    for number in range(50):
        (tmp_path / str(number)).write_text(str(number))
    digests = FileDigests(tmp_path)
    found: list[dict[str, str]] = []
    names = [str(number) for number in range(50)]
    threads = [threading.Thread(target=lambda: found.append(digests.digests(names))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [found[0]] * 4
    assert len(set(found[0].values())) == 50


def test_a_pipe_is_no_file_and_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert FileDigests(tmp_path).digest("pipe") == ""
