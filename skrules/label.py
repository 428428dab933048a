"""Labels name operators: `//ops/add_custom`, short for `//ops/add_custom:add_custom`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from skrules.errors import UsageError

_SEGMENT = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*\Z")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Label:
    """`package` is the folder with the SConscript, relative to the workspace, with `/`; `name` a C identifier."""

    package: str
    name: str

    def __str__(self) -> str:
        return f"//{self.package}" if self._is_short else f"//{self.package}:{self.name}"

    @property
    def path(self) -> str:
        """A folder name for what belongs to this target alone, e.g. `ops/add_custom`."""
        return self.package if self._is_short else f"{self.package}/{self.name}"

    @property
    def _is_short(self) -> bool:
        return self.package.rpartition("/")[2] == self.name


def is_name(text: str) -> bool:
    """Tell whether `text` may name an operator: it becomes part of a Python module and of C symbols."""
    return bool(_NAME.match(text))


def is_package(folder: str) -> bool:
    """Tell whether a label can name the folder, relative to the workspace; "" and "." are the workspace itself."""
    return folder in ("", ".") or all(_SEGMENT.match(segment) for segment in folder.split("/"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """What people type for one or many labels: `ops/add`, `//ops/add:x`, `//ops/...`, `ops/...`."""

    package: str
    name: str = ""
    recursive: bool = False

    def matches(self, label: Label) -> bool:
        if self.recursive:
            return not self.package or label.package == self.package or label.package.startswith(self.package + "/")
        if label.package != self.package:
            return False
        return not self.name or label.name == self.name


def parse_pattern(text: str) -> Pattern:
    """Read a label or pattern relative to the workspace root.

    Raises UsageError when the text can name nothing: an absolute path, `..`, an empty segment.
    """
    body = text.replace("\\", "/").removeprefix("//").removeprefix("./")
    package, colon, name = body.partition(":")
    package = package.rstrip("/")
    recursive = package == "..." or package.endswith("/...")
    if recursive:
        package = package.removesuffix("...").rstrip("/")
    segments = package.split("/") if package else []
    bad = [segment for segment in segments if not _SEGMENT.match(segment)]
    if bad or (not segments and not recursive) or (colon and not (_NAME.match(name) or name == "all")) or (recursive and colon):
        raise UsageError(f"'{text}' is not a label", hint="labels look like ops/add_custom, //ops/add_custom:name or //ops/...")
    return Pattern(package=package, name="" if name == "all" else name, recursive=recursive)
