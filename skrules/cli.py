"""The `skrules` command: what people ask outside of a build."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

from skrules import resources
from skrules.adapt import adapt
from skrules.arch import load_archs
from skrules.contract.check import resolve
from skrules.contract.load import load
from skrules.engine.files import write_if_changed
from skrules.errors import SkrulesError, UsageError
from skrules.findings import blockers
from skrules.rules.codegen import needs_human
from skrules.source import read


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        status: int = options.run(options)
    except SkrulesError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    except BrokenPipeError:
        # The reader of the output has gone; a second failure at interpreter exit would say so again.
        sys.stdout = None
        return 0
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="skrules", description="Build rules for AscendC kernels. Builds are run by scons.")
    parser.add_argument("--version", action="version", version=f"skrules {metadata.version('skrules')}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    archs = commands.add_parser("archs", help="list the archs and chips that are known")
    archs.set_defaults(run=_archs)
    adapting = commands.add_parser("adapt", help="print a kernel source adapted to SuperKernel")
    adapting.add_argument("source", type=Path, help="file with __global__ kernels")
    adapting.add_argument("--contract", type=Path, help="the operator's contract, YAML or JSON")
    adapting.add_argument("-o", "--output", type=Path, help="write to this file instead of standard output")
    adapting.set_defaults(run=_adapt)
    return parser


def _archs(_options: argparse.Namespace) -> int:
    for arch in load_archs(resources.toolchains() / "ascend.yaml").archs:
        chips = ", ".join(dict.fromkeys(chip.name for chip in arch.chips))
        print(f"{arch.name}  UB {arch.memory.ub // 1024} KiB, SK_BIND {arch.sk_bind}\n  {chips}")
    return 0


def _adapt(options: argparse.Namespace) -> int:
    unit = read(_bytes_of(options.source), str(options.source))
    contract = load(_bytes_of(options.contract), str(options.contract)) if options.contract else None
    adapted = adapt(unit, resolve(unit, contract))
    if blockers(adapted.findings):
        raise needs_human(str(options.source), adapted.findings)
    for finding in adapted.findings:
        sys.stderr.write(f"{finding}\n")
    if options.output:
        write_if_changed(options.output, adapted.text())
    else:
        sys.stdout.buffer.write(adapted.text())
    return 0


def _bytes_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
