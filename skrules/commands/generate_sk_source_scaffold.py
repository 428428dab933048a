"""`skrules generate-sk-source-scaffold`: the sources of an asset that is bound, as a project for CMake."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from skrules.commands.files import OutputFolder
from skrules.pipeline.conversion import DOCUMENT, load_current
from skrules.pipeline.scaffolds import BLOCKED, SOURCE, documents_of, source_scaffold


def declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("output", type=Path, metavar="DIR", help=f"the folder with {DOCUMENT}; the project comes into it")


def run(options: argparse.Namespace) -> int:
    analysis = load_current(options.output)
    with OutputFolder(options.output, trees=(SOURCE,)) as output:
        document, files = source_scaffold(options.output, analysis)
        output.publish({**files, **documents_of(SOURCE, document)})
    if document["status"] == BLOCKED:
        sys.stderr.write(f"blocked: {', '.join(document['blocked_reasons'])}\n")
        return 1
    return 0
