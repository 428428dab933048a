"""The Jinja2 templates of `templates/aclgraph/`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jinja2

from skrules import resources


def directory() -> Path:
    """Return the folder of the shapes of the tree's files."""
    return resources.templates() / "aclgraph"


def render(name: str, values: Mapping[str, Any]) -> str:
    """Fill a template; a value that is missing is an error of ours (jinja2.UndefinedError)."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(directory()),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # C++ and Python, not HTML
    )
    environment.filters["python"] = python_literal
    return environment.get_template(name).render(values)


def python_literal(value: object) -> str:
    """Return plain data as Python text: the items of a dict or list one a line, in the order they have."""
    if isinstance(value, dict) and value:
        return "{\n" + "".join(f"    {key!r}: {item!r},\n" for key, item in value.items()) + "}"
    if isinstance(value, list) and value:
        return "[\n" + "".join(f"    {item!r},\n" for item in value) + "]"
    return repr(value)
