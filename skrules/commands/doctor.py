"""`skrules doctor`: what of this machine a build can use."""

from __future__ import annotations

import argparse
import json
import os

from skrules.doctor.examination import examine
from skrules.doctor.machine import Machine
from skrules.errors import ToolchainError


def declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print it as JSON")


def run(options: argparse.Namespace) -> int:
    found = examine(Machine(environ=os.environ))
    print(json.dumps(found.to_json(), indent=2) if options.json else str(found), end="\n" if options.json else "")
    return 0 if found.can_build else ToolchainError.exit_code
