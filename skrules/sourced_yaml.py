"""Tables in YAML whose every fact names its public source: nodes rather than plain data, because they know their place."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import yaml

from skrules.errors import Location, ToolchainError, UsageError, did_you_mean


def compose_table(path: Path, what: str) -> yaml.Node:
    """Read a file into YAML nodes; `what` names it in messages. Raises UsageError with its place when it is no YAML or empty."""
    try:
        root = yaml.compose(path.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except OSError as error:
        raise ToolchainError(f"cannot read {what} {path}: {error.strerror}") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        at = Location(file=str(path), line=mark.line + 1, column=mark.column + 1) if mark else Location(file=str(path))
        raise UsageError(f"not YAML: {getattr(error, 'problem', error)}", at=at) from error
    if root is None:
        raise UsageError(f"{what} is empty", at=Location(file=str(path)))
    return root


class SourcedTable:
    """Reads the nodes of one file, strictly. `sources` are those that its facts may name, set by who reads the file."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.sources: dict[str, str] = {}

    def fail(self, node: yaml.Node, message: str, *, allowed: Iterable[str] = (), hint: str = "") -> UsageError:
        mark = node.start_mark
        return UsageError(
            message, at=Location(file=self.file, line=mark.line + 1, column=mark.column + 1), allowed=allowed, hint=hint
        )

    def mapping(self, node: yaml.Node, required: tuple[str, ...] = (), what: str = "mapping") -> dict[str, yaml.Node]:
        """Return the entries of `node`; with `required`, exactly these keys must be there."""
        if not isinstance(node, yaml.MappingNode):
            raise self.fail(node, f"{what}: a mapping is expected")
        entries: dict[str, yaml.Node] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise self.fail(key, f"{what}: a key must be a word")
            if key.value in entries:
                raise self.fail(key, f"{what}: duplicate key '{key.value}'")
            if required and key.value not in required:
                raise self.fail(
                    key, f"{what}: unknown key '{key.value}'", allowed=required, hint=did_you_mean(key.value, required)
                )
            entries[key.value] = value
        for name in required:
            if name not in entries:
                raise self.fail(
                    node, f"{what}: '{name}' is missing" + (": every fact names its source" if name == "source" else "")
                )
        return entries

    def text(self, node: yaml.Node) -> str:
        if not isinstance(node, yaml.ScalarNode) or not node.value:
            raise self.fail(node, "a word is expected")
        return str(node.value)

    def number(self, node: yaml.Node) -> int:
        if not isinstance(node, yaml.ScalarNode) or not re.fullmatch(r"[1-9][0-9]*", node.value):
            raise self.fail(node, "a positive whole number is expected")
        return int(node.value)

    def items(self, node: yaml.Node) -> list[yaml.Node]:
        if not isinstance(node, yaml.SequenceNode):
            raise self.fail(node, "a list is expected")
        return list(node.value)

    def source(self, node: yaml.Node) -> tuple[str, ...]:
        nodes = node.value if isinstance(node, yaml.SequenceNode) else [node]
        if not nodes:
            raise self.fail(node, "the list names no source")
        for item in nodes:
            if self.text(item) not in self.sources:
                known = tuple(self.sources)
                raise self.fail(item, f"unknown source '{item.value}'", allowed=known, hint=did_you_mean(item.value, known))
        return tuple(self.sources[item.value] for item in nodes)

    def fact(self, node: yaml.Node, what: str) -> tuple[yaml.Node, tuple[str, ...]]:
        entry = self.mapping(node, ("source", "value"), what)
        return entry["value"], self.source(entry["source"])

    def group(self, node: yaml.Node, what: str) -> tuple[dict[str, yaml.Node], tuple[str, ...]]:
        """Return the facts of a mapping whose `source` stands for all of them."""
        entry = self.mapping(node, what=what)
        if "source" not in entry:
            raise self.fail(node, f"{what}: 'source' is missing: every fact names its source")
        source = self.source(entry.pop("source"))
        return entry, source
