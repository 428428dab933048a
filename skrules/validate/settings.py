"""What a workspace decides about rules: severities, its own rules, and what is known of an existing tree."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skrules.contract.document import read_document
from skrules.contract.reading import Problems, read
from skrules.contract.schema import Key, ListOf, MapOf, Table, Text
from skrules.errors import Location, UsageError, did_you_mean
from skrules.findings import Severity

OFF = "off"

#: The keys of a settings file, for its reader and its reference page.
SETTINGS = Table(
    keys=(
        Key(
            name="severity",
            type=MapOf(
                key=Text(what="the id of a rule", pattern=r"[a-z][a-z0-9.-]*"),
                value=Text(allowed=(*Severity, OFF)),
                noun="a rule",
            ),
            doc="how much a rule stops: a blocker ends its operator's build, a warning is shown, a note is listed by "
            "`scons validate`; off: the rule is not asked",
        ),
        Key(
            name="baseline",
            type=Text(what="a path", pattern=r"(?!/)[^\x00-\x1f\\]+"),
            doc="a file with findings that are known and not told any more, beside this one; `skrules write-baseline` makes it",
        ),
        Key(
            name="rules",
            type=ListOf(item=Text(what="a path", pattern=r"(?!/)[^\x00-\x1f\\]+"), unique=True),
            doc="Python files with rules of the workspace, beside this one, each with a RULE",
        ),
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """`severity` maps rule ids to a severity, or to None for a rule that is not asked. `baseline` and `rules` are paths as
    written, relative to the folder of the file. `places` are those of the severities."""

    path: str = ""
    severity: Mapping[str, Severity | None] = field(default_factory=dict)
    baseline: str = ""
    rules: tuple[str, ...] = ()
    places: Mapping[str, Location] = field(default_factory=dict)

    def check(self, known: Collection[str]) -> None:
        """Raise UsageError for a severity of a rule that does not exist."""
        for rule in self.severity:
            if rule not in known:
                at = self.places.get(rule, Location(file=self.path))
                raise UsageError(f"there is no rule '{rule}'", at=at, hint=did_you_mean(rule, known))


DEFAULTS = Settings()


def load_settings(data: bytes, path: str) -> Settings:
    """Read a settings file, YAML or JSON. Raises UsageError (`DocumentErrors`): every error of the file at once."""
    problems = Problems()
    root = read(read_document(path, data), SETTINGS, problems)
    problems.finish()
    assert root is not None  # what does not fit is a problem
    chosen: Mapping[str, Any] = root.value["severity"].value if "severity" in root.value else {}
    return Settings(
        path=path,
        severity={name: None if item.value == OFF else Severity(item.value) for name, item in chosen.items()},
        baseline=root.get("baseline", ""),
        rules=tuple(root.get("rules", ())),
        places={name: item.key_at for name, item in chosen.items()},
    )


def beside(settings_file: Path, name: str) -> Path:
    """Return the path that a settings file means by `name`."""
    return settings_file.parent / name
