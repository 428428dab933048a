"""The user guide as a site: pip install -e '.[docs]' && sphinx-build -W docs build/site"""

from __future__ import annotations

import re

from skrules import installed

project = "skrules"
author = "skrules authors"
copyright = author  # noqa: A001  (Sphinx reads this name)
release = version = installed.version("skrules")

extensions = ["myst_parser"]
myst_heading_anchors = 4
html_theme = "furo"
html_title = f"skrules {release}"
html_copy_source = False
html_show_sphinx = False

_LINK = re.compile(r"\[([^\]]+)\]\((?!https?:)([^)#]+)(#[^)]*)?\)")


def _leave_out_files(app, _name, source) -> None:  # type: ignore[no-untyped-def]
    """Leave out links to files of the repository that are no pages: their names stay."""
    pages = {f"{name}.md" for name in app.env.found_docs}
    source[0] = _LINK.sub(lambda link: link[0] if link[2] in pages else link[1], source[0])


def _leave_out_files_of_readme(app, _path, _docname, content) -> None:  # type: ignore[no-untyped-def]
    content[0] = re.sub(r"\]\(docs/", "](", content[0])
    _leave_out_files(app, "", content)


def setup(app) -> None:  # type: ignore[no-untyped-def]
    app.connect("source-read", _leave_out_files)
    app.connect("include-read", _leave_out_files_of_readme)
