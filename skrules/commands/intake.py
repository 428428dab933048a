"""`skrules intake`: what an asset has, what it lacks, and what to do first. Nothing is built."""

from __future__ import annotations

import argparse
from pathlib import Path

from skrules.commands.files import OutputFolder
from skrules.errors import UsageError
from skrules.pipeline.delivery_documents import MANIFEST, delivery_documents
from skrules.pipeline.inventory import take_inventory


def declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("asset", type=Path, metavar="ASSET", help="a kernel file, or a folder of an operator")
    parser.add_argument("--output-dir", type=Path, required=True, help=f"folder for {MANIFEST} and pages about it")
    parser.add_argument("--with-ai", action="store_true", help=argparse.SUPPRESS)


def run(options: argparse.Namespace) -> int:
    if options.with_ai:
        raise UsageError("--with-ai is not taken: there is no model that would be asked")
    inventory = take_inventory(options.asset, options.output_dir)
    with OutputFolder(options.output_dir) as output:
        output.publish(delivery_documents(inventory))
    return 0
