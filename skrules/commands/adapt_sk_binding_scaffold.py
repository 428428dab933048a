"""`skrules adapt-sk-binding-scaffold`: the SK binding of an analysed asset, for review."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from skrules.commands.files import OutputFolder
from skrules.pipeline.conversion import DOCUMENT, load_current
from skrules.pipeline.scaffolds import BINDING, BLOCKED, binding_scaffold, documents_of


def declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("output", type=Path, metavar="DIR", help=f"the folder with {DOCUMENT}; the scaffold comes into it")


def run(options: argparse.Namespace) -> int:
    analysis = load_current(options.output)
    with OutputFolder(options.output, trees=(BINDING,)) as output:
        document, files, findings = binding_scaffold(options.output, analysis)
        output.publish({**files, **documents_of(BINDING, document)})
    for finding in findings:
        sys.stderr.write(f"{finding}\n")
    return 1 if document["status"] == BLOCKED else 0
