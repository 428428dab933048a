"""`skrules aquery`: the steps that build operators, as records. Nothing is built."""

from __future__ import annotations

import argparse
import json
import os
import sys

from skrules.commands.place import declare_request, open_place
from skrules.engine.action import needed
from skrules.engine.records import record_of, text_of


def declare(parser: argparse.ArgumentParser) -> None:
    declare_request(parser)
    parser.add_argument("--output", choices=("text", "json"), default="text", help="text (default), or a list of objects")
    parser.add_argument("--deps", action="store_true", help="also the steps that all operators share and that these need")


def run(options: argparse.Namespace) -> int:
    _, opened = open_place(options, dict(os.environ))
    actions = opened.graph.actions
    own = {str(operator.label) for operator in opened.graph.operators}
    shown = [action for action in actions if action.label in own]
    if options.deps:
        shown = list(needed(actions, [action.outputs[0] for action in shown]))
    sys.stderr.write("".join(f"{note}\n" for note in opened.notes))
    if options.output == "json":
        sys.stdout.write(json.dumps([record_of(action) for action in shown], indent=2) + "\n")
    else:
        sys.stdout.write("\n".join(text_of(action) for action in shown))
    return 0
