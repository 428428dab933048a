"""`skrules write-baseline`: what is found in a workspace now is known from now on, and not told again."""

from __future__ import annotations

import argparse
import sys

from skrules import resources
from skrules.arch_file import load_archs
from skrules.commands.place import declare_place, place_of
from skrules.engine.files import write_atomically
from skrules.errors import UsageError
from skrules.findings import Severity
from skrules.rules.generation import examine_operator, read_operator
from skrules.rules.validate import Validation
from skrules.rules.workspace import load_workspace
from skrules.validate.baseline import Known, baseline_bytes


def declare(parser: argparse.ArgumentParser) -> None:
    declare_place(parser)


def run(options: argparse.Namespace) -> int:
    place = place_of(options)
    validation = Validation(place.root, place.settings, load_archs(resources.toolchains() / "ascend.yaml"))
    if not place.settings or not validation.settings.baseline:
        raise UsageError(
            "the workspace has no baseline",
            hint='Workspace(packages=[...], validate="validate.yaml"), and in validate.yaml: baseline: validate-baseline.json',
        )
    workspace = load_workspace(place.root, place.packages)
    own = {rule.id for rule in validation.rules}
    known: list[Known] = []
    stopping = 0
    for target in workspace.of_rule("operator"):
        examined = examine_operator(read_operator(place.root, target), validation, with_known=True)
        known += examined.keys
        stopping += sum(finding.severity is Severity.BLOCKER and finding.rule not in own for finding in examined.findings)
    folder = place.settings.rpartition("/")[0]
    name = f"{folder}/{validation.settings.baseline}" if folder else validation.settings.baseline
    write_atomically(place.root / name, baseline_bytes(known))
    sys.stdout.write(f"{name}: {len(set(known))} findings are known\n")
    if stopping:
        sys.stdout.write(f"not among them: {stopping} blockers of reading and adaptation, without which there is no result\n")
    return 0
