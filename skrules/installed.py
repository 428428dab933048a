"""Versions of installed distributions, read from the names of their folders.

`importlib.metadata` answers the same, but parses each distribution as a mail: importing it takes longer than a build with
nothing to do. Source: PyPA, "Recording installed projects": metadata stands in `{name}-{version}.dist-info`.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

_FOLDER = re.compile(r"(?P<name>[^-]+)-(?P<version>[^-]+)\.dist-info")
# The older form, `{name}[-{version}-py3.x].egg-info`: Python takes it where it comes first, and its name may say less.
_OLDER = re.compile(r"(?P<name>[^-]+)(?:-.*)?\.egg-info")
_SEPARATORS = re.compile(r"[-_.]+")


def version(name: str) -> str:
    """Return the version of a distribution as Python would find it, first folder of `sys.path` first.

    Raises importlib.metadata.PackageNotFoundError when it is not installed.
    """
    wanted = _normal(name)
    for folder in sys.path:
        try:
            names = sorted(entry.name for entry in Path(folder).iterdir())
        except OSError:
            continue  # no such folder, or a zip file
        for match in filter(None, map(_FOLDER.fullmatch, names)):
            if _normal(match["name"]) == wanted:
                return match["version"]
        if any(_normal(match["name"]) == wanted for match in filter(None, map(_OLDER.fullmatch, names))):
            break
    from importlib import metadata

    return metadata.version(name)


def _normal(name: str) -> str:
    return _SEPARATORS.sub("_", name).lower()
