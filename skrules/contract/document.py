"""YAML and JSON as a tree that knows where everything stands.

One reader for every file people write by hand (contract, cases). The YAML is a safe subset: no anchors, aliases, merge
keys or tags, one document, keys once and as text; plain scalars follow the YAML 1.2 core schema, so `y`, `no` and `010`
are texts. JSON is RFC 8259, tabs included. Anything else is a `UsageError` that names line and column.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from skrules.contract.json_reader import read_json
from skrules.contract.tree import Node, Text
from skrules.contract.yaml_reader import read_yaml
from skrules.errors import Location, UsageError

_MAX_BYTES = 1 << 20
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]")


def read_document(path_text: str, data: bytes) -> Node:
    """Return the mapping at the top of a YAML or JSON file.

    `path_text` names the file in messages; a name ending in `.json` is JSON, other files that begin with `{` are JSON
    if they can be, else YAML. Raises UsageError with the place: not UTF-8, larger than 1 MiB, syntax, duplicate or
    non-text keys, anchors and tags, several documents, nesting deeper than 32, no mapping at the top.
    """
    text = _decode(path_text, data)
    root = _read(text)
    if not isinstance(root.value, Mapping):
        raise UsageError(f"the file must hold a mapping, not {root.type_name}", at=root.at)
    return root


def _decode(path: str, data: bytes) -> Text:
    if len(data) > _MAX_BYTES:
        raise UsageError(f"the file has {len(data)} bytes; more than {_MAX_BYTES} is not read", at=Location(file=path))
    try:
        text = Text(path, data.decode("utf-8").removeprefix("\ufeff"))
    except UnicodeDecodeError as error:
        before = Text(path, data[: error.start].decode("utf-8").removeprefix("\ufeff"))
        at = before.at(len(before.text))
        raise UsageError(f"byte 0x{data[error.start]:02x} is not UTF-8", at=at, hint="save the file as UTF-8") from None
    if match := _CONTROL.search(text.text):
        text.fail(f"control character U+{ord(match[0]):04X}", match.start())
    return text


def _read(text: Text) -> Node:
    if text.path.lower().endswith(".json"):
        return read_json(text)
    if not text.text.lstrip().startswith(("{", "[")):
        return read_yaml(text)
    try:
        return read_json(text)
    except UsageError as error:
        as_json = error
    try:
        return read_yaml(text)
    except UsageError as as_yaml:
        # The reading that got further is the one the author had in mind.
        further = max(as_json, as_yaml, key=lambda error: error.at or Location(file=""))
        raise further from None
