"""What each step was last made from: the memory of a build, written as it goes.

One file a label, a JSON object a line. A line that says a step begins is written before the step touches its outputs, a
line that says what it was made from after it ended well. A run that is killed leaves a beginning without an end, and its
outputs are then not believed, whatever they look like. Only the last line can be incomplete: it is passed over.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from skrules.engine.files import write_atomically

# A journal with many more lines than steps is written anew when a line is next added.
_LINES_PER_STEP = 8
# Of a file system's 255 bytes: what is written beside it, and then takes its place, has a longer one.
_LONGEST_NAME = 180
_END, _FOUND = '{"end":"', '"found":{'
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What the outputs of an Action were made from. All mappings of files are path -> content digest.

    `key` has the components of the Action's key, its command and its environment. `found` are the files of the workspace that the
    step was seen to read beside its declared inputs, such as headers. `because` says what was different from the time
    before, in the words of `skrules why`; `source` is "run" or "cache"; `seconds` and `memory` (peak of one process, bytes)
    are those of the last time it really ran.
    """

    key: Mapping[str, str]
    inputs: Mapping[str, str]
    found: Mapping[str, str] = field(default_factory=dict)
    outputs: Mapping[str, str]
    because: tuple[str, ...] = ()
    source: str = "run"
    seconds: float = 0.0
    memory: int = 0


class Journal:
    """The steps of one build folder, by label and first output. Files are read when a label is first asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._labels: dict[str, dict[str, Step]] = {}
        self._begun: dict[str, set[str]] = {}
        self._untidy: set[str] = set()
        self._lock = threading.Lock()

    def step(self, label: str, output: str) -> Step | None:
        """Return what the step of `output` was last made from; None: never, or it began again and did not end."""
        with self._lock:
            steps = self._read(label)
            return None if output in self._begun[label] else steps.get(output)

    def last(self, label: str, output: str) -> Step | None:
        """Return the last step that ended well, even if another began after it."""
        with self._lock:
            return self._read(label).get(output)

    def begin(self, label: str, output: str) -> int:
        """Note that the step of `output` is about to touch its outputs; return the time by the file system's clock, in ns.

        Raises OSError when that cannot be written.
        """
        with self._lock:
            self._read(label)
            now = self._append(label, {"begin": output})
            self._begun[label].add(output)
            return now

    def end(self, label: str, output: str, step: Step) -> None:
        """Note what the outputs were made from. Raises OSError when that cannot be written."""
        with self._lock:
            self._read(label)
            self._append(label, {"end": output, **asdict(step)})
            self._begun[label].discard(output)
            self._labels[label][output] = step

    def _place(self, label: str) -> Path:
        return self.folder / journal_name(label)

    def _append(self, label: str, record: Mapping[str, Any]) -> int:
        self.folder.mkdir(parents=True, exist_ok=True)
        if label in self._untidy:
            self._rewrite(label)
            self._untidy.discard(label)
        line = json.dumps(record, separators=(",", ":")).encode() + b"\n"
        file = os.open(self._place(label), os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
        try:
            written = os.write(file, line)
            if written != len(line):  # a full disk takes a part
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self._place(label)))
            return os.fstat(file).st_mtime_ns
        except OSError:
            self._untidy.add(label)  # a part of a line may be there: nothing may be appended to it
            raise
        finally:
            os.close(file)

    def _read(self, label: str) -> dict[str, Step]:
        if label in self._labels:
            return self._labels[label]
        steps: dict[str, Step] = {}
        begun: set[str] = set()
        try:
            lines = self._place(label).read_bytes().split(b"\n")
        except OSError:
            lines = []
        for line in lines:
            _take(line, steps, begun)
        self._labels[label] = steps
        self._begun[label] = begun
        # The last piece is empty, or the part of a line that a killed run got to write: nothing may be appended to it.
        if lines and (lines[-1] or len(lines) > _LINES_PER_STEP * (len(steps) + 1)):
            self._untidy.add(label)  # written anew by the first who writes: those who only ask write nothing
        return steps

    def _rewrite(self, label: str) -> None:
        records = [{"end": output, **asdict(step)} for output, step in self._labels[label].items()]
        records += [{"begin": output} for output in sorted(self._begun[label])]
        text = "".join(json.dumps(record, separators=(",", ":")) + "\n" for record in records)
        write_atomically(self._place(label), text.encode())


def journal_name(label: str) -> str:
    """Return the name of the file with the steps of a label: its own, as far as a name may be that long."""
    name = quote(label.removeprefix("//"), safe="", errors="surrogateescape")
    if len(name) > _LONGEST_NAME:
        name = f"{name[:_LONGEST_NAME]}-{hashlib.sha256(name.encode()).hexdigest()[:16]}"
    return f"{name}.jsonl"


def read_found(folder: Path, label: str) -> set[str]:
    """Return the files that the last good steps of a label were seen to read beside their inputs. Writes nothing.

    For those who ask about all labels at once: of each line only what they need is decoded.
    """
    try:
        lines = (folder / journal_name(label)).read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return set()
    found: dict[str, dict[str, str]] = {}
    for line in lines[:-1]:
        # As `_append` writes it. Within a string each quote has a backslash before it, so this is the field and nothing else.
        start = line.find(_FOUND)
        if start > 0 and line.startswith(_END):
            try:
                output, _ = _DECODER.raw_decode(line, len(_END) - 1)
                found[output], _ = _DECODER.raw_decode(line, start + len(_FOUND) - 1)
            except ValueError:
                continue  # damaged
    return {path for files in found.values() for path in files}


def _take(line: bytes, steps: dict[str, Step], begun: set[str]) -> None:
    try:
        record = json.loads(line)
        if "begin" in record:
            begun.add(str(record["begin"]))
            return
        output = str(record.pop("end"))
        record["because"] = tuple(record.get("because", ()))
        step = Step(**record)
        if not all(_is_mapping(part) for part in (step.key, step.inputs, step.found, step.outputs)):
            raise TypeError
        if not all(isinstance(part, str) for part in (step.source, *step.because)):
            raise TypeError
        if not isinstance(step.seconds, int | float) or type(step.memory) is not int or step.memory < 0:
            raise TypeError
        steps[output] = step
        begun.discard(output)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return  # half a line, or one of another version: what it spoke of is made again


def _is_mapping(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(part, str) for part in value.values())
