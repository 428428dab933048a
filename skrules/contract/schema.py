"""A schema as data: what keys a hand-written file may have and what they hold.

One table per file format is the only place that knows its keys. The reader (`reading`), the lists in messages, the
documentation and JSON Schema come from the same table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A text. `pattern` must match all of it; `what` says so in words; `allowed` are the only values, if any; `spellings`
    are other ways to write one of them; `synonyms` are common wrong ones and what was meant."""

    what: str = "a text"
    pattern: str = r"[^\x00-\x1f]+"
    allowed: tuple[str, ...] = ()
    spellings: Mapping[str, str] = field(default_factory=dict)
    synonyms: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Integer:
    """A whole number, and never `true`, `8.0` or "8"."""

    minimum: int
    maximum: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """Any number; `minimum` None: no limit. NaN only where `special`, which also admits infinities."""

    minimum: float | None = None
    special: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Boolean:
    """`true` or `false`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListOf:
    """A list. `unique` items appear once; `nullable`: nothing means the empty list."""

    item: Type
    unique: bool = False
    nullable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Nested:
    """A list of `item`, or of such lists, to any depth: what a tensor holds."""

    item: Type


@dataclass(frozen=True, slots=True, kw_only=True)
class MapOf:
    """A mapping from names of the user to `value`. `noun` is what a key is called in messages."""

    key: Text
    value: Type
    noun: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A mapping with fixed keys."""

    keys: tuple[Key, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OneOf:
    """Several forms of one value; the YAML type of the value selects the form."""

    forms: tuple[Type, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Null:
    """Nothing at all, written `null`."""


Type = Text | Integer | Number | Boolean | ListOf | Nested | MapOf | Table | OneOf | Null


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """One key of a table: what it holds, what it means, and other accepted spellings."""

    name: str
    type: Type
    doc: str
    aliases: tuple[str, ...] = ()
    required: bool = False


def describe(schema: Type) -> str:
    """Say in words what a value must be: "a whole number from 1 to 4", "one of map, keep"."""
    match schema:
        case Text(allowed=()):
            return schema.what
        case Text():
            return f"one of {', '.join(filter(None, schema.allowed))}"
        case Integer() if schema.minimum == schema.maximum:
            return f"the number {schema.minimum}"
        case Integer():
            return f"a whole number from {schema.minimum} to {schema.maximum}"
        case Number(minimum=None):
            return "a number"
        case Number():
            return f"a number not below {schema.minimum:g}"
        case Boolean():
            return "true or false"
        case ListOf():
            return f"a list ({describe(schema.item)} each)"
        case Nested():
            return f"a flat or nested list ({describe(schema.item)} each)"
        case MapOf():
            return f"a mapping from {schema.noun} to {describe(schema.value)}"
        case Table():
            return "a mapping"
        case Null():
            return "null"
        case OneOf():
            return " or ".join(describe(form) for form in schema.forms)


def json_schema(schema: Type) -> dict[str, Any]:
    """Return the schema as JSON Schema (draft 2020-12), for editors."""
    match schema:
        case Text():
            return (
                {"enum": [*schema.allowed, *schema.spellings]}
                if schema.allowed
                else {"type": "string", "pattern": f"^(?:{schema.pattern})$"}
            )
        case Integer():
            return {"type": "integer", "minimum": schema.minimum, "maximum": schema.maximum}
        case Number():
            return {"type": "number"} | ({} if schema.minimum is None else {"minimum": schema.minimum})
        case Boolean():
            return {"type": "boolean"}
        case Null():
            return {"type": "null"}
        case ListOf():
            items = {"type": "array", "items": json_schema(schema.item), "uniqueItems": schema.unique}
            return {"anyOf": [items, {"type": "null"}]} if schema.nullable else items
        case Nested():
            return {"type": "array", "items": {"anyOf": [json_schema(schema.item), {"type": "array"}]}}
        case MapOf():
            names = {"pattern": f"^(?:{schema.key.pattern})$"}
            return {"type": "object", "propertyNames": names, "additionalProperties": json_schema(schema.value)}
        case OneOf():
            return {"anyOf": [json_schema(form) for form in schema.forms]}
        case Table():
            properties = {
                spelling: json_schema(key.type)
                | {"description": key.doc}
                | ({} if spelling == key.name else {"deprecated": True})
                for key in schema.keys
                for spelling in (key.name, *key.aliases)
            }
            required = [key.name for key in schema.keys if key.required]
            return {"type": "object", "properties": properties, "additionalProperties": False, "required": required}
