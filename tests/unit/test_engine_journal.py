"""The memory of a build: what a run finds in it, however the one before ended."""

from __future__ import annotations

import errno
import json
import os
import random
import threading

import pytest

from skrules.engine.journal import Journal, Step, journal_name, read_found

LABEL = "//ops/a"
STEP = Step(key={"flags": "-g"}, inputs={"a.asc": "1"}, found={"a.h": "2"}, outputs={"a.o": "3"}, because=("new",), seconds=0.5)


def place(folder):
    return folder / journal_name(LABEL)


def test_what_was_written_is_read(tmp_path):
    journal = Journal(tmp_path)
    journal.begin(LABEL, "a.o")
    assert journal.step(LABEL, "a.o") is None
    journal.end(LABEL, "a.o", STEP)
    for each in (journal, Journal(tmp_path)):
        assert each.step(LABEL, "a.o") == STEP
        assert each.step(LABEL, "b.o") is None
        assert each.step("//ops/b", "a.o") is None


def test_a_beginning_without_an_end_is_not_believed(tmp_path):
    journal = Journal(tmp_path)
    journal.end(LABEL, "a.o", STEP)
    journal.begin(LABEL, "a.o")
    for each in (journal, Journal(tmp_path)):
        assert each.step(LABEL, "a.o") is None
        assert each.last(LABEL, "a.o") == STEP


def test_begin_tells_the_time_of_the_file_system(tmp_path):
    now = Journal(tmp_path).begin(LABEL, "a.o")
    assert now == place(tmp_path).stat().st_mtime_ns


def test_half_a_line_is_passed_over_and_nothing_is_appended_to_it(tmp_path):
    Journal(tmp_path).end(LABEL, "a.o", STEP)
    whole = place(tmp_path).read_bytes()
    for length in range(1, len(whole)):
        place(tmp_path).write_bytes(whole + whole[:length])
        journal = Journal(tmp_path)
        # A whole object without the end of its line cannot be told from one that is complete; both are.
        assert journal.step(LABEL, "a.o") == STEP
        journal.end(LABEL, "b.o", STEP)
        assert Journal(tmp_path).step(LABEL, "b.o") == STEP


def test_half_a_beginning_leaves_the_step_before(tmp_path):
    Journal(tmp_path).end(LABEL, "a.o", STEP)
    whole = place(tmp_path).read_bytes()
    place(tmp_path).write_bytes(whole + b'{"begin":"a.')
    assert Journal(tmp_path).step(LABEL, "a.o") == STEP


def test_those_who_ask_write_nothing(tmp_path):
    Journal(tmp_path).end(LABEL, "a.o", STEP)
    text = place(tmp_path).read_bytes() * 50 + b'{"begin":'
    place(tmp_path).write_bytes(text)
    journal = Journal(tmp_path)
    assert journal.step(LABEL, "a.o") == STEP
    assert place(tmp_path).read_bytes() == text
    journal.begin(LABEL, "a.o")
    assert place(tmp_path).read_bytes().count(b"\n") == 2


def test_a_full_disk_leaves_no_line_behind_half_a_line(tmp_path, monkeypatch):
    journal = Journal(tmp_path)
    journal.end(LABEL, "a.o", STEP)
    real = os.write
    monkeypatch.setattr(os, "write", lambda file, data: real(file, data[:5]))
    with pytest.raises(OSError, match="No space left") as caught:
        journal.begin(LABEL, "a.o")
    assert caught.value.errno == errno.ENOSPC
    monkeypatch.undo()
    journal.begin(LABEL, "a.o")
    assert Journal(tmp_path).step(LABEL, "a.o") is None
    assert all(json.loads(line) for line in place(tmp_path).read_text().splitlines())


@pytest.mark.parametrize(
    "line",
    [
        b"\xff\xfe\x00",
        b"[]",
        b"3",
        b'"begin"',
        b"null",
        b"{}",
        b'{"end":"a.o"}',
        b'{"end":"a.o","key":{},"inputs":[],"outputs":{}}',
        b'{"end":"a.o","key":{},"inputs":{"x":1},"outputs":{}}',
        b'{"end":"a.o","key":{},"inputs":{},"outputs":{},"memory":"much"}',
        b'{"end":"a.o","key":{},"inputs":{},"outputs":{},"memory":-1}',
        b'{"end":"a.o","key":{},"inputs":{},"outputs":{},"seconds":"long"}',
        b'{"end":"a.o","key":{},"inputs":{},"outputs":{},"because":[1]}',
        b'{"end":"a.o","key":{},"inputs":{},"outputs":{},"later":1}',
        b"[" * 100_000,
    ],
    ids=range(15),
)
def test_damaged_lines_are_passed_over(tmp_path, line):
    place(tmp_path).write_bytes(line + b"\n")
    assert Journal(tmp_path).step(LABEL, "a.o") is None
    assert Journal(tmp_path).last(LABEL, "a.o") is None


@pytest.mark.parametrize("seed", range(200))
def test_any_damage_makes_a_step_unknown_or_leaves_it_as_it_was(tmp_path, seed):
    """Or names other contents than the files have, and then the step runs: what is never made up is a good record."""
    choice = random.Random(seed)
    journal = Journal(tmp_path)
    for number in range(3):
        journal.begin(LABEL, f"{number}.o")
        journal.end(LABEL, f"{number}.o", STEP)
    data = bytearray(place(tmp_path).read_bytes())
    for _ in range(choice.randint(1, 20)):
        data[choice.randrange(len(data))] = choice.randrange(256)
    start = choice.randrange(len(data))
    del data[start : start + choice.choice((0, 0, 1, 100))]
    place(tmp_path).write_bytes(bytes(data))
    damaged = Journal(tmp_path)
    for number in range(3):
        damaged.step(LABEL, f"{number}.o")
    damaged.begin(LABEL, "0.o")
    damaged.end(LABEL, "0.o", STEP)
    assert Journal(tmp_path).step(LABEL, "0.o") == STEP
    read_found(tmp_path, LABEL)


def test_labels_are_names_of_files(tmp_path):
    journal = Journal(tmp_path)
    labels = ("//ops/a", "//ops/a:b", "//ops:a", "//a%2Fb", "//häuser/..", "//.")
    for label in labels:
        journal.end(label, "o", STEP)
    assert len(list(tmp_path.iterdir())) == len(labels)
    assert all(Journal(tmp_path).step(label, "o") == STEP for label in labels)


def test_threads_may_write_at_once(tmp_path):
    journal = Journal(tmp_path)

    def write(number):
        for step in range(20):
            journal.begin(LABEL, f"{number}-{step}")
            journal.end(LABEL, f"{number}-{step}", STEP)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    again = Journal(tmp_path)
    assert all(again.step(LABEL, f"{number}-{step}") == STEP for number in range(4) for step in range(20))


def test_the_name_of_the_longest_label_is_no_longer_than_file_systems_take():
    long = "//ops/" + "a/" * 200
    names = {journal_name(f"{long}{end}") for end in ("x", "y")}
    assert len(names) == 2
    assert all(len(name) < 220 for name in names)
    assert journal_name("//ops/\udcff") == "ops%2F%FF.jsonl"
