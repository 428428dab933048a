"""What is printed at the end of a build."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from skrules.engine.action import Action
from skrules.engine.runner import Done
from skrules.scons.steps import Failed
from skrules.scons.summary import findings_lines, summarise

ASC = Action(mnemonic="ASC", label="//ops/a", arch="dav-2201", inputs=(), outputs=("a.o",), run=lambda _root: None)
ADAPT = Action(mnemonic="ADAPT", label="//ops/b", inputs=(), outputs=("b.asc",), run=lambda _root: None)


@dataclass
class Steps:
    executed: int = 0
    cached: int = 0
    done: list[Any] = field(default_factory=list)
    failed: list[Failed] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)

    def skipped_labels(self) -> list[str]:
        return self.skipped


def lines(steps, *, compared=False):
    return summarise(steps, [], compared=compared, seconds=1.26)


DONE = (ASC, Done(source="run", seconds=1.0, found=()))


def test_nothing_to_do():
    assert lines(Steps()) == ["nothing to do"]


def test_counts():
    assert lines(Steps(executed=1, done=[DONE])) == ["1 step done in 1.3 s"]
    assert lines(Steps(executed=2, cached=3, done=[DONE])) == ["2 steps done, 3 from the cache in 1.3 s"]
    assert lines(Steps(cached=3, done=[DONE])) == ["3 from the cache in 1.3 s"]


def test_that_nothing_was_found_is_said(tmp_path):
    for name, allowed, known in (("a.json", 0, 0), ("b.json", 1, 5)):
        (tmp_path / name).write_text(json.dumps({"findings": [], "metadata": {"allowed": allowed, "known": known}}))
    assert findings_lines(tmp_path, ["a.json"]) == ["no findings"]
    assert findings_lines(tmp_path, ["a.json", "b.json"]) == ["no findings", "not told: 1 allowed by comments, 5 in the baseline"]
    assert findings_lines(tmp_path, ["a.json", "b.json"], silent=True) == []
    assert findings_lines(tmp_path, []) == []


def test_every_failure_with_its_first_error_and_everything_that_was_not_come_to():
    failed = [Failed(action=ASC, message="a.asc:3:5: error: no"), Failed(action=ADAPT, message="error: b.yaml:1:1: what")]
    assert lines(Steps(failed=failed, skipped=["//ops/c", "//ops/d"])) == [
        "0 steps done in 1.3 s",
        "failed: 2 steps",
        "  //ops/a dav-2201 (ASC)  a.asc:3:5: error: no",
        "  //ops/b (ADAPT)  error: b.yaml:1:1: what",
        "not built: //ops/c, //ops/d",
    ]
