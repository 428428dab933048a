"""`skrules new op NAME`: a complete operator of a workspace, that builds and passes its comparison at once."""

from __future__ import annotations

import argparse
from pathlib import Path

from skrules.commands.files import OutputFolder
from skrules.commands.generate_from_template import declare_parameters, parameters_of
from skrules.errors import UsageError
from skrules.scaffold.template import choose, load_template, render

_OPERATOR = "write a new operator into the workspace: kernel, contract, cases, reference, SConscript"


def declare(parser: argparse.ArgumentParser) -> None:
    kinds = parser.add_subparsers(required=True, metavar="KIND")
    operator = kinds.add_parser("op", help=_OPERATOR, description=_OPERATOR, allow_abbrev=False)
    operator.add_argument("name", metavar="NAME", help="name of the operator, of its kernel and of its folder")
    operator.add_argument("--template", default="add_custom", metavar="ID", help="see `skrules list-templates` (add_custom)")
    declare_parameters(operator)
    operator.add_argument("--package", type=Path, default=Path("ops"), help="folder of the operators in the workspace (ops)")


def run(options: argparse.Namespace) -> int:
    template = load_template(options.template, options.template_dir)
    files = render(template, options.name, choose(template, parameters_of(options.param)), operator=True)
    folder = options.package / options.name
    if not options.package.is_dir():
        raise UsageError(
            f"the workspace has no folder '{options.package}'",
            hint="run this in the folder with the SConstruct, or name the folder of your operators with --package",
        )
    with OutputFolder(options.package, trees=(options.name,)) as output:
        output.publish({f"{options.name}/{path}": data for path, data in files.items()})
    print(f"{folder.as_posix()}: {', '.join(sorted(files))}; from the template {options.template}")
    print(f"now: scons compare {folder.as_posix()}")
    return 0
