"""The log of events: a JSON object a line, whole lines only."""

from __future__ import annotations

import json
import threading

from skrules.engine.events import EventLog


def test_without_a_file_nothing_happens():
    log = EventLog()
    log.write("start")
    log.close()


def test_lines_are_whole_and_readable_while_it_is_written(tmp_path):
    log = EventLog(tmp_path / "log")
    threads = [
        threading.Thread(target=lambda: [log.write("step", label="//ops/a", text="é\n" * 50) for _ in range(50)])
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    events = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert len(events) == 200
    assert {event["event"] for event in events} == {"step"}
    assert all(event["time"] > 1_600_000_000 for event in events)
    log.close()
    log.write("late")
    assert len((tmp_path / "log").read_text().splitlines()) == 200
