"""Calls commands of skrules as a part of this process: a stage does what its command does."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

from skrules.errors import SkrulesError

if TYPE_CHECKING:
    from skrules.cli import Command


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """`status` is the exit status that the command line would have had, `error` what it would have ended with, or ""."""

    status: int
    error: str
    output: str

    @property
    def is_good(self) -> bool:
        return self.status == 0


def call(name: str, *words: object) -> Called:
    """Run the command `name` with the words of a command line; what it prints is returned. Errors of the user do not raise."""
    command: Command = importlib.import_module(f"skrules.commands.{name.replace('-', '_')}")
    parser = argparse.ArgumentParser(prog=f"skrules {name}", allow_abbrev=False)
    command.declare(parser)
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            status = command.run(parser.parse_args([str(word) for word in words]))
        except SkrulesError as error:
            return Called(status=error.exit_code, error=str(error), output=said.getvalue())
    return Called(status=status, error="", output=said.getvalue())
