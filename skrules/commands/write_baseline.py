"""`skrules write-baseline`: what is found in a workspace now is known from now on, and not told again."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from skrules.arch_file import load_archs
from skrules.commands.place import declare_place, place_of
from skrules.engine.files import write_atomically
from skrules.errors import UsageError
from skrules.rules.generation import examine_operator, read_operator
from skrules.rules.validate import Validation
from skrules.rules.workspace import load_workspace
from skrules.validate.baseline import Known, baseline_bytes
from skrules.validate.settings import beside


def declare(parser: argparse.ArgumentParser) -> None:
    declare_place(parser)


def run(options: argparse.Namespace) -> int:
    place = place_of(options)
    validation = Validation(place.root, place.settings, load_archs())
    if not place.settings or not validation.settings.baseline:
        raise UsageError(
            "the workspace has no baseline",
            hint='Workspace(packages=[...], validate="validate.yaml"), and in validate.yaml: baseline: validate-baseline.json',
        )
    workspace = load_workspace(place.root, place.packages)
    known: list[Known] = []
    stopping = 0
    for target in workspace.of_rule("operator"):
        examined = examine_operator(read_operator(place.root, target), validation, with_known=True)
        known += examined.keys
        stopping += len(examined.findings) - len(examined.keys)
    name = beside(Path(place.settings), validation.settings.baseline).as_posix()
    write_atomically(place.root / name, baseline_bytes(known))
    sys.stdout.write(f"{name}: {len(set(known))} findings are known\n")
    if stopping:
        sys.stdout.write(f"not among them: {stopping} blockers of reading and adaptation, without which there is no result\n")
    return 0
