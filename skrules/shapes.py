"""Templates of generated files: found, and filled, in one way for all rooms."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from skrules import resources
from skrules.toolchain import cache

if TYPE_CHECKING:
    import jinja2


# Compiling a template takes longer than adapting a small file, and what ships with skrules stays as it is while it runs.
@functools.cache
def shape(
    room: str, name: str, *, newline: str = "\n", filters: tuple[tuple[str, Callable[..., Any]], ...] = ()
) -> jinja2.Template:
    """Return the template `templates/<room>/<name>`, ready to render with the line ends `newline`.

    A value that is missing when it is rendered is a fault of ours (jinja2.UndefinedError), never an empty text.
    """
    import jinja2  # rules name templates, and most runs fill none

    from skrules.compiled_shapes import CompiledShapes

    options: dict[str, Any] = {
        "newline_sequence": "\r\n" if newline == "\r\n" else "\r" if newline == "\r" else "\n",
        "trim_blocks": True,
        "lstrip_blocks": True,
        "keep_trailing_newline": True,
        "autoescape": False,  # C++ and Python, not HTML
    }
    compiled = repr((sorted(options.items()), sorted(name for name, _ in filters)))
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(resources.templates() / room),
        undefined=jinja2.StrictUndefined,
        bytecode_cache=CompiledShapes(cache.root(os.environ) / "templates", compiled),
        **options,
    )
    environment.filters.update(filters)
    return environment.get_template(name)
