"""`skrules validate-operator`: all rules over an asset, with the published options and documents."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from skrules.arch_file import load_archs
from skrules.commands.files import OutputFolder
from skrules.engine.files import bytes_of
from skrules.errors import Location, UsageError
from skrules.findings import Finding, Severity, blockers
from skrules.report.formats import FORMATS, Report, render, write
from skrules.validate.asset import read_asset_files
from skrules.validate.baseline import load_baseline
from skrules.validate.compat import Compat, Target
from skrules.validate.compat_file import load_compat
from skrules.validate.document import KINDS, Document, read_document_file
from skrules.validate.examination import examine
from skrules.validate.registry import load_rules, rule_texts
from skrules.validate.rule import CATEGORIES
from skrules.validate.settings import DEFAULTS, Settings, beside, load_settings
from skrules.validate.subject import Subject

DOCUMENT = "operator-validation-findings.json"
REPORT = "operator-validation-report.md"


def declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--asset", type=Path, required=True, help="a C++ file, or a folder with .asc, .cpp and .h files")
    parser.add_argument("--output-dir", type=Path, required=True, help=f"folder for {DOCUMENT} and {REPORT}")
    parser.add_argument("--layout", type=Path, metavar="FILE", help="the layout of the asset, as its adapter wrote it")
    parser.add_argument("--build-context", type=Path, metavar="FILE", help="how the asset is built, as its adapter wrote it")
    parser.add_argument("--verify-context", type=Path, metavar="FILE", help="how the asset is verified, as its adapter wrote it")
    parser.add_argument("--target-chip", metavar="CHIP", default="", help="what it is to run on: a chip, a product or an arch")
    parser.add_argument("--target-cann", metavar="VERSION", default="", help="version of CANN (any that is documented)")
    parser.add_argument("--rule-pack", choices=("all", *CATEGORIES), default="all", help="which rules are asked (all)")
    parser.add_argument("--stage", default="post-adapt", metavar="TEXT", help="a word for the document (post-adapt)")
    parser.add_argument("--iteration-index", type=int, default=0, metavar="N", help="a number for the document (0)")
    parser.add_argument("--settings", type=Path, metavar="FILE", help="severities, baseline and own rules, as of a workspace")
    parser.add_argument("--format", choices=FORMATS, default="text", help="how findings are printed (text)")


def run(options: argparse.Namespace) -> int:
    if not options.asset.exists():
        raise UsageError(f"there is no operator asset '{options.asset}'", hint="a C++ file, or a folder of them")
    settings = load_settings(bytes_of(options.settings), str(options.settings)) if options.settings else DEFAULTS
    rules = load_rules(beside(options.settings, name) for name in settings.rules)
    settings.check([rule.id for rule in rules])
    # Those of contract look at documents that are named, whatever the pack.
    categories = CATEGORIES if options.rule_pack == "all" else (options.rule_pack, "contract")
    archs = load_archs()
    compat = load_compat(archs)
    target = compat.target_of_chip(options.target_chip, archs, options.target_cann) if options.target_chip else None
    if options.target_chip and target is None:
        known = ", ".join(f"{product.id} ({product.name})" for product in compat.products)
        sys.stderr.write(f"note: nothing is known of the chip '{options.target_chip}'\n  known: {known}, their chips and archs\n")
    subject = Subject(
        files=read_asset_files(options.asset, options.output_dir),
        documents=_documents(options),
        targets=(target,) if target else (),
        compat=compat,
    )
    baseline = _baseline(options.settings, settings)
    examined = examine(
        subject,
        rules,
        settings=settings,
        baseline=baseline,
        others=_nothing_to_read(subject, options),
        categories=categories,
    )
    findings = examined.findings
    asked = [rule.id for rule in rules if rule.category == "compat"] if "compat" in categories else []
    metadata = {"compat": _compat_metadata(findings, asked, compat, target, options)} if asked else None
    root = options.asset.parent if options.asset.is_file() else options.asset
    report = Report(
        root=root,
        rules=rule_texts(rules),
        stage=options.stage,
        iteration=options.iteration_index,
        metadata=metadata,
    )
    with OutputFolder(options.output_dir) as output:
        # A name of a file may be no text.
        told = _markdown(findings, examined.allowed, examined.known).encode("utf-8", "backslashreplace")
        output.publish({DOCUMENT: render(findings, "json", report).encode(), REPORT: told})
    write(findings, options.format, report, sys.stdout)
    return 1 if blockers(findings) else 0


def _documents(options: argparse.Namespace) -> tuple[Document, ...]:
    """Return the documents that are named; when only they are asked about, all three are expected, as published."""
    given = {kind: getattr(options, kind.replace("-", "_")) for kind in KINDS}
    found = [read_document_file(kind, path) for kind, path in given.items() if path]
    if options.rule_pack == "contract":
        folder = options.asset.parent if options.asset.is_file() else options.asset
        found += [Document(kind=kind, path="", data=None, folder=folder) for kind, path in given.items() if not path]
    return tuple(found)


def _baseline(file: Path | None, settings: Settings) -> Any:
    if file is None or not settings.baseline:
        return frozenset()
    path = beside(file, settings.baseline)
    return load_baseline(bytes_of(path), str(path))


def _nothing_to_read(subject: Subject, options: argparse.Namespace) -> list[Finding]:
    """Return what is said where rules can find nothing, which is not the same as that nothing is wrong."""
    if options.rule_pack == "contract":
        return []
    rule = f"validate.{'compat' if options.rule_pack == 'compat' else 'spec'}-pack-error"
    if not subject.files:
        at = Location(file=os.fspath(options.asset))
        return [Finding(rule=rule, severity=Severity.BLOCKER, at=at, message="there is no C++ file to look at")]
    message = "the file is UTF-16, which compilers do not read, and was not looked at"
    return [
        Finding(rule=rule, severity=Severity.BLOCKER, at=Location(file=file.path), message=message, hint="save it as UTF-8")
        for file in subject.files
        if file.unit.text.startswith(("\xff\xfe", "\xfe\xff"))
    ]


def _compat_metadata(
    findings: Sequence[Finding], names: Sequence[str], compat: Compat, target: Target | None, options: argparse.Namespace
) -> dict[str, Any]:
    """Return the published `compat` block. What nothing is known of is not verified, whatever was not found."""
    found = [finding for finding in findings if finding.rule in names]
    products = target.products if target else ()
    facts = [fact for (_, product), fact in compat.facts.items() if product in {each.id for each in products}]
    applicable = [fact for fact in facts if not options.target_cann or options.target_cann in fact.cann]
    verdict = "incompatible" if blockers(found) else "requires-adaptation" if found else "not-verified"
    return {
        "rule_pack": options.rule_pack,
        "overall_verdict": verdict,
        "target_chip": options.target_chip,
        "target_cann": options.target_cann,
        "target_chip_known": target is not None,
        "target_products": [product.id for product in products],
        "recorded_cann_versions": sorted({version for product in products for version in compat.cann_versions(product.id)}),
        "source_backed_fields": sorted({fact.feature for fact in facts}),
        "applicable_source_backed_fields": sorted({fact.feature for fact in applicable}),
        "checked_rules": list(names),
        "verification": _verification(target, bool(facts), bool(applicable), options),
    }


def _verification(target: Target | None, known: bool, applicable: bool, options: argparse.Namespace) -> str:
    if not options.target_chip:
        return "no chip was named, so nothing about one was checked"
    if target is None:
        return f"no document that is known speaks of '{options.target_chip}'"
    if not applicable:
        return f"what is known of '{options.target_chip}' is not of CANN {options.target_cann}" if known else "nothing is known"
    return "checked against the documents named in toolchains/compat.yaml; what they do not speak of is not verified"


def _markdown(findings: Sequence[Finding], allowed: int, known: int) -> str:
    lines = ["# Operator validation", ""]
    lines += [f"- **{finding.severity}** `{finding.rule}` {finding.at}: {finding.message}" for finding in findings]
    if not findings:
        lines.append("No findings.")
    if allowed or known:
        lines += ["", f"Not told: {allowed} allowed in the source, {known} known already."]
    return "\n".join([*lines, ""])
