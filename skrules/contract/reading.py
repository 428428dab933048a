"""Checks a document against a schema. Reading goes on after an error, so that one run shows them all."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from skrules.contract.schema import (
    Boolean,
    Integer,
    ListOf,
    MapOf,
    Nested,
    Null,
    Number,
    OneOf,
    Table,
    Text,
    Type,
    describe,
)
from skrules.contract.tree import Node
from skrules.errors import Location, UsageError, did_you_mean

_MAX_ERRORS = 20


class DocumentErrors(UsageError):
    """All errors of one file. The first one gives message and place; the text has every one."""

    def __init__(self, errors: Iterable[UsageError]) -> None:
        self.errors = tuple(errors)
        first = self.errors[0]
        super().__init__(first.message, at=first.at, allowed=first.allowed, hint=first.hint, notes=first.notes)

    def render(self) -> str:
        texts = [error.render() for error in self.errors[:_MAX_ERRORS]]
        if len(self.errors) > _MAX_ERRORS:
            texts.append(f"error: and {len(self.errors) - _MAX_ERRORS} more")
        return "\n".join(texts)


@dataclass(slots=True)
class Problems:
    """Errors found so far. Reading goes on after an error, so that one run shows them all.

    `wrong` has the paths ("entries.add.outputs") of values that did not fit, in whole or in part, so that nobody complains
    about what is missing in them.
    """

    errors: list[UsageError] = field(default_factory=list)
    wrong: set[str] = field(default_factory=set)

    def add(self, message: str, at: Location, *, allowed: Iterable[str] = (), hint: str = "") -> None:
        self.errors.append(UsageError(message, at=at, allowed=allowed, hint=hint))

    def finish(self) -> None:
        """Raise what was found, in file order."""
        if self.errors:
            raise DocumentErrors(sorted(self.errors, key=lambda error: error.at or Location(file="")))


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """A checked value. `value` is plain: scalars, lists of Read, or a mapping of canonical key to Read.

    `at` is the place of the value, `key_at` of the key that holds it (equal to `at` in lists and at the top), `path` its
    way from the top ("entries.add.inputs[0]").
    """

    value: Any
    path: str
    at: Location
    key_at: Location

    def get(self, key: str, default: Any = None) -> Any:
        """Return the plain value of `key` of a mapping, deep."""
        return self.value[key].plain() if key in self.value else default

    def plain(self) -> Any:
        """Return the value without places."""
        if isinstance(self.value, dict):
            return {key: read.plain() for key, read in self.value.items()}
        return [read.plain() for read in self.value] if isinstance(self.value, list) else self.value


def read(node: Node, schema: Type, problems: Problems, where: str = "") -> Read | None:
    """Check `node` against `schema`; None when it does not fit, in which case `problems` says why.

    A table with wrong keys is still returned with its right ones. `where` names the value in messages ("block_dim").
    """
    return _read(node, schema, problems, where, node.at)


def _read(node: Node, schema: Type, problems: Problems, where: str, key_at: Location) -> Read | None:
    reader = _READERS[type(schema)]
    value = reader(node, schema, problems, where)
    return None if value is _WRONG else Read(value=value, path=where, at=node.at, key_at=key_at)


class _Wrong:
    """Marks a value that did not fit, since None is a value."""


_WRONG = _Wrong()


def _mismatch(node: Node, schema: Type, problems: Problems, where: str, hint: str = "") -> _Wrong:
    subject = f"{where} must be" if where else "must be"
    problems.add(f"{subject} {describe(schema)}, not {node.type_name}", node.at, hint=hint)
    return _WRONG


def _read_text(node: Node, schema: Text, problems: Problems, where: str) -> Any:
    value = schema.spellings.get(node.value, node.value) if isinstance(node.value, str) else node.value
    if isinstance(value, str) and schema.allowed and value not in schema.allowed:
        meant = schema.synonyms.get(value)
        hint = f"did you mean '{meant}'?" if meant else did_you_mean(value, schema.allowed)
        problems.add(f"{where} '{value}' is unknown", node.at, allowed=filter(None, schema.allowed), hint=hint)
        return _WRONG
    if not isinstance(value, str) or not re.fullmatch(schema.pattern, value):
        return _mismatch(node, schema, problems, where)
    return value


def _read_integer(node: Node, schema: Integer, problems: Problems, where: str) -> Any:
    value = node.value
    if type(value) is not int or not schema.minimum <= value <= schema.maximum:
        hint = "write it without quotes" if isinstance(value, str) and value.strip().isdigit() else ""
        return _mismatch(node, schema, problems, where, hint)
    return value


def _read_number(node: Node, schema: Number, problems: Problems, where: str) -> Any:
    value = node.value
    if type(value) not in (int, float):
        return _mismatch(node, schema, problems, where)
    finite = value - value == 0  # type: ignore[operator]
    if (not finite and not schema.special) or (schema.minimum is not None and not value >= schema.minimum):  # type: ignore[operator]
        return _mismatch(node, schema, problems, where)
    return value


def _read_boolean(node: Node, schema: Boolean, problems: Problems, where: str) -> Any:
    return node.value if isinstance(node.value, bool) else _mismatch(node, schema, problems, where)


def _read_null(node: Node, schema: Null, problems: Problems, where: str) -> Any:
    return None if node.value is None else _mismatch(node, schema, problems, where)


def _read_list(node: Node, schema: ListOf, problems: Problems, where: str) -> Any:
    if node.value is None and schema.nullable:
        return []
    if not isinstance(node.value, tuple):
        hint = f"write [{node.value}]" if isinstance(node.value, str) and node.value else ""
        return _mismatch(node, schema, problems, where, hint)
    items = [_read(item, schema.item, problems, f"{where}[{index}]", item.at) for index, item in enumerate(node.value)]
    kept = [item for item in items if item is not None]
    if len(kept) < len(items):
        problems.wrong.add(where)
    if schema.unique:
        first: dict[Any, Read] = {}
        for item in kept:
            if item.value in first:
                problems.add(f"'{item.value}' is twice in {where}", item.at, hint=f"first in line {first[item.value].at.line}")
            first.setdefault(item.value, item)
        kept = list(first.values())
    return kept


def _read_nested(node: Node, schema: Nested, problems: Problems, where: str) -> Any:
    if not isinstance(node.value, tuple):
        return _mismatch(node, schema, problems, where)
    items = [
        _read(item, schema if isinstance(item.value, tuple) else schema.item, problems, f"{where}[{index}]", item.at)
        for index, item in enumerate(node.value)
    ]
    kept = [item for item in items if item is not None]
    if len(kept) < len(items):
        problems.wrong.add(where)
        return _WRONG
    return kept


def _read_map(node: Node, schema: MapOf, problems: Problems, where: str) -> Any:
    if not isinstance(node.value, Mapping):
        return _mismatch(node, schema, problems, where)
    result: dict[str, Read] = {}
    for key, child in node.value.items():
        if not re.fullmatch(schema.key.pattern, key):
            problems.add(f"'{key}' cannot name {schema.noun}: it must be {schema.key.what}", node.keys[key])
        path = f"{where}.{key}" if where else key
        item = _read(child, schema.value, problems, path, node.keys[key])
        if item is None:
            problems.wrong.add(path)
        else:
            result[key] = item
    return result


def _read_table(node: Node, schema: Table, problems: Problems, where: str) -> Any:
    if not isinstance(node.value, Mapping):
        return _mismatch(node, schema, problems, where)
    spelled = {spelling: key for key in schema.keys for spelling in (key.name, *key.aliases)}
    result: dict[str, Read] = {}
    seen: dict[str, str] = {}
    for word, child in node.value.items():
        at = node.keys[word]
        key = spelled.get(word)
        if key is None:
            scope = f" in {where}" if where else ""
            names = [known.name for known in schema.keys]
            problems.add(f"unknown key '{word}'{scope}", at, allowed=names, hint=did_you_mean(word, spelled))
            problems.wrong.add(where)
            continue
        if key.name in seen:
            problems.add(f"'{word}' and '{seen[key.name]}' are the same key", at, hint=f"keep '{key.name}'")
            continue
        seen[key.name] = word
        path = f"{where}.{key.name}" if where else key.name
        item = _read(child, key.type, problems, path, at)
        if item is None:
            problems.wrong.add(path)
        else:
            result[key.name] = item
    for key in schema.keys:
        if key.required and key.name not in seen:
            scope = f"{where} has no" if where else "there is no"
            problems.add(f"{scope} '{key.name}'", node.at, hint=key.doc)
    return result


def _read_one_of(node: Node, schema: OneOf, problems: Problems, where: str) -> Any:
    for form in schema.forms:
        if isinstance(node.value, _YAML_TYPES[type(form)]) and (isinstance(node.value, bool) <= isinstance(form, Boolean)):
            return _READERS[type(form)](node, form, problems, where)
    return _mismatch(node, schema, problems, where)


_READERS: Mapping[type, Callable[[Node, Any, Problems, str], Any]] = {
    Text: _read_text,
    Integer: _read_integer,
    Number: _read_number,
    Boolean: _read_boolean,
    Null: _read_null,
    ListOf: _read_list,
    Nested: _read_nested,
    MapOf: _read_map,
    Table: _read_table,
    OneOf: _read_one_of,
}
_YAML_TYPES: Mapping[type, tuple[type, ...]] = {
    Text: (str,),
    Integer: (int,),
    Number: (int, float),
    Boolean: (bool,),
    Null: (type(None),),
    ListOf: (tuple,),
    Nested: (tuple,),
    MapOf: (Mapping,),
    Table: (Mapping,),
}
