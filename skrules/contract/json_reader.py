"""Reads JSON (RFC 8259) with places."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from skrules.contract.tree import Builder, Node, Scalar, Text, read_number, shorten

_JSON_TOKEN = re.compile(
    r"""[ \t\r\n]*(?:(?P<mark>[{}\[\],:])|(?P<string>"(?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*")"""
    r"""|(?P<number>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)(?![0-9A-Za-z_.+-])|(?P<word>true|false|null)\b|(?P<end>\Z))"""
)
_JSON_WORDS: Mapping[str, Scalar] = MappingProxyType({"true": True, "false": False, "null": None})

_NAMES: Mapping[str, str] = MappingProxyType(
    {"value": "a value", "key": "a key", "close": "a closing bracket", "end": "the end of the file"}
)


@dataclass(frozen=True, slots=True)
class _JsonToken:
    kind: str
    text: str
    offset: int


def _json_tokens(text: Text) -> Iterator[_JsonToken]:
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


def read_json(text: Text) -> Node:
    """Return the value of a JSON file (RFC 8259). Raises UsageError with the place."""
    builder = Builder(text)
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


def _expect(text: Text, token: _JsonToken, what: str, expected: set[str]) -> None:
    if what not in expected:
        names = " or ".join(sorted(_NAMES.get(each, f"'{each}'") for each in expected))
        found = _NAMES["end"] if token.kind == "end" else f"'{shorten(token.text)}'"
        text.fail(f"not JSON: {names} expected, not {found}", token.offset)


def _json_scalar(text: Text, token: _JsonToken) -> Scalar:
    if token.kind == "string":
        return str(json.loads(token.text))
    if token.kind == "number":
        return read_number(text, token.text, token.offset)
    return _JSON_WORDS[token.text]
