"""Finds the rules: every module of a pack has a `RULE`, and so has every file that a workspace names for its own."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import re
import traceback
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from urllib.parse import quote

from skrules.errors import Location, SkrulesError, UsageError, did_you_mean
from skrules.findings import Finding
from skrules.report.rules import Rules, RuleText
from skrules.validate import packs
from skrules.validate.rule import CATEGORIES, Rule
from skrules.validate.subject import Subject

_ADDRESS = re.compile(r"https://\S+")
_ID = re.compile(r"[a-z][a-z0-9]*(?:[.-][a-z0-9]+)+")


def load_rules(files: Iterable[Path] = ()) -> tuple[Rule, ...]:
    """Return all rules, sorted by id: those of skrules, and those of Python `files`.

    Raises UsageError, naming the file, for one that is not as it must be.
    """
    found = [(module.__name__, rule_of(module, module.__name__)) for module in _modules()]
    found += [(str(path), _guarded(rule_of(_load(path), str(path)), str(path))) for path in files]
    known: dict[str, str] = {}
    for place, rule in found:
        first = known.setdefault(rule.id, place)
        if first != place:
            raise UsageError(f"the rule '{rule.id}' is there already, in {first}", at=Location(file=place))
    return tuple(sorted((rule for _, rule in found), key=lambda rule: rule.id))


def rule_named(name: str, rules: Iterable[Rule], others: Iterable[str] = ()) -> Rule:
    """Return the rule with an id. Raises UsageError with what was perhaps meant, among `others` too."""
    by_id = {rule.id: rule for rule in rules}
    if name not in by_id:
        hint = did_you_mean(name, (*by_id, *others)) or "skrules list-rule-pack --rule-pack all lists them"
        raise UsageError(f"there is no rule '{name}'", hint=hint)
    return by_id[name]


def rule_texts(rules: Iterable[Rule]) -> Rules:
    """Return what reports say of rules, by id; `help` is the address of the public source.

    The published categories have no word for the lints of SuperKernel code: they are of the specification.
    """
    return {
        rule.id: RuleText(rule.title, rule.explanation, address_of(rule), "spec" if rule.category == "sk" else rule.category)
        for rule in rules
    }


def address_of(rule: Rule) -> str:
    """Return the address in the source of a rule, with the signs that an address may have, or "" when it names none."""
    found = _ADDRESS.search(rule.source)
    return quote(found[0], safe=":/#%?&=()") if found else ""


def rule_of(module: ModuleType, place: str) -> Rule:
    """Return the rule of a module. Raises UsageError."""
    at = Location(file=place)
    rule = getattr(module, "RULE", None)
    if not isinstance(rule, Rule):
        raise UsageError("a file of rules must have a RULE, a skrules.validate.rule.Rule", at=at)
    if not _ID.fullmatch(rule.id):
        raise UsageError(f"'{rule.id}' is no id of a rule", at=at, hint="such as sk.raw-block-variable")
    if rule.category not in CATEGORIES:
        raise UsageError(f"unknown category '{rule.category}'", at=at, allowed=CATEGORIES)
    missing = [field for field in ("title", "explanation", "source", "bad", "good") if not getattr(rule, field).strip()]
    if missing:
        raise UsageError(f"the rule '{rule.id}' has no {', '.join(missing)}", at=at)
    return rule


def _guarded(rule: Rule, place: str) -> Rule:
    """Return a rule of a workspace whose own faults are told as that. It does not end the run either: that would be an end
    without findings, which is a good one."""

    own = Path(place).absolute()

    def check(subject: Subject) -> Iterable[Finding]:
        try:
            found = list(rule.check(subject))
        except SkrulesError:
            raise
        except (Exception, SystemExit) as error:
            lines = [
                frame.lineno or 0 for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename).absolute() == own
            ]
            at = Location(file=place, line=lines[-1] if lines else 0)
            raise UsageError(f"the rule '{rule.id}' fails: {type(error).__name__}: {error}", at=at) from error
        for each in found:
            if not isinstance(each, Finding):
                raise UsageError(f"the rule '{rule.id}' gives {each!r}, which is no finding", at=Location(file=place))
        return found

    return replace(rule, check=check)


def _modules() -> list[ModuleType]:
    names = [
        module.name
        for module in pkgutil.walk_packages(packs.__path__, f"{packs.__name__}.")
        if not module.ispkg and not module.name.rpartition(".")[2].startswith("_")
    ]
    return [importlib.import_module(name) for name in names]


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"skrules_workspace_rule_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise UsageError("a rule is a Python file", at=Location(file=str(path)))
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise UsageError(f"the rule cannot be loaded: {type(error).__name__}: {error}", at=Location(file=str(path))) from error
    return module
