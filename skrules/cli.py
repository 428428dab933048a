"""The `skrules` command: what people ask outside of a build."""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Sequence
from importlib import metadata
from typing import Protocol

from skrules.commands import (
    adapt,
    adapt_sk_from_global,
    aggregate_sk_adapted,
    archs,
    detect_sk_form,
    generate_from_template,
    list_templates,
    new,
)
from skrules.errors import SkrulesError


class Command(Protocol):
    """What a module of `skrules.commands` offers. `run` returns the exit status: 0 only for what was completed."""

    NAME: str
    HELP: str

    def declare(self, parser: argparse.ArgumentParser, /) -> None: ...

    def run(self, options: argparse.Namespace, /) -> int: ...


COMMANDS: tuple[Command, ...] = (
    archs,
    adapt,
    new,
    list_templates,
    generate_from_template,
    detect_sk_form,
    adapt_sk_from_global,
    aggregate_sk_adapted,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    options = _parser().parse_args(arguments)
    try:
        status: int = options.run(options)
    except SkrulesError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    except BrokenPipeError:
        # The reader of the output has gone; a second failure at interpreter exit would say so again.
        sys.stdout = None
        return 0
    except Exception:
        traceback.print_exc()
        sys.stderr.write("error: this is a fault of skrules; please report it with the lines above\n")
        return SkrulesError.exit_code
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="skrules", description="Build rules for AscendC kernels. Builds are run by scons.")
    parser.add_argument("--version", action="version", version=f"skrules {metadata.version('skrules')}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for command in COMMANDS:
        # Abbreviated options would change their meaning with every option that is added.
        declared = commands.add_parser(command.NAME, help=command.HELP, description=command.HELP, allow_abbrev=False)
        command.declare(declared)
        declared.set_defaults(run=command.run)
    return parser
