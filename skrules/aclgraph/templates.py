"""The Jinja2 templates of `templates/aclgraph/`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from skrules import resources
from skrules.shapes import shape

_WIDTH = 120


def directory() -> Path:
    """Return the folder of the shapes of the tree's files."""
    return resources.templates() / "aclgraph"


def render(name: str, values: Mapping[str, Any]) -> str:
    """Fill a template; a value that is missing is an error of ours (jinja2.UndefinedError)."""
    return shape("aclgraph", name, filters=(("python", python_literal),)).render(values)


def python_literal(value: Any, indent: int = 0) -> str:
    """Return plain data (dicts, lists, tuples, text, numbers, booleans, None) as Python text that a person can read."""
    line = _one_line(value)
    if len(line) + indent < _WIDTH or not isinstance(value, dict | list | tuple) or not value:
        return line
    inner = indent + 4
    if isinstance(value, dict):
        items = [f"{_one_line(key)}: {python_literal(item, inner)}" for key, item in value.items()]
        opening, closing = "{", "}"
    else:
        items = [python_literal(item, inner) for item in value]
        opening, closing = ("[", "]") if isinstance(value, list) else ("(", ")")
    blanks = " " * indent
    return f"{opening}\n" + "".join(f"{blanks}    {item},\n" for item in items) + blanks + closing


def _one_line(value: Any) -> str:
    if isinstance(value, str):
        return json.dumps(value)  # double quotes, and escapes that Python has too
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_one_line(key)}: {_one_line(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(_one_line, value))}]"
    if isinstance(value, tuple):
        return f"({', '.join(map(_one_line, value))}{',' if len(value) == 1 else ''})"
    return repr(value)
