"""What the corpus expects of a file, and what was found in it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedKernel:
    """`parameters` are (type, name, array, default) with all blanks taken out; `macro` is "" outside of macros."""

    name: str
    line: int
    macro: str
    conditional: bool
    qualifiers: frozenset[str]
    parameters: tuple[tuple[str, str, str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedFile:
    name: str  # "owner+name/path", for people
    features: tuple[str, ...]
    kernels: tuple[ExpectedKernel, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What one file came to. `status` is adapt's; `problems` are (class, detail) of what is wrong with the product, "" a class
    never is; `rules` the blocking rules. `accepted` says the same of the run whose contract accepts helper block numbers."""

    name: str
    size: int
    kernels_read: bool
    difference: str
    status: str
    rules: tuple[str, ...]
    accepted_status: str
    accepted_rules: tuple[str, ...]
    problems: tuple[tuple[str, str], ...] = ()
    unjudged: tuple[str, ...] = ()  # messages of a compiler that could not make sense of the original either
    compiled: bool = False
    seconds: dict[str, float] = field(default_factory=dict)


def squeeze(text: str) -> str:
    """Return a text without blanks: layouts differ, tokens do not."""
    return "".join(text.split())


def load_expected(path: Path) -> dict[str, ExpectedFile]:
    """Return the expectations by the sha256 of their files. A file that two repositories share counts once."""
    found: dict[str, ExpectedFile] = {}
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            found.setdefault(record["sha256"], _file(record))
    return found


def _file(record: dict[str, Any]) -> ExpectedFile:
    kernels = tuple(
        ExpectedKernel(
            name=kernel["name"],
            line=kernel["line"],
            macro=kernel["macro"] or "",
            conditional=kernel["conditional"],
            qualifiers=frozenset(squeeze(text) for text in kernel["qualifiers"]),
            parameters=tuple(_parameter(each) for each in kernel["params"]),
        )
        for kernel in record["kernels"]
    )
    return ExpectedFile(name=f"{record['repo']}/{record['path']}", features=tuple(record["features"]), kernels=kernels)


def _parameter(listed: list[Any]) -> tuple[str, str, str, str]:
    array = next((text for text in listed[2:] if isinstance(text, str)), "")
    default = next((each["default"] for each in listed[2:] if isinstance(each, dict)), "")
    return squeeze(listed[0]), listed[1], squeeze(array), squeeze(default)


def find_files(folder: Path, expected: dict[str, ExpectedFile]) -> Iterator[tuple[Path, ExpectedFile]]:
    """Return the files below `folder` that the corpus knows, each content once: another version of a file is no file of it."""
    seen: set[str] = set()
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() or not path.is_file():
            continue
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        if digest in expected and digest not in seen:
            seen.add(digest)
            yield path, expected[digest]
