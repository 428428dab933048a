"""Reads a safe subset of YAML: one document, no anchors, aliases, merge keys or tags, types by the YAML 1.2 core schema."""

from __future__ import annotations

import re
from typing import Any

import yaml

from skrules.contract.tree import Builder, Node, Scalar, Text, read_number

_MAX_BASED = 64  # characters
_NULL = re.compile(r"(?:~|null|Null|NULL|)\Z")
_TRUE = re.compile(r"(?:true|True|TRUE)\Z")
_FALSE = re.compile(r"(?:false|False|FALSE)\Z")
_BASED = re.compile(r"0(?:x[0-9a-fA-F]+|o[0-7]+)\Z")
_SPECIAL = re.compile(r"(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))\Z")
# Not `010`: YAML 1.1 and 1.2 disagree on it, so it stays text.
_NUMBER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)\Z|[-+]?(?:\.[0-9]+|[0-9]+\.[0-9]*|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?\Z")


def read_yaml(text: Text) -> Node:
    """Return the one document of a YAML file; nothing at all is null. Raises UsageError with the place."""
    # libyaml where PyYAML has it: same events, ten times faster.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    builder = Builder(text)
    documents = 0
    try:
        for event in yaml.parse(text.text, Loader=loader):
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    text.fail("a second document in one file", _offset(event.start_mark))
            elif isinstance(event, yaml.NodeEvent):
                _yaml_node(text, builder, event)
            elif isinstance(event, yaml.CollectionEndEvent):
                builder.close()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = ", ".join(part for part in (error.context, error.problem) if part)
        tab = text.text[_offset(mark) : _offset(mark) + 1] == "\t"
        text.fail(f"not YAML: {what}", _offset(mark), hint="YAML is indented with blanks, not with tabs" if tab else "")
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        text.fail(f"not YAML: {error}", 0)
    return builder.root or Node(at=text.at(0), value=None)


def _offset(mark: Any) -> int:
    return int(mark.index) if mark is not None else 0


def _yaml_node(text: Text, builder: Builder, event: yaml.NodeEvent) -> None:
    offset = _offset(event.start_mark)
    if event.anchor is not None:
        text.fail("anchors and aliases are not allowed", offset, hint="write the value out")
    if isinstance(event, yaml.ScalarEvent | yaml.CollectionStartEvent) and event.tag is not None:
        text.fail(f"the tag {event.tag} is not allowed", offset)
    if isinstance(event, yaml.ScalarEvent):
        plain = event.style is None or event.style == ""
        builder.scalar(_resolve(text, event.value, offset) if plain else event.value, offset)
    else:
        builder.open(offset, is_map=isinstance(event, yaml.MappingStartEvent))


def _resolve(text: Text, word: str, offset: int) -> Scalar:
    """Give a plain scalar its type by the YAML 1.2 core schema; `010` stays text since 1.1 and 1.2 disagree on it."""
    if _NULL.match(word):
        return None
    if _TRUE.match(word):
        return True
    if _FALSE.match(word):
        return False
    if _SPECIAL.match(word):
        return float(word.replace(".", "", 1))
    if _BASED.match(word) and len(word) < _MAX_BASED:
        return int(word, 0)
    return read_number(text, word, offset) if _NUMBER.match(word) else word
