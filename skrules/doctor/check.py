"""What one look at the machine says."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


class Status(enum.StrEnum):
    """`MISSING` is not there, and builds do without; `BROKEN` is needed, or set to what does not work."""

    OK = "ok"
    MISSING = "missing"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """`found` says what is there; `meaning` what follows where the status is not ok; `command` is the one to type then, ""
    where none helps. `details` are the parts of `found` by name, as plain data."""

    name: str
    status: Status
    found: str
    meaning: str = ""
    command: str = ""
    details: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the check as plain data with stable keys."""
        return {
            "name": self.name,
            "status": str(self.status),
            "found": self.found,
            "meaning": self.meaning,
            "command": self.command,
            "details": self.details,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """`host` and `bisheng` tell whether kernels can be built by that toolchain, `modules` whether Python modules can be."""

    checks: Sequence[Check]
    host: bool
    bisheng: bool
    modules: bool

    @property
    def can_build(self) -> bool:
        return self.host or self.bisheng

    def to_json(self) -> dict[str, Any]:
        """Return all of it as plain data with stable keys."""
        return {
            "schema_version": 1,
            "can_build": {"host": self.host, "bisheng": self.bisheng, "modules": self.modules},
            "checks": [check.to_json() for check in self.checks],
        }

    def __str__(self) -> str:
        width = max(len(check.name) for check in self.checks)
        lines = []
        for check in self.checks:
            lines.append(f"{check.status:<8} {check.name:<{width}}  {check.found}")
            lines += [
                f"{'':8} {'':{width}}  {text}" for text in filter(None, (check.meaning, check.command and f"$ {check.command}"))
            ]
        can = [name for name, is_possible in (("the host toolchain", self.host), ("bisheng", self.bisheng)) if is_possible]
        lines.append(f"kernels can be built by {' and '.join(can)}" if can else "nothing can be built")
        if can:
            lines.append(f"Python modules can{'' if self.modules else 'not'} be built")
        return "".join(f"{line}\n" for line in lines)
