"""Names of assets and operators as folders."""

from __future__ import annotations

import re
from collections.abc import Iterable

_OTHER = re.compile(r"[^A-Za-z0-9_.-]")


def slug(text: str) -> str:
    """Return the published folder name: other characters become `_`, in lower case; "asset" when nothing is left."""
    return _OTHER.sub("_", text).strip("._-").lower() or "asset"


def distinct(names: Iterable[str]) -> list[str]:
    """Return slugs of `names` in their order, the second of equal ones with `_2` and so on."""
    taken: set[str] = set()
    found = []
    for name in names:
        base = word = slug(name)
        number = 1
        while word in taken:
            number += 1
            word = f"{base}_{number}"
        taken.add(word)
        found.append(word)
    return found
