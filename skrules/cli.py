"""The `skrules` command: what people ask outside of a build."""

from __future__ import annotations

import argparse
import errno
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any, Protocol

from skrules.errors import SkrulesError, UsageError

# Each is the module of `skrules.commands` with that name, imported only when it is the one that is asked for: a query must
# not wait for what reads and writes AscendC.
COMMANDS = {
    "query": "ask which operators, headers and files of the workspace need which",
    "aquery": "print the steps that build operators: inputs, outputs, key, commands",
    "why": "tell why the steps of an operator last ran, and why they would run now",
    "graph": "draw the steps that build an operator",
    "compile-commands": "write compile_commands.json, for clangd and other tools that read C++",
    "verify-wheel": "check a wheel: names, tags, hashes, and that every operator is there for every arch",
    "archs": "list the archs and chips that are known",
    "adapt": "print a kernel source adapted to SuperKernel",
    "apply-remediation": "make the edits in the sources that findings carry, or show them as a diff",
    "report-findings": "tell the findings of a build, or of other commands, as text, JSON, SARIF or annotations of GitHub",
    "doctor": "tell what of compilers, CANN, PyTorch, devices and caches is there, and how to get what is missing",
    "new": "write a new operator into the workspace: kernel, contract, cases, reference, SConscript",
    "list-templates": "list the templates of new operators, as JSON",
    "generate-from-template": "write a new operator asset: its kernel, its contract and a note",
    "detect-sk-form": "tell which SuperKernel form the sources of an operator have",
    "adapt-sk-from-global": "adapt an operator to SuperKernel and write its package: kernels, pybind11 sources, setup.py",
    "aggregate-sk-adapted": "make one package of several outputs of adapt-sk-from-global",
    "intake": "tell what an operator asset has and what it lacks, and what to do first",
    "plan": "another name of intake",
    "analyze-sk-conversion": "tell whether an asset can become a SuperKernel source version, and what is missing",
    "adapt-sk-binding-scaffold": "write the SK binding of an analysed asset, for review",
    "generate-sk-source-scaffold": "write the sources of an analysed asset that is bound as a project for CMake",
    "run-sk-pipeline": "adapt, validate, build, compare and package operators, by the published stages",
    "generate-standalone-compare": "write a CMake project that compares adapted operators on a device",
    "validate-operator": "look at an operator with all rules, and write what they find",
    "list-rule-pack": "list the rules of a pack, or the products that something is known of, as JSON",
    "explain": "tell why a finding is told, where that is known from, and what is right",
    "write-baseline": "make what is found in a workspace now known, so that only what is new is told",
}


# What a full or broken disk, or a terminal that is gone, answers to a write.
_CANNOT_WRITE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG})


class Command(Protocol):
    """What a module of `skrules.commands` offers. `run` returns the exit status: 0 only for what was completed."""

    def declare(self, parser: argparse.ArgumentParser, /) -> None: ...

    def run(self, options: argparse.Namespace, /) -> int: ...


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    try:
        options = _parser(words).parse_args(words)
        _require_folder()
        status: int = options.run(options)
        if sys.stdout is not None:
            sys.stdout.flush()  # here, where it can be told that the output is not complete
    except SkrulesError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    except BrokenPipeError:
        # The reader of the output has gone; a second failure at interpreter exit would say so again.
        sys.stdout = None
        return 0
    except OSError as error:
        if error.filename is not None or error.errno not in _CANNOT_WRITE:
            return _told_fault()
        sys.stdout = None
        sys.stderr.write(f"error: cannot write what was to be told or made: {error.strerror}\n")
        return UsageError.exit_code
    except Exception:
        return _told_fault()
    return status


def _told_fault() -> int:
    """Tell the exception that is being handled."""
    import traceback

    traceback.print_exc()
    sys.stderr.write("error: this is a fault of skrules; please report it with the lines above\n")
    return SkrulesError.exit_code


def _require_folder() -> None:
    """Raise UsageError where the folder of this process has been removed: no relative path means anything there."""
    try:
        os.getcwd()  # noqa: PTH109 - it is asked for nothing but this
    except OSError as error:
        raise UsageError(
            f"the folder that skrules was started in cannot be used: {error.strerror}", hint="cd to another"
        ) from error


def _parser(words: Sequence[str]) -> argparse.ArgumentParser:
    """Return the parser of a command line: complete for its command, which is the first word that is no option."""
    parser = argparse.ArgumentParser(prog="skrules", description="Build rules for AscendC kernels. Builds are run by scons.")
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    wanted = next((word for word in words if not word.startswith("-")), "")
    for name, help_text in COMMANDS.items():
        # Abbreviated options would change their meaning with every option that is added.
        declared = commands.add_parser(name, help=help_text, description=help_text, allow_abbrev=False)
        if name == wanted:
            command: Command = importlib.import_module(f"skrules.commands.{name.replace('-', '_')}")
            command.declare(declared)
            declared.set_defaults(run=command.run)
    return parser


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from importlib import metadata  # costs more than most commands do

        print(f"skrules {metadata.version('skrules')}")
        parser.exit()
