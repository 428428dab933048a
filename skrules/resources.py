"""Where the data that ships with skrules lies: `templates/` and `toolchains/`.

In a checkout they stand beside the package; a wheel carries them inside it.
"""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def _root() -> Path:
    inside = _PACKAGE / "_data"
    return inside if inside.is_dir() else _PACKAGE.parent


def templates() -> Path:
    """Return the folder of Jinja2 templates and fixed C++ sources for generated code."""
    return _root() / "templates"


def toolchains() -> Path:
    """Return the folder with `ascend.yaml` and the host toolchain's C++ sources."""
    return _root() / "toolchains"


def package() -> Path:
    """Return the folder of the `skrules` package itself."""
    return _PACKAGE
