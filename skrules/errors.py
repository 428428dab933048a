"""Errors a user can cause, each family with its exit code, in one format.

    error: ops/add/contract.yaml:12:7: unknown key 'luanch'
      allowed: launch, compile, parameters
      hint: did you mean 'launch'?

Anything that is not a `SkrulesError` and reaches the top is a fault of skrules itself (exit 70, `sysexits.h` EX_SOFTWARE).
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Location:
    """A place in a text file. `line` and `column` count from 1; 0 means the whole file."""

    file: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        if not self.line:
            return self.file
        return f"{self.file}:{self.line}:{self.column}" if self.column else f"{self.file}:{self.line}"


class SkrulesError(Exception):
    """Base of all errors with a message for the user. `str()` is the complete text, without a final newline."""

    exit_code = 70

    def __init__(
        self, message: str, *, at: Location | None = None, allowed: Iterable[str] = (), hint: str = "", notes: Iterable[str] = ()
    ) -> None:
        self.message = message
        self.at = at
        self.allowed = tuple(allowed)
        self.hint = hint
        self.notes = tuple(notes)
        super().__init__(self.render())

    def render(self) -> str:
        place = f"{self.at}: " if self.at else ""
        lines = [f"error: {place}{self.message}"]
        lines += [f"  {note}" for note in self.notes]
        if self.allowed:
            lines.append(f"  allowed: {', '.join(self.allowed)}")
        if self.hint:
            lines.append(f"  hint: {self.hint}")
        return "\n".join(lines)


class BuildError(SkrulesError):
    """A compiler, linker or generator failed on the user's sources."""

    exit_code = 1


class UsageError(SkrulesError):
    """Wrong command line, label, SConscript, contract or cases file."""

    exit_code = 2


class TestFailure(SkrulesError):
    """An operator ran and its result is not what it must be."""

    __test__ = False
    exit_code = 3


class ToolchainError(SkrulesError):
    """A compiler, toolkit, arch or chip is missing or unknown."""

    exit_code = 4


class NeedsHuman(SkrulesError):
    """A decision that only the operator's author can make is not recorded in the contract."""

    exit_code = 5


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return "did you mean 'x'?" for the closest of `known`, or "" when nothing is close."""
    matches = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f"did you mean '{matches[0]}'?" if matches else ""
