"""`skrules adapt`: one source, adapted, on standard output."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from skrules.adapt.adaptation import adapt
from skrules.commands.files import write_result
from skrules.commands.telling import declare_findings, tell
from skrules.contract.check import resolve
from skrules.contract.load import load
from skrules.engine.files import bytes_of
from skrules.source.includes import local_headers
from skrules.source.kernels import read


def declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", type=Path, metavar="SOURCE", help="file with __global__ kernels")
    parser.add_argument("--contract", type=Path, help="the operator's contract, YAML or JSON")
    parser.add_argument(
        "-I", dest="include", type=Path, action="append", default=[], metavar="DIR", help="look for included headers there too"
    )
    parser.add_argument("-o", "--output", type=Path, help="write to this file instead of standard output")
    declare_findings(parser, "standard error, or output where -o takes the source")


def run(options: argparse.Namespace) -> int:
    contract = load(bytes_of(options.contract), str(options.contract)) if options.contract else None
    macros = contract.macros if contract else {}
    folders = options.include
    found = local_headers(str(options.source), folders, angled=folders)
    headers = [read(data, path, macros=macros) for path, data in sorted(found.items())]
    unit = read(bytes_of(options.source), str(options.source), headers=headers, macros=macros)
    adapted = adapt(unit, resolve(unit, contract), headers)
    status = tell(str(options.source), adapted.findings, options, sys.stdout if options.output else sys.stderr)
    if status:
        return status
    inputs = [options.source, *([options.contract] if options.contract else []), *map(Path, found)]
    write_result(adapted.text(), options.output, inputs)
    return 0
