"""`skrules generate-from-template`: a plain kernel to begin with, ready for `adapt-sk-from-global`."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

from skrules.commands.files import OutputFolder, json_bytes
from skrules.errors import UsageError
from skrules.scaffold.template import choose, load_template, render

DOCUMENT = "operator-sk-template-manifest.json"


def declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("template", metavar="ID", help="see `skrules list-templates`")
    declare_parameters(parser)
    parser.add_argument("--output-dir", type=Path, required=True, help="folder to fill; it must be empty or not exist yet")


def declare_parameters(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--param", action="append", default=[], metavar="NAME=VALUE", help="a parameter of the template")
    parser.add_argument("--template-dir", type=Path, help="folder with templates of your own instead of those of skrules")


def parameters_of(words: Iterable[str]) -> dict[str, str]:
    """Read `NAME=VALUE` words. Raises UsageError for another form, or a name that comes twice."""
    values: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise UsageError(f"--param takes NAME=VALUE, not '{word}'")
        if name in values:
            raise UsageError(f"--param {name} is given twice")
        values[name] = value
    return values


def run(options: argparse.Namespace) -> int:
    template = load_template(options.template, options.template_dir)
    values = choose(template, parameters_of(options.param))
    files = render(template, template.id, values, operator=False)
    manifest = {
        "status": "generated",
        "template_id": template.id,
        "parameters": values,
        "output_dir": str(options.output_dir.resolve()),
        "written_files": list(files),
    }
    with OutputFolder(options.output_dir, empty=True) as output:
        output.publish({**files, DOCUMENT: json_bytes(manifest)})
    return 0
