"""`skrules graph`: a drawing of the steps that build an operator. Nothing is built.

SVG is made by Graphviz. It is the one layout of directed graphs that is maintained, and in every distribution of Linux;
what there is in pure Python is not.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

from skrules.commands.place import declare_request, open_place
from skrules.engine.action import needed
from skrules.engine.files import write_atomically
from skrules.engine.records import draw_actions
from skrules.errors import BuildError, ToolchainError

_TIMEOUT_S = 120


def declare(parser: argparse.ArgumentParser) -> None:
    declare_request(parser)
    parser.add_argument("--output", choices=("dot", "svg"), help="dot (default), or svg, which needs Graphviz; FILE.svg is svg")
    parser.add_argument("-o", "--file", type=Path, metavar="FILE", help="write to this file instead of standard output")


def run(options: argparse.Namespace) -> int:
    _, opened = open_place(options, dict(os.environ))
    own = {str(operator.label) for operator in opened.graph.operators}
    actions = opened.graph.actions
    drawn = needed(actions, [action.outputs[0] for action in actions if action.label in own])
    data = draw_actions(" ".join(options.labels) or "//...", drawn).encode()
    is_svg = options.output == "svg" or (options.output is None and options.file is not None and options.file.suffix == ".svg")
    if is_svg:
        data = _svg(data)
    if options.file is None:
        sys.stdout.write(data.decode())
    else:
        write_atomically(options.file, data)
    return 0


def _svg(dot: bytes) -> bytes:
    program = shutil.which("dot")
    if program is None:
        raise ToolchainError(
            "SVG is drawn by Graphviz, whose program 'dot' is not found",
            hint="install graphviz, or take the drawing as it is with --output dot: editors and web pages show it too",
        )
    try:
        drawn = subprocess.run([program, "-Tsvg"], input=dot, capture_output=True, check=False, timeout=_TIMEOUT_S)
    except subprocess.TimeoutExpired as error:
        raise BuildError(f"{program} has not ended after {_TIMEOUT_S} s", hint="ask for fewer operators or archs") from error
    if drawn.returncode:
        said = drawn.stderr.decode("utf-8", "replace").splitlines()
        raise BuildError(f"{program} failed (exit status {drawn.returncode})", notes=said)
    return drawn.stdout
