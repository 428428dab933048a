"""The Jinja2 templates of `templates/binding/` and how text becomes C++ in them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import jinja2

from skrules import resources

_PLAIN = re.compile(r"[ !#->@-\[\]-~]\Z")  # no quote, no backslash; no `?`, which may begin a trigraph


def directory() -> Path:
    """Return the folder that generated binding code includes from: compile it with `-I` of this folder."""
    return resources.templates() / "binding"


def render(name: str, values: Mapping[str, Any]) -> str:
    """Fill the template `name` of this room; a value that is missing is an error of ours (jinja2.UndefinedError)."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(directory()),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # C++ and Python, not HTML
    )
    return environment.get_template(name).render(values)


def c_string(text: str) -> str:
    """Return a C++ string literal of `text`, every byte that is not plain ASCII as an octal escape.

    `text` is what the house holds source text as, one character a byte (latin-1); wider characters go as UTF-8.
    Three octal digits always, so that a digit that follows is not taken for a part of the escape.
    """
    data = text.encode("latin-1" if all(ord(character) < 256 for character in text) else "utf-8")
    plain = (chr(byte) if _PLAIN.match(chr(byte)) else f"\\{byte:03o}" for byte in data)
    return f'"{"".join(plain)}"'


def one_line(texts: Iterable[str]) -> str:
    """Return texts joined by blanks with every run of white space as one blank."""
    return " ".join(" ".join(texts).split())
