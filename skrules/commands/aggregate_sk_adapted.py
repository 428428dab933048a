"""`skrules aggregate-sk-adapted`: several adapted operators become one package."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from skrules.aclgraph.entry import PackageEntry
from skrules.aclgraph.manifest import COMPLETED, DOCUMENT, package_entry
from skrules.aclgraph.package import IMPORT_PACKAGE, LAYOUT, TREE, Package, render_package
from skrules.arch_file import load_archs
from skrules.commands.adapt_sk_from_global import check_package, declare_package
from skrules.commands.files import OutputFolder, json_bytes, read_object
from skrules.engine.files import bytes_of
from skrules.errors import UsageError, did_you_mean

_CONFIG_FLAGS = ("compile_options", "compile_definitions", "link_libraries", "link_options")
_CONFIG_LISTS = (*_CONFIG_FLAGS, "include_dirs", "force_includes", "link_dirs", "package_files")
_CONFIG_TABLES = ("build_env", "runtime_env")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Adapted:
    """One output of adapt-sk-from-global."""

    root: Path
    manifest: dict[str, Any]
    entries: tuple[PackageEntry, ...]


def declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--adapted-output-dir", type=Path, action="append", required=True, metavar="DIR", help="repeat for each operator"
    )
    parser.add_argument("--output-dir", type=Path, required=True, help="folder to fill; it must be empty or not exist yet")
    declare_package(parser, "--aggregate-wheel-name")
    parser.add_argument("--operator-build-config-resolved", type=Path, metavar="FILE", help="further flags for the build, JSON")


def run(options: argparse.Namespace) -> int:
    check_package(options)
    adapted = [_read(root) for root in options.adapted_output_dir]
    entries = tuple(entry for each in adapted for entry in each.entries)
    _check_names(adapted)
    given = options.operator_build_config_resolved
    config = read_config(given) if given else {}
    report = next((each.manifest["name_resolution"] for each in adapted if _has_report(each.manifest)), None)
    extra = {f"_resources/{Path(path).name}": bytes_of(Path(path)) for path in config.get("package_files", [])}
    if report:
        extra["_name_resolution.json"] = json_bytes(report)
    package = Package(
        name=options.package_name, version=options.package_version, entries=entries, build_config=config, resources=extra
    )
    archs = load_archs()
    tree = render_package(package, archs, f"{IMPORT_PACKAGE}_lib")
    for each in adapted:
        tree |= _sources(each)
    document = _manifest(adapted, tree, options, config, report)
    with OutputFolder(options.output_dir, empty=True) as output:
        output.publish({**{f"{TREE}/{path}": data for path, data in tree.items()}, DOCUMENT: json_bytes(document)})
    names = [entry.name for entry in entries]
    print(
        json.dumps(
            {
                "status": COMPLETED,
                "package_name": options.package_name,
                "package_version": options.package_version,
                "entries": names,
            }
        )
    )
    return 0


def read_adapted(root: Path) -> dict[str, Any]:
    """Return the manifest of an adapted operator or of a package of them. Raises UsageError when it is not completed."""
    path = root / DOCUMENT
    manifest = read_object(path)
    if manifest.get("status") != COMPLETED:
        hint = "settle its findings and adapt it again"
        raise UsageError(f"{root} is not completed, its status is {manifest.get('status')}", hint=hint)
    if manifest.get("pybind_layout") != LAYOUT or not (root / TREE).is_dir():
        raise UsageError(f"{root} has no {LAYOUT} tree", hint="give a contract, so that its entries are bound to Python")
    return manifest


def _read(root: Path) -> _Adapted:
    path, manifest = root / DOCUMENT, read_adapted(root)
    try:
        items = [item for file in manifest["per_file"] for item in file["entries"]]
    except (KeyError, TypeError) as error:
        raise UsageError(f"{path} has no entries: {error!r}") from error
    return _Adapted(root=root, manifest=manifest, entries=tuple(package_entry(item, str(path)) for item in items))


def _check_names(adapted: Sequence[_Adapted]) -> None:
    """A public name, and a source that carries the name of its first entry, belongs to one operator."""
    owners: dict[str, Path] = {}
    for each in adapted:
        for entry in each.entries:
            if entry.name in owners:
                raise UsageError(
                    f"duplicate kernel entry across adapted outputs: {entry.name}",
                    notes=[f"in {owners[entry.name]}", f"in {each.root}"],
                    hint="give one of them a public_entry_name in its contract",
                )
            owners[entry.name] = each.root


def _sources(adapted: _Adapted) -> dict[str, bytes]:
    """Return the kernels and headers of one operator; the files that all share are made anew."""
    own = {entry.csrc_file for entry in adapted.entries}
    supports = tuple(f"csrc/_support/{PurePosixPath(name).stem}/" for name in own)
    tree = adapted.root / TREE
    files = {}
    for path in sorted(tree.rglob("*")):
        name = path.relative_to(tree).as_posix()
        if path.is_file() and (name in own or name.startswith(supports)):
            files[name] = bytes_of(path)
    missing = sorted(own - files.keys())
    if missing:
        raise UsageError(f"{tree} has no {', '.join(missing)}", hint="adapt the operator again")
    return files


def read_config(path: Path) -> dict[str, Any]:
    """Read the resolved build config: lists of flags and folders, and variables for the compiler. Raises UsageError."""
    config = read_object(path)
    known = (*_CONFIG_LISTS, *_CONFIG_TABLES, "schema_version")
    for key in config:
        if key not in known:
            raise UsageError(f"{path}: unknown key '{key}'", allowed=known, hint=did_you_mean(key, known))
    lists = [config.get(key, []) for key in _CONFIG_LISTS]
    tables = [config.get(key, {}) for key in _CONFIG_TABLES]
    texts = [word for words in lists if isinstance(words, list) for word in words]
    texts += [word for table in tables if isinstance(table, dict) for pair in table.items() for word in pair]
    right = all(isinstance(words, list) for words in lists) and all(isinstance(table, dict) for table in tables)
    if not right or not all(isinstance(word, str) for word in texts):
        raise UsageError(f"{path} must hold lists of texts, and tables of texts for build_env and runtime_env")
    return config


def _has_report(manifest: dict[str, Any]) -> bool:
    report = manifest.get("name_resolution")
    return isinstance(report, dict) and report.get("policy") not in (None, "none")


def _manifest(
    adapted: Sequence[_Adapted], tree: dict[str, bytes], options: argparse.Namespace, config: dict[str, Any], report: Any
) -> dict[str, Any]:
    files = []
    for each in adapted:
        label = Path(each.manifest["asset_path"]).name
        for file in each.manifest["per_file"]:
            files.append({**file, "file": f"{label}/{file['file']}", "source_asset": each.manifest["asset_path"]})
    chips = [chip for each in adapted for chip in str(each.manifest.get("target_chips", "")).split(",") if chip]
    return {
        "status": COMPLETED,
        "aggregate": True,
        "asset_paths": [each.manifest["asset_path"] for each in adapted],
        "adapted_dir": str((options.output_dir / TREE).resolve()),
        "package_name": options.package_name,
        "python_package": IMPORT_PACKAGE,
        "package_version": options.package_version,
        "pybind_layout": LAYOUT,
        "pybind_module": f"{IMPORT_PACKAGE}_lib",
        "canonical_written_files": [f"{TREE}/{path}" for path in sorted(tree)],
        "target_chips": ",".join(dict.fromkeys(chips)),
        "operator_build_config": config,
        "operator_package_files": list(config.get("package_files", [])),
        "name_resolution": report or {"policy": "none", "renamed_entry_count": 0, "resolutions": []},
        "per_file": files,
        "ignored_support_files": [],
        "escalations": [],
    }
