"""YAML and JSON as a tree that knows where everything stands.

One reader for every file people write by hand (contract, cases). The YAML is a safe subset: no anchors, aliases, merge
keys or tags, one document, keys once and as text; plain scalars follow the YAML 1.2 core schema, so `y`, `no` and `010`
are texts. JSON is RFC 8259, tabs included. Anything else is a `UsageError` that names line and column.
"""

from __future__ import annotations

import bisect
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NoReturn

import yaml

from skrules.errors import Location, UsageError

Scalar = None | bool | int | float | str

_MAX_BYTES = 1 << 20
_MAX_DEPTH = 32
_MAX_NUMBER = 64  # characters

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_LINE_END = re.compile("\r\n|\r|\n")
_NULL = re.compile(r"(?:~|null|Null|NULL|)\Z")
_TRUE = re.compile(r"(?:true|True|TRUE)\Z")
_FALSE = re.compile(r"(?:false|False|FALSE)\Z")
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)\Z")
_BASED = re.compile(r"0(?:x[0-9a-fA-F]+|o[0-7]+)\Z")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")
_SPECIAL = re.compile(r"(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A value and its place. `value` is a scalar, a tuple of nodes, or a mapping in file order; `keys` are the places
    of a mapping's keys."""

    at: Location
    value: Scalar | tuple[Node, ...] | Mapping[str, Node]
    keys: Mapping[str, Location] = field(default_factory=dict)

    @property
    def type_name(self) -> str:
        """What a person calls this value: "a list", "the text '8'", ..."""
        value = self.value
        if isinstance(value, Mapping):
            return "a mapping"
        if isinstance(value, tuple):
            return "a list"
        if value is None:
            return "nothing"
        if isinstance(value, bool):
            return "true" if value else "false"
        return f"the text {_shorten(value)!r}" if isinstance(value, str) else f"the number {_shorten(str(value))}"


def _shorten(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."


class _Text:
    """A decoded file that can say where an offset is."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text
        self._starts = [0, *(match.end() for match in _LINE_END.finditer(text))]

    def at(self, offset: int) -> Location:
        line = bisect.bisect_right(self._starts, offset)
        return Location(file=self.path, line=line, column=offset - self._starts[line - 1] + 1)

    def fail(self, message: str, offset: int, hint: str = "") -> NoReturn:
        raise UsageError(message, at=self.at(offset), hint=hint)


class _Frame:
    """A collection that is still open."""

    def __init__(self, offset: int, is_map: bool) -> None:
        self.offset = offset
        self.is_map = is_map
        self.items: list[Node] = []
        self.map: dict[str, Node] = {}
        self.keys: dict[str, Location] = {}
        self.key: str | None = None


class _Builder:
    """Builds the tree from "open", "scalar", "close" without recursion, so that depth is ours to limit."""

    def __init__(self, text: _Text) -> None:
        self._text = text
        self._open: list[_Frame] = []
        self.root: Node | None = None

    @property
    def wants_key(self) -> bool:
        return bool(self._open) and self._open[-1].is_map and self._open[-1].key is None

    def open(self, offset: int, *, is_map: bool) -> None:
        if self.wants_key:
            self._text.fail("a key must be text, not a collection", offset)
        if len(self._open) == _MAX_DEPTH:
            self._text.fail(f"nested deeper than {_MAX_DEPTH} levels", offset)
        self._open.append(_Frame(offset, is_map))

    def close(self) -> None:
        frame = self._open.pop()
        value = MappingProxyType(frame.map) if frame.is_map else tuple(frame.items)
        self._place(Node(at=self._text.at(frame.offset), value=value, keys=MappingProxyType(frame.keys)))

    def scalar(self, value: Scalar, offset: int) -> None:
        if isinstance(value, str) and _SURROGATE.search(value):
            self._text.fail("half of a surrogate pair is not text", offset)
        if self.wants_key:
            self._key(value, offset)
        else:
            self._place(Node(at=self._text.at(offset), value=value))

    def _key(self, value: Scalar, offset: int) -> None:
        frame = self._open[-1]
        if not isinstance(value, str):
            self._text.fail("a key must be text", offset, hint="put it in quotes")
        if value == "<<":
            self._text.fail("merge keys are not allowed", offset, hint="write the keys out")
        if value in frame.map:
            first = frame.keys[value]
            self._text.fail(f"key '{value}' appears twice, first in line {first.line}", offset)
        frame.key = value
        frame.keys[value] = self._text.at(offset)

    def _place(self, node: Node) -> None:
        if not self._open:
            self.root = node
            return
        frame = self._open[-1]
        if frame.is_map:
            assert frame.key is not None  # a key always precedes: `wants_key` is false here
            frame.map[frame.key] = node
            frame.key = None
        else:
            frame.items.append(node)


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


def _decode(path: str, data: bytes) -> _Text:
    if len(data) > _MAX_BYTES:
        raise UsageError(f"the file has {len(data)} bytes; more than {_MAX_BYTES} is not read", at=Location(file=path))
    try:
        text = _Text(path, data.decode("utf-8").removeprefix("\ufeff"))
    except UnicodeDecodeError as error:
        before = _Text(path, data[: error.start].decode("utf-8").removeprefix("\ufeff"))
        at = before.at(len(before.text))
        raise UsageError(f"byte 0x{data[error.start]:02x} is not UTF-8", at=at, hint="save the file as UTF-8") from None
    if match := _CONTROL.search(text.text):
        text.fail(f"control character U+{ord(match[0]):04X}", match.start())
    return text


def _read(text: _Text) -> Node:
    if text.path.lower().endswith(".json"):
        return _read_json(text)
    if not text.text.lstrip().startswith(("{", "[")):
        return _read_yaml(text)
    try:
        return _read_json(text)
    except UsageError as error:
        as_json = error
    try:
        return _read_yaml(text)
    except UsageError as as_yaml:
        # The reading that got further is the one the author had in mind.
        further = max(as_json, as_yaml, key=lambda error: error.at or Location(file=""))
        raise further from None


# --- YAML


def _read_yaml(text: _Text) -> Node:
    # libyaml where PyYAML has it: same events, ten times faster.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    builder = _Builder(text)
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


def _yaml_node(text: _Text, builder: _Builder, event: yaml.NodeEvent) -> None:
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


def _resolve(text: _Text, word: str, offset: int) -> Scalar:
    """Give a plain scalar its type by the YAML 1.2 core schema; `010` stays text since 1.1 and 1.2 disagree on it."""
    if _NULL.match(word):
        return None
    if _TRUE.match(word):
        return True
    if _FALSE.match(word):
        return False
    number = bool(_INTEGER.match(word) or _BASED.match(word) or _SPECIAL.match(word))
    if number or (_FLOAT.match(word) and not word.isdigit()):
        return _number(text, word, offset)
    return word


def _number(text: _Text, word: str, offset: int) -> int | float:
    if len(word) > _MAX_NUMBER:
        text.fail(f"a number of {len(word)} characters", offset)
    if _INTEGER.match(word):
        return int(word)
    if _BASED.match(word):
        return int(word, 0)
    if _SPECIAL.match(word):
        return float(word.replace(".", "", 1))
    value = float(word)
    if value in (float("inf"), float("-inf")):
        text.fail(f"{word} is too large for a number", offset)
    return value


# --- JSON

_JSON_TOKEN = re.compile(
    r"""[ \t\r\n]*(?:(?P<mark>[{}\[\],:])|(?P<string>"(?:[^"\\\r\n]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*")"""
    r"""|(?P<number>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)(?![0-9A-Za-z_.+-])|(?P<word>true|false|null)\b|(?P<end>\Z))"""
)
_JSON_WORDS: Mapping[str, Scalar] = MappingProxyType({"true": True, "false": False, "null": None})


@dataclass(frozen=True, slots=True)
class _JsonToken:
    kind: str
    text: str
    offset: int


def _json_tokens(text: _Text) -> Iterator[_JsonToken]:
    offset = 0
    while True:
        match = _JSON_TOKEN.match(text.text, offset)
        if match is None:
            offset += len(text.text[offset:]) - len(text.text[offset:].lstrip(" \t\r\n"))
            word = re.split(r"[\s,\]}]", text.text[offset : offset + 40])[0]
            text.fail(f"not JSON: unexpected {word or text.text[offset : offset + 1]!r}", offset)
        assert match.lastgroup is not None  # one of the named alternatives matched
        yield _JsonToken(match.lastgroup, match[match.lastgroup], match.start(match.lastgroup))
        if match.lastgroup == "end":
            return
        offset = match.end()


def _read_json(text: _Text) -> Node:
    builder = _Builder(text)
    closers: list[str] = []
    expected = {"value"}  # of "value", "key", "close", ",", ":", "end"

    def after_value() -> set[str]:
        return {",", "close"} if closers else {"end"}

    for token in _json_tokens(text):
        kind = token.text if token.kind == "mark" else token.kind
        if kind in ("{", "["):
            _expect(text, token, "value", expected)
            builder.open(token.offset, is_map=kind == "{")
            closers.append("}" if kind == "{" else "]")
            expected = {"key" if kind == "{" else "value", "close"}
        elif kind in ("}", "]"):
            _expect(text, token, "close" if closers and closers[-1] == kind else "", expected)
            closers.pop()
            builder.close()
            expected = after_value()
        elif kind == ",":
            _expect(text, token, ",", expected)
            expected = {"key" if closers[-1] == "}" else "value"}
        elif kind == ":":
            _expect(text, token, ":", expected)
            expected = {"value"}
        elif kind == "end":
            _expect(text, token, "end", expected)
        else:
            is_key = "key" in expected and kind == "string"
            _expect(text, token, "key" if is_key else "value", expected)
            builder.scalar(_json_scalar(text, token), token.offset)
            expected = {":"} if is_key else after_value()
    assert builder.root is not None  # "end" is accepted after a value only
    return builder.root


def _expect(text: _Text, token: _JsonToken, what: str, expected: set[str]) -> None:
    if what not in expected:
        names = " or ".join(
            sorted({"close": "a closing bracket", "value": "a value", "key": "a key"}.get(e, f"'{e}'") for e in expected)
        )
        found = "the end of the file" if token.kind == "end" else f"'{_shorten(token.text)}'"
        text.fail(
            f"not JSON: {names.replace(chr(39) + 'end' + chr(39), 'the end of the file')} expected, not {found}", token.offset
        )


def _json_scalar(text: _Text, token: _JsonToken) -> Scalar:
    if token.kind == "string":
        return str(json.loads(token.text))
    if token.kind == "number":
        return _number(text, token.text, token.offset)
    return _JSON_WORDS[token.text]
