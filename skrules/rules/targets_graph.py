"""The declarations of a workspace as a graph for queries: targets, and the files they are made of.

What a node needs:

- a target needs the targets of its `deps` or `ops` and the files that its other attributes name;
- a file with C++ needs the files beside it that it includes with quotes, read from the file as it is now;
- an operator needs what its own -I and -iquote let its sources include, and what the steps of its last build were seen to
  read, as far as nothing above says so: a compiler knows more ways to a header, and a contract names files too.

Files are read when it is asked what they need, so that a question to few targets reads few.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from skrules.engine.query import Node
from skrules.errors import UsageError, did_you_mean
from skrules.label import Pattern, parse_pattern
from skrules.rules.declaration import RULES, Target, reference_of
from skrules.rules.workspace import Workspace, operators_of

FILE = "source file"
_ATTRIBUTES = {rule.name: rule.attributes for rule in RULES}
# Files of an operator that hold no C++.
_DATA = (".json", ".md", ".npy", ".py", ".txt", ".yaml", ".yml")


class TargetsGraph:
    """`below` is the folder, relative to the workspace, that words without `//` are relative to.

    `journals` are the journals of builds, whose steps tell what they read. A word of a query is a label, a pattern of
    labels, or a file of the workspace whether it is declared or not.
    """

    def __init__(self, workspace: Workspace, *, below: str = "", journals: Sequence[Path] = ()) -> None:
        self.workspace = workspace
        self.below = below
        self._root = f"{workspace.root}/"
        self._targets = {str(label): target for label, target in workspace.targets.items()}
        self._needs: dict[str, tuple[str, ...]] = {}
        self._journals = {folder: frozenset(file.name for file in folder.iterdir()) for folder in journals if folder.is_dir()}

    def find(self, word: str) -> tuple[str, ...]:
        body = self._from_root(word)
        pattern = _pattern(body)
        if pattern is not None:
            found = [str(label) for label in sorted(self.workspace.targets) if pattern.matches(label)]
            if found:
                return tuple(found)
        path = posixpath.normpath(body.removeprefix("//").replace(":", "/"))
        if body and self._is_file(path):
            return (path,)
        files = (file for target in self._targets.values() for file in self._files_of(target))
        known = [*self._targets, *dict.fromkeys(files)]
        # A label is meant by most words, and `//` is what they leave out or write too much.
        hint = did_you_mean(f"//{path}", known) or did_you_mean(path, known)
        raise UsageError(f"'{word}' is no target and no file of the workspace", hint=hint or "//... is every target")

    def node(self, name: str) -> Node:
        target = self._targets.get(name)
        if target is None:
            return Node(name=name, kind=FILE)
        return Node(
            name=name,
            kind=f"{target.rule} rule",
            attributes={each.name: _value(target, each.name, each.kind) for each in _ATTRIBUTES[target.rule]},
            at=str(target.at),
            is_test=bool(target.file("cases")),
        )

    def needs(self, name: str) -> tuple[str, ...]:
        if name not in self._needs:
            target = self._targets.get(name)
            found = self._needs_of_target(target) if target else self._includes(name)
            self._needs[name] = tuple(dict.fromkeys(each for each in found if each != name))
        return self._needs[name]

    def attribute_names(self) -> Iterable[str]:
        return {attribute.name for rule in RULES for attribute in rule.attributes}

    def _from_root(self, word: str) -> str:
        if word.startswith("//"):
            return word
        if word.startswith(self._root):
            return word.removeprefix(self._root)
        if not self.below:
            return word
        if word.startswith(":"):
            return f"{self.below}{word}"
        path, colon, name = word.partition(":")
        return f"{posixpath.normpath(posixpath.join(self.below, path))}{colon}{name}"

    def _is_file(self, path: str) -> bool:
        return not path.startswith(("/", "..")) and os.path.isfile(self._root + path)  # noqa: PTH113 - asked for every include

    def _files_of(self, target: Target) -> Iterator[str]:
        for attribute in _ATTRIBUTES[target.rule]:
            if attribute.kind == "files":
                yield from target.strings(attribute.name)
            elif attribute.kind == "file" and target.file(attribute.name):
                yield target.file(attribute.name)
        reference = reference_of(target, self.workspace.root)
        if reference:
            yield reference

    def _needs_of_target(self, target: Target) -> Iterator[str]:
        operators = operators_of(target, self.workspace.targets)
        declared = [*(str(operator.label) for operator in operators), *map(str, target.labels("deps")), *self._files_of(target)]
        yield from declared
        more = [*self._through_options(target), *self._read_by_builds(str(target.label))]
        if more:
            known = self._reached(declared)
            yield from (path for path in dict.fromkeys(more) if path not in known)

    def _reached(self, names: Iterable[str]) -> set[str]:
        found = set(names)
        waiting = list(found)
        while waiting:
            for needed in self.needs(waiting.pop()):
                if needed not in found:
                    found.add(needed)
                    waiting.append(needed)
        return found

    def _includes(self, path: str) -> Iterator[str]:
        if path.endswith(_DATA):
            return
        # What reads AscendC costs more to import than a query that reads none.
        from skrules.source.includes import includes_in

        try:
            with open(self._root + path, "rb") as file:  # noqa: PTH123 - a thousand of them
                text = file.read().decode("latin-1")
        except OSError:
            return
        folder = posixpath.dirname(path)
        for include in includes_in(text):
            other = posixpath.normpath(posixpath.join(folder, include.name))
            if not include.is_angled and self._is_file(other):
                yield other

    def _through_options(self, target: Target) -> Iterator[str]:
        options = [*target.strings("options")]
        if not any(word.startswith(("-I", "-i", "--include")) for word in options):
            return
        from skrules.source.includes import local_headers
        from skrules.toolchain.command_line import angled_folders, include_folders

        root = self.workspace.root
        folders = [root / folder for folder in include_folders(options)]
        angled = [root / folder for folder in angled_folders(options)]
        for source in target.strings("srcs"):
            for header in local_headers(str(root / source), folders, angled=angled):
                if header.startswith(self._root):
                    yield header.removeprefix(self._root)

    def _read_by_builds(self, label: str) -> Iterator[str]:
        for folder, names in self._journals.items():
            from skrules.engine.journal import journal_name, read_found

            if journal_name(label) in names:
                yield from (path for path in sorted(read_found(folder, label)) if self._is_file(path))


def journals_of(root: Path, build: str) -> tuple[Path, ...]:
    """Return the journals of all toolchains below the folder `build` of a workspace."""
    return tuple(sorted((root / build).glob("*/.skrules/journal")))


def _pattern(word: str) -> Pattern | None:
    try:
        return parse_pattern(word)
    except UsageError:
        return None


def _value(target: Target, name: str, kind: str) -> str | tuple[str, ...]:
    if kind in ("name", "string", "file"):
        return target.string(name)
    return tuple(map(str, target.labels(name))) if kind == "labels" else target.strings(name)
