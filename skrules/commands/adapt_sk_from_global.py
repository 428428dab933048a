"""`skrules adapt-sk-from-global`: an asset becomes the aclgraph-canonical tree, or a list of what is to be decided."""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from skrules.aclgraph.manifest import (
    COMPLETED,
    DOCUMENT,
    NEEDS_HUMAN,
    entry_json,
    escalation,
    inline_remediations,
)
from skrules.aclgraph.package import IMPORT_PACKAGE, LAYOUT, TREE, Package, render_package
from skrules.aclgraph.support import SupportDir
from skrules.arch_file import load_archs
from skrules.commands.adaptation import AdaptedFile, Request, adapt_asset, add_files, source_files
from skrules.commands.asset import asset_root, read_asset
from skrules.commands.files import OutputFolder, json_bytes
from skrules.commands.public_names import NO_REPORT, NameResolution, load_names, load_understanding
from skrules.commands.telling import declare_findings, tell
from skrules.contract.load import load
from skrules.contract.model import SuperKernelDecision
from skrules.engine.files import bytes_of
from skrules.errors import UsageError
from skrules.findings import blockers

_DIR_NAME = re.compile(r"[A-Za-z0-9_.-]+\Z")
_DISTRIBUTION = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?\Z")
_VERSION = re.compile(r"[0-9][A-Za-z0-9.!+_-]*\Z")
_DEFAULTS = SuperKernelDecision()


def declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("asset", type=Path, metavar="ASSET", help="a kernel file, or a folder with .asc and .cpp files")
    parser.add_argument("--output-dir", type=Path, required=True, help=f"folder for {DOCUMENT} and {TREE}/")
    parser.add_argument("--io-contract", type=Path, help="the operator's contract, JSON or YAML")
    parser.add_argument("--mask", type=int, choices=range(8), help="capability bits of SK_BIND, 0..7 (4: disable DCCI)")
    parser.add_argument("--num-splits", type=int, choices=range(1, 5), help="SK functions to bind, 1..4 (4)")
    parser.add_argument("--with-sys-args", choices=("auto", "always", "never"), help="inject sk::SkSystemArgs (auto)")
    parser.add_argument(
        "--support-dir", action="append", default=[], metavar="[NAME=]PATH", help="headers that are included as NAME/..."
    )
    parser.add_argument("--name-resolution", type=Path, help="public names of entries, JSON")
    parser.add_argument("--source-asset", type=Path, help="the asset that the name resolution knows, when ASSET is a copy of it")
    parser.add_argument("--understanding", type=Path, help="operator-asset-understanding.json: chips the entries are for")
    parser.add_argument("--target-chip", default="", help="chips the package is for, comma separated; recorded")
    declare_package(parser, "--package-name")
    declare_findings(parser, "standard output")


def declare_package(parser: argparse.ArgumentParser, name_option: str) -> None:
    parser.add_argument(
        name_option, dest="package_name", default=IMPORT_PACKAGE, help=f"name of the distribution ({IMPORT_PACKAGE})"
    )
    parser.add_argument("--package-version", default="0.1.0", help="version of the distribution (0.1.0)")


def check_package(options: argparse.Namespace) -> None:
    """Raise UsageError for a name or version that no wheel can have."""
    if not _DISTRIBUTION.match(options.package_name):
        raise UsageError(f"'{options.package_name}' cannot name a distribution", hint="letters, digits, '.', '-' and '_'")
    if not _VERSION.match(options.package_version):
        raise UsageError(f"'{options.package_version}' is no version", hint="such as 0.1.0")


def run(options: argparse.Namespace) -> int:
    check_package(options)
    for chip in _chips(options.target_chip):
        load_archs().arch_of_chip(chip)
    contract = load(bytes_of(options.io_contract), str(options.io_contract)) if options.io_contract else None
    dirs = support_dirs(options.support_dir, asset_root(options.asset))
    asset = read_asset(options.asset, options.output_dir, contract.macros if contract else {}, dirs)
    names = load_names(options.name_resolution, options.source_asset or options.asset)
    request = Request(
        asset=asset,
        contract=contract,
        decisions={key: value for key in ("mask", "num_splits", "with_sys_args") if (value := getattr(options, key)) is not None},
        support_dirs=tuple(dirs),
        names=names,
        targets=load_understanding(options.understanding),
    )
    with OutputFolder(options.output_dir, trees=(TREE,)) as output:
        files = adapt_asset(request)
        findings = tuple(dict.fromkeys(finding for file in files for finding in file.findings))
        complete = not blockers(findings)
        tree = _tree(files, options, names) if complete else {}
        document = _manifest(files, tree, request, options)
        output.publish({**{f"{TREE}/{path}": data for path, data in tree.items()}, DOCUMENT: json_bytes(document)})
    return tell(str(options.asset), findings, options, sys.stdout)


def _chips(text: str) -> list[str]:
    return [word.strip() for word in re.split(r"[,;]", text) if word.strip()]


def support_dirs(words: Sequence[str], asset: Path) -> list[SupportDir]:
    """Read `[NAME=]PATH` words. Raises UsageError for a folder that cannot be one for the asset in the folder `asset`."""
    dirs: list[SupportDir] = []
    for word in words:
        name, equals, text = word.partition("=")
        path = Path(text if equals else word)
        name = name if equals else path.name
        root, folder = asset.resolve(), path.resolve()
        if not _DIR_NAME.match(name) or name in (".", "..", "_dirs"):
            raise UsageError(f"--support-dir {word}: '{name}' cannot name a folder", hint="letters, digits, '.', '-' and '_'")
        if any(each.name == name for each in dirs):
            raise UsageError(f"--support-dir {word}: there is a '{name}' already")
        if not path.is_dir() or not any(file.is_file() for file in path.rglob("*")):
            raise UsageError(f"--support-dir {word}: there is no folder with files")
        if folder.is_relative_to(root) or root.is_relative_to(folder):
            raise UsageError(f"--support-dir {word}: it must be neither inside of the asset nor above it")
        dirs.append(SupportDir(name=name, path=path))
    return dirs


def _tree(files: Sequence[AdaptedFile], options: argparse.Namespace, names: NameResolution) -> dict[str, bytes]:
    made = source_files(files)
    entries = tuple(entry for file in files for entry in file.packaged)
    if not entries:
        return made
    package = Package(
        name=options.package_name,
        version=options.package_version,
        entries=entries,
        resources={"_name_resolution.json": json_bytes(names.report)} if names.report else {},
    )
    shared = render_package(package, load_archs(), f"{entries[0].name}_sk_pkg_lib")
    add_files(made, shared)
    return made


def _manifest(
    files: Sequence[AdaptedFile], tree: dict[str, bytes], request: Request, options: argparse.Namespace
) -> dict[str, Any]:
    entries = [entry for file in files for entry in file.packaged]
    findings = tuple(dict.fromkeys(finding for file in files for finding in file.findings))
    packaged = bool(tree) and bool(entries)
    return {
        "status": NEEDS_HUMAN if blockers(findings) else COMPLETED,
        "asset_path": str(options.asset.resolve()),
        "adapted_dir": str((options.output_dir / TREE).resolve()) if tree else None,
        "pybind_layout": LAYOUT if packaged else None,
        "pybind_module": f"{entries[0].name}_sk_pkg_lib" if packaged else None,
        "package_name": options.package_name,
        "package_version": options.package_version,
        "python_package": IMPORT_PACKAGE,
        "canonical_written_files": [f"{TREE}/{path}" for path in sorted(tree)],
        "template_specializations": [entry.bind_target for file in files for entry in _specialised(file)],
        "mask": request.decisions.get("mask", _DEFAULTS.mask),
        "num_splits": request.decisions.get("num_splits", _DEFAULTS.num_splits),
        "with_sys_args": request.decisions.get("with_sys_args", _DEFAULTS.with_sys_args),
        "target_chips": ",".join(_chips(options.target_chip)),
        "name_resolution": dict(request.names.report or NO_REPORT),
        "per_file": [_file(file, request.names, packaged=packaged) for file in files],
        "support_directories": [_fingerprints(each) for each in request.support_dirs],
        "ignored_support_files": [{"file": each.file, "reason": each.reason} for each in request.asset.ignored],
        "escalations": [escalation(finding) for finding in blockers(findings)],
        "findings": [finding.to_json() for finding in findings],
    }


def _specialised(file: AdaptedFile) -> list[Any]:
    return [each.entry for each in file.adapted.entries if each.entry.template_arguments]


def _file(file: AdaptedFile, names: NameResolution, *, packaged: bool) -> dict[str, Any]:
    done = file.status != NEEDS_HUMAN
    document = {
        "file": file.source.file,
        "status": file.status,
        "form_before": str(file.source.form.form),
        "form_after": "current-sk-bind" if done else str(file.source.form.form),
        "entries": [
            entry_json(adapted, entry, names.details(adapted.entry))
            for adapted, entry in zip(file.adapted.entries, file.packaged, strict=True)
        ]
        if packaged
        else [],
        "inline_remediations": inline_remediations(file.source.file, file.findings),
        "escalations": [escalation(finding) for finding in blockers(file.findings)],
    }
    if done and (packaged or file.is_passed_through):
        document["pybind_layout"] = "source-passthrough" if file.is_passed_through else LAYOUT
    return document


def _fingerprints(each: SupportDir) -> dict[str, Any]:
    files = sorted(path for path in each.path.rglob("*") if path.is_file())
    sums = {path.relative_to(each.path).as_posix(): hashlib.sha256(bytes_of(path)).hexdigest() for path in files}
    return {"name": each.name, "path": str(each.path.resolve()), "sha256": sums}
