"""`skrules apply-remediation`: the edits of a findings file, made in the sources they are about."""

from __future__ import annotations

import argparse
import contextlib
import sys
from pathlib import Path

from skrules.commands.files import OutputFolder, json_bytes
from skrules.engine.files import bytes_of
from skrules.errors import UsageError
from skrules.remediate.difference import unified
from skrules.remediate.document import DOCUMENT, read_requests, report
from skrules.remediate.remediation import Status, remediate
from skrules.remediate.summary import summary


def declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("asset_dir", type=Path, metavar="ASSET_DIR", help="the folder that the files of the findings lie in")
    parser.add_argument("findings", type=Path, metavar="FINDINGS_JSON", help="operator-validation-findings.json, or one like it")
    parser.add_argument("--output-dir", type=Path, help=f"folder for {DOCUMENT} (ASSET_DIR)")
    parser.add_argument("--dry-run", action="store_true", help="print the edits as a diff, and write nothing")


def run(options: argparse.Namespace) -> int:
    asset: Path = options.asset_dir
    if not asset.is_dir():
        raise UsageError(f"there is no folder '{asset}'")
    requests = read_requests(bytes_of(options.findings), str(options.findings))
    if options.dry_run:
        outcome = remediate(asset, requests, dry_run=True)
        sys.stdout.flush()
        sys.stdout.buffer.write(unified(outcome.changes))
        sys.stdout.buffer.flush()
        sys.stderr.write(summary(outcome, dry_run=True))
    else:
        # Taken first: a folder that cannot be written is known before a file is edited.
        with contextlib.ExitStack() as held:
            output = held.enter_context(OutputFolder(options.output_dir or asset))
            if options.output_dir and options.output_dir.resolve() != asset.resolve():
                held.enter_context(OutputFolder(asset))  # another run may report elsewhere
            outcome = remediate(asset, requests)
            sys.stderr.write(summary(outcome, dry_run=False))
            output.publish({DOCUMENT: json_bytes(report(outcome, str(asset.resolve()), options.findings))})
    return 1 if outcome.count(Status.FAILED) else 0
