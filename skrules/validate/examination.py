"""Asks all rules about a subject, and takes out what is allowed in the source, switched off or known already."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence, Set
from dataclasses import dataclass, replace

from skrules.findings import Finding, Severity
from skrules.source.model import SourceUnit
from skrules.validate.baseline import Known, keys_of
from skrules.validate.rule import CATEGORIES, Rule
from skrules.validate.settings import DEFAULTS, Settings
from skrules.validate.subject import Subject
from skrules.validate.suppression import Suppression, read_suppressions

# Rules on the comments that allow: nobody allows these by a comment.
WITHOUT_REASON = "allow.without-reason"
UNKNOWN = "allow.unknown-rule"
UNUSED = "allow.unused"
_ALLOW = "allow."
# Rules on what adaptation puts right in the text that it makes, and says so: then the source is old, and nothing is stopped.
_MENDED = {"sk.sys-args-api-current": "codegen.inline-sys-args-api-current"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """`findings` in the order of files and lines; `keys` is what a baseline would know them by, where that was asked for: all
    but blockers of other rooms. `allowed` and `known` count what is not told."""

    findings: tuple[Finding, ...]
    keys: tuple[Known, ...] = ()
    allowed: int = 0
    known: int = 0


def examine(
    subject: Subject,
    rules: Sequence[Rule],
    *,
    settings: Settings = DEFAULTS,
    baseline: frozenset[Known] = frozenset(),
    others: Iterable[Finding] = (),
    keyed: bool = False,
    categories: Collection[str] = CATEGORIES,
) -> Examined:
    """Return what is to be said of a subject. `others` are findings of other rooms about the same files; `keyed` asks for what
    a baseline would know them by; of `rules` only those of `categories` are asked.

    A blocker of another room cannot be allowed, lowered or known already: without what it asks for there is no result.
    """
    asked = [rule for rule in rules if rule.category in categories and settings.severity.get(rule.id, rule.severity) is not None]
    told_before = list(others)
    mended = {(finding.rule, finding.at.file) for finding in told_before}
    own = (finding for rule in asked for finding in rule.check(subject))
    found = [*told_before, *(_unless_mended(finding, mended) for finding in own)]
    known_ids = {rule.id: rule for rule in rules}
    suppressions = [each for file in subject.files for each in read_suppressions(file.unit)]
    told, used = _without_allowed(found, suppressions, known_ids.keys())
    unasked = known_ids.keys() - {rule.id for rule in asked}
    about = _about_comments(subject, suppressions, used, known_ids, {finding.rule for finding in found}, unasked)
    told += [finding for finding in about if finding.rule not in unasked]
    told = [_with_severity(finding, settings) for finding in told if _is_on(finding, settings)]
    order = {file.path: place for place, file in enumerate(subject.files)}
    told = sorted(dict.fromkeys(told), key=lambda finding: (order.get(finding.at.file, len(order)), finding.at, finding.rule))
    allowed = sum(map(len, used.values()))
    if not baseline and not keyed:
        return Examined(findings=tuple(told), allowed=allowed)
    units = {file.path: file.unit for file in subject.files}
    kept = [
        (finding, key)
        for finding, key in zip(told, keys_of(told, units), strict=True)
        if key not in baseline or _is_firm(finding, known_ids.keys())
    ]
    return Examined(
        findings=tuple(finding for finding, _ in kept),
        keys=tuple(key for finding, key in kept if not _is_firm(finding, known_ids.keys())),
        allowed=allowed,
        known=len(told) - len(kept),
    )


def _unless_mended(finding: Finding, mended: set[tuple[str, str]]) -> Finding:
    is_mended = (_MENDED.get(finding.rule, ""), finding.at.file) in mended
    return replace(finding, severity=Severity.WARNING) if is_mended and finding.severity is Severity.BLOCKER else finding


def _is_firm(finding: Finding, own: Iterable[str]) -> bool:
    return finding.severity is Severity.BLOCKER and finding.rule not in own


def _is_on(finding: Finding, settings: Settings) -> bool:
    return settings.severity.get(finding.rule, finding.severity) is not None


def _with_severity(finding: Finding, settings: Settings) -> Finding:
    chosen = settings.severity.get(finding.rule)
    return finding if chosen is None or chosen is finding.severity else replace(finding, severity=chosen)


def _without_allowed(
    found: Iterable[Finding], suppressions: Sequence[Suppression], own: Iterable[str]
) -> tuple[list[Finding], dict[Suppression, set[str]]]:
    """Return the findings that no comment allows, and which rules each comment has allowed."""
    by_line: dict[tuple[str, int], list[Suppression]] = {}
    for suppression in suppressions:
        if suppression.reason:
            by_line.setdefault((suppression.file, suppression.line), []).append(suppression)
    told: list[Finding] = []
    used: dict[Suppression, set[str]] = {}
    for finding in found:
        here = by_line.get((finding.at.file, finding.at.line), ())
        allowing = next((each for each in here if finding.rule in each.rules), None)
        if allowing is None or _is_firm(finding, own):
            told.append(finding)
        else:
            used.setdefault(allowing, set()).add(finding.rule)
    return told, used


def _about_comments(
    subject: Subject,
    suppressions: Sequence[Suppression],
    used: dict[Suppression, set[str]],
    rules: dict[str, Rule],
    others: set[str],
    unasked: Set[str],
) -> list[Finding]:
    """Return what is wrong with the comments themselves. `others` are the rules of other rooms that found something; whether
    a comment is needed for one that is `unasked` is not known."""
    units: dict[str, SourceUnit] = {file.path: file.unit for file in subject.files}
    findings: list[Finding] = []

    def tell(rule: str, suppression: Suppression, message: str, hint: str = "") -> None:
        if rule in rules:
            findings.append(rules[rule].finding(units[suppression.file].lines.at(suppression.offset), message, hint))

    for suppression in suppressions:
        if not suppression.rules:
            tell(UNKNOWN, suppression, "the comment is not understood", "// skrules: allow(rule.id) reason")
            continue
        # Rules of other rooms are known by the first words of their ids alone.
        strange = [name for name in suppression.rules if name not in rules and name not in others and not _is_foreign(name)]
        strange += [name for name in suppression.rules if name.startswith(_ALLOW) and name in rules]
        for name in strange:
            tell(UNKNOWN, suppression, f"there is no rule '{name}' that a comment can allow", "skrules list-rule-pack lists them")
        if not suppression.reason:
            tell(WITHOUT_REASON, suppression, "the comment gives no reason, and allows nothing", "say why it is right here")
            continue
        for name in suppression.rules:
            if name not in strange and name not in unasked and name not in used.get(suppression, ()):
                tell(UNUSED, suppression, f"nothing here is against {name}: the comment can go")
    return findings


def _is_foreign(name: str) -> bool:
    return name.startswith(("codegen.", "source."))
