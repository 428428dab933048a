"""What the three documents have in common: reading them, and the fields at their top."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath

from skrules.contract.document import read_document
from skrules.contract.tree import Node
from skrules.errors import Location, UsageError
from skrules.findings import Finding, Severity
from skrules.validate.document import Document
from skrules.validate.rule import Rule
from skrules.validate.subject import Subject

_STATUSES = ("ready", "needs-human", "not-configured")
_VERSION = 1


class Reader:
    """Collects what is wrong with one document. All of it, not the first."""

    def __init__(self, rule: Rule, document: Document) -> None:
        self.rule = rule
        self.document = document
        self.findings: list[Finding] = []

    def tell(self, node: Node, message: str, hint: str = "") -> None:
        self.findings.append(self.rule.finding(node.at, message, hint))

    def field(self, node: Node, name: str) -> Node | None:
        return node.value.get(name) if isinstance(node.value, Mapping) else None

    def text(self, node: Node, name: str, what: str) -> str:
        """Return a text that must be there and not be empty, or ""."""
        found = self.field(node, name)
        if found is not None and isinstance(found.value, str) and found.value.strip():
            return found.value
        self.tell(node if found is None else found, f"{what} has no {name}")
        return ""

    def items(self, node: Node, name: str, what: str) -> tuple[Node, ...]:
        """Return the mappings of a list; no list at all is an empty one."""
        found = self.field(node, name)
        if found is None or found.value is None:
            return ()
        if not isinstance(found.value, tuple):
            self.tell(found, f"{name} must be a list, not {found.type_name}")
            return ()
        for item in found.value:
            if not isinstance(item.value, Mapping):
                self.tell(item, f"{what} must be an object, not {item.type_name}")
        return tuple(item for item in found.value if isinstance(item.value, Mapping))

    def choice(self, node: Node, name: str, what: str, allowed: tuple[str, ...]) -> str:
        found = self.field(node, name)
        if found is None or found.value not in allowed:
            said = "no" if found is None else f"the unknown {name} {found.value!r} and no"
            self.tell(node if found is None else found, f"{what} has {said} valid {name}", f"allowed: {', '.join(allowed)}")
            return ""
        return str(found.value)

    def root_folder(self, node: Node) -> Path | None:
        """Check the fields at the top; return the folder of the asset when it is there."""
        version = self.field(node, "schema_version")
        if version is None or version.value != _VERSION or isinstance(version.value, bool):
            self.tell(version or node, f"schema_version must be {_VERSION}")
        self.choice(node, "status", "the document", _STATUSES)
        written = self.text(node, "asset_root", "the document")
        if not written:
            return None
        folder = self.document.folder / written
        if not folder.exists():
            self.tell(self.field(node, "asset_root") or node, f"asset_root '{written}' does not exist")
            return None
        return folder

    def file(self, node: Node, root: Path | None, what: str) -> Path | None:
        """Check a path inside of the asset; return the file when it is there, or the asset is not known."""
        written = node.value
        if not isinstance(written, str) or not written.strip():
            self.tell(node, f"{what} is no path")
        elif PurePosixPath(written).is_absolute() or "\\" in written:
            self.tell(node, f"{what} '{written}' must be relative to the asset")
        elif ".." in PurePosixPath(written).parts:
            self.tell(node, f"{what} '{written}' must not leave the asset with '..'")
        elif root is not None and not os.path.isfile(root / written):  # noqa: PTH113 - a name that no file can have is no error
            self.tell(node, f"{what} '{written}' does not exist")
        else:
            return root / written if root is not None else None
        return None


def checked(
    rule: Callable[[], Rule], kind: str, look: Callable[[Reader, Node], None], *, missing: Severity = Severity.BLOCKER
) -> Callable[[Subject], Iterator[Finding]]:
    """Return the check of a rule on documents of one kind: `look` goes through one that could be read.

    `missing` is the severity of there being none.
    """

    def check(subject: Subject) -> Iterator[Finding]:
        for document in subject.documents:
            if document.kind != kind:
                continue
            if document.data is None:
                message = f"there is no file '{document.path}'" if document.path else f"no {kind} was named (--{kind})"
                yield replace(rule().finding(Location(file=document.path or kind), message), severity=missing)
                continue
            reader = Reader(rule(), document)
            try:
                root = read_document(document.path, document.data)
            except UsageError as error:
                yield rule().finding(error.at or Location(file=document.path), error.message, error.hint)
                continue
            look(reader, root)
            yield from reader.findings

    return check
