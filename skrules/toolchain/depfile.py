"""Makefile-style dependency files, as gcc, clang and bisheng write them with `-MD -MF`."""

from __future__ import annotations

import re
from collections.abc import Iterable

_ESCAPED = re.compile(r"\\([ #\\])|\$\$")


def parse(text: str) -> tuple[str, ...]:
    """Return the prerequisites of the first rule, in order. Text without a rule has none."""
    joined = text.replace("\\\r\n", " ").replace("\\\n", " ")
    rule = next((line for line in joined.splitlines() if re.search(r":(\s|$)", line)), "")
    _, _, right = re.sub(r":(\s|$)", "\0", rule, count=1).partition("\0")
    words = re.findall(r"(?:\\.|\S)+", right)
    return tuple(_ESCAPED.sub(lambda found: found[1] or "$", word) for word in words)


def render(target: str, prerequisites: Iterable[str]) -> str:
    """Return a rule that `parse` reads back; one prerequisite a line."""
    return " \\\n ".join([f"{_escape(target)}:", *map(_escape, dict.fromkeys(prerequisites))]) + "\n"


def _escape(path: str) -> str:
    return re.sub(r"([ #])", r"\\\1", path).replace("$", "$$")
