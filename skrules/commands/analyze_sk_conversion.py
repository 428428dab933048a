"""`skrules analyze-sk-conversion`: whether an asset can become a SuperKernel source version, and what is missing."""

from __future__ import annotations

import argparse
from pathlib import Path

from skrules.commands.files import OutputFolder
from skrules.pipeline.conversion import DOCUMENT, Asked, analyse, documents_of


def declare(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("asset", type=Path, metavar="ASSET", help="a kernel file, or a folder of an operator")
    add("--output-dir", type=Path, required=True, help=f"folder for {DOCUMENT}")
    add("--support-dir", action="append", default=[], metavar="[NAME=]PATH", help="headers that are included as NAME/...; repeat")
    add("--include-dir", action="append", default=[], metavar="DIR", help="a folder in which headers are looked for; repeat")
    add("--ascend-cann-path", default="", metavar="DIR", help="the toolkit that compiles the sources")
    add("--ascend-arch", default="", metavar="ARCH", help="the arch that they are compiled for")
    add("--ascend-compile-option", action="append", default=[], metavar="WORD", help="an option of the compiler; repeat")
    add("--ascend-force-include", action="append", default=[], metavar="FILE", help="a header for every source; repeat")


def run(options: argparse.Namespace) -> int:
    asked = Asked(
        asset=options.asset,
        support=tuple(options.support_dir),
        include=tuple(options.include_dir),
        cann=options.ascend_cann_path,
        arch=options.ascend_arch,
        options=tuple(options.ascend_compile_option),
        force=tuple(options.ascend_force_include),
    )
    analysis = analyse(asked, options.output_dir)
    with OutputFolder(options.output_dir) as output:
        output.publish(documents_of(analysis))
    return 0
