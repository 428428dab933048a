"""`skrules compile-commands`: the compilation database of the kernels, for clangd and its like. Nothing is built.

The format: https://clang.llvm.org/docs/JSONCompilationDatabase.html
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

from skrules.commands.place import declare_request, open_place
from skrules.engine.files import write_if_changed
from skrules.rules.opening import Opened
from skrules.toolchain.editor import editor_command

_NAME = "compile_commands.json"


def declare(parser: argparse.ArgumentParser) -> None:
    declare_request(parser)
    parser.add_argument(
        "-o", "--file", type=Path, metavar="FILE", help=f"file to write, - for standard output ({_NAME} in the workspace)"
    )


def run(options: argparse.Namespace) -> int:
    place, opened = open_place(options, dict(os.environ))
    text = json.dumps(database(opened), indent=2) + "\n"
    if options.file == Path("-"):
        sys.stdout.write(text)
    else:
        write_if_changed(options.file or place.root / _NAME, text.encode("utf-8", "surrogateescape"))
    unknown = [path for path in _option_files(opened) if not (place.root / path).is_file()]
    if unknown:
        count = len(unknown)
        sys.stderr.write(
            f"note: {count} source{'s' if count > 1 else ''} not built yet: without the options of their contracts\n"
        )
    return 0


def database(opened: Opened) -> list[dict[str, Any]]:
    """Return an entry for each kernel source and arch. A tool that takes one entry a file takes the operator's first arch."""
    root, entries = opened.context.root, []
    for operator in opened.graph.operators:
        edited = {source.adapted: source.source for source in operator.build.generated.sources}
        for action in operator.build.actions:
            compiled = next((path for path in action.inputs if path in edited), "")
            if not action.command or not compiled:
                continue
            words = editor_command(opened.context.toolchain, action.command[0], compiled, edited[compiled], root)
            entries.append(
                {"directory": str(root), "file": edited[compiled], "arguments": list(words), "output": action.outputs[0]}
            )
    return entries


def _option_files(opened: Opened) -> list[str]:
    return [source.options for operator in opened.graph.operators for source in operator.build.generated.sources]
