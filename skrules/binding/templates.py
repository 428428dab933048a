"""The Jinja2 templates of `templates/binding/` and how text becomes C++ in them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from skrules import resources
from skrules.shapes import shape

_PLAIN = re.compile(r"[ !#->@-\[\]-~]\Z")  # no quote, no backslash; no `?`, which may begin a trigraph


def directory() -> Path:
    """Return the folder that generated binding code includes from: compile it with `-I` of this folder."""
    return resources.templates() / "binding"


def render(name: str, values: Mapping[str, Any]) -> str:
    """Fill the template `name` of this room; a value that is missing is an error of ours (jinja2.UndefinedError)."""
    return shape("binding", name).render(values)


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
