"""`skrules generate-standalone-compare`: adapted operators become a CMake project that compares them on a device."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skrules.aclgraph.bound import bound_entry
from skrules.aclgraph.entry import PackageEntry
from skrules.aclgraph.manifest import DOCUMENT as ADAPTED
from skrules.aclgraph.package import TREE as ADAPTED_TREE
from skrules.arch_file import load_archs
from skrules.commands.aggregate_sk_adapted import read_adapted, read_config
from skrules.commands.files import OutputFolder, json_bytes
from skrules.compare.subject import Subject
from skrules.contract.entry import Entry
from skrules.engine.files import bytes_of
from skrules.errors import NeedsHuman, ToolchainError, UsageError
from skrules.standalone.fixtures import SUPPORT, Found, find_fixtures, subject_of, write_fixtures
from skrules.standalone.project import CMAKE, TREE, Source, render_project, target_names

DOCUMENT = "operator-sk-standalone-verify.json"
GENERATED = "generated"
NEEDS_TARGET_ARCH = "needs-target-arch"
_REASONS = {
    "missing-npu-arch-and-target-chip": "neither --npu-arch nor --target-chip says what it is built for",
    "unsupported-target-chip": "chips that are not known: {}",
    "ambiguous-target-chip-arches": "the chips are of several archs: {}",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bound:
    """An entry of the package, and what its own folder of fixtures may be called."""

    entry: Entry
    packaged: PackageEntry
    names: tuple[str, ...]


def declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("adapted", type=Path, metavar="DIR", help="output of aggregate-sk-adapted or adapt-sk-from-global")
    parser.add_argument("--output-dir", type=Path, required=True, help=f"folder for {DOCUMENT} and {TREE}/")
    parser.add_argument("--runtime-fixture-dir", type=Path, metavar="DIR", help="folder with a folder of cases for each entry")
    parser.add_argument("--target-chip", default="", help="chips it is for, comma separated: they must be of one arch")
    parser.add_argument("--npu-arch", default="", help="arch to build for, goes before --target-chip")
    parser.add_argument("--operator-build-config-resolved", type=Path, metavar="FILE", help="further flags for the build, JSON")


def run(options: argparse.Namespace) -> int:
    target = _resolve_arch(options.npu_arch, options.target_chip)
    manifest, root = read_adapted(options.adapted), options.adapted / ADAPTED_TREE
    given = options.operator_build_config_resolved
    config = read_config(given) if given else manifest.get("operator_build_config") or {}
    bound = _bound_entries(manifest, str(options.adapted / ADAPTED))
    subjects = {each.entry.name: subject_of(each.entry) for each in bound}
    names = {each.entry.name: each.names for each in bound}
    with OutputFolder(options.output_dir, trees=(TREE,)) as output:
        found = find_fixtures(options.runtime_fixture_dir, names, subjects)
        sources = _sources(bound, root, options.runtime_fixture_dir, subjects, found)
        files = render_project(sources, target["npu_arch"] or "", config)
        document = _document(options, target, config, sources, found)
        output.publish({**{f"{TREE}/{path}": data for path, data in files.items()}, DOCUMENT: json_bytes(document)})
    for name in subjects:
        if name not in found:
            sys.stderr.write(f"warning: no fixture says what '{name}' is run on; its comparison will be skipped, not passed\n")
    if target["status"] != "resolved":
        hint = f"--npu-arch, one of: {', '.join(load_archs().names())}"
        raise NeedsHuman(f"{options.output_dir / TREE} has no {CMAKE}: {document['message']}", hint=hint)
    print(json.dumps({"status": GENERATED, "npu_arch": target["npu_arch"], "entries": list(subjects)}))
    return 0


def _resolve_arch(npu_arch: str, target_chip: str) -> dict[str, Any]:
    """Resolve what the project is built for, as the document says it. Raises ToolchainError for an unknown --npu-arch, and
    UsageError for one that no chip of --target-chip has."""
    table = load_archs()
    resolved, unsupported = [], []
    for chip in [word.strip() for word in re.split(r"[,;]", target_chip) if word.strip()]:
        try:
            resolved.append({"chip": chip, "npu_arch": table.arch_of_chip(chip).name})
        except ToolchainError:
            unsupported.append(chip)
    archs = list(dict.fromkeys(each["npu_arch"] for each in resolved))
    common = {"target_chip": target_chip, "resolved": resolved, "unsupported": unsupported}
    if npu_arch:
        arch = table.arch(npu_arch).name
        if archs and arch not in archs:
            raise UsageError(f"--npu-arch {arch} is not the arch of --target-chip {target_chip}: {', '.join(archs)}")
        return {"status": "resolved", "npu_arch": arch, "source": "explicit-npu-arch", **common}
    if unsupported:
        reason, what = "unsupported-target-chip", unsupported
    elif len(archs) > 1:
        reason, what = "ambiguous-target-chip-arches", archs
    elif not archs:
        reason, what = "missing-npu-arch-and-target-chip", []
    else:
        return {"status": "resolved", "npu_arch": archs[0], "source": "target-chip-source-backed", **common}
    message = _REASONS[reason].format(", ".join(what))
    return {"status": NEEDS_TARGET_ARCH, "npu_arch": None, "source": None, "reason": reason, "message": message, **common}


def _bound_entries(manifest: dict[str, Any], path: str) -> list[_Bound]:
    from skrules.aclgraph.manifest import package_entry

    bound = []
    for file in manifest["per_file"]:
        asset = Path(str(file.get("source_asset") or manifest.get("asset_path", ""))).name
        for item in file["entries"]:
            packaged = package_entry(item, path)
            names = (packaged.name, Path(packaged.csrc_file).stem, asset)
            bound.append(
                _Bound(entry=bound_entry(item, path), packaged=packaged, names=tuple(dict.fromkeys(filter(None, names))))
            )
    if not bound:
        raise UsageError(f"{path} has no entries that could be run", hint="give a contract when the operator is adapted")
    return bound


def _sources(
    bound: Sequence[_Bound], root: Path, fixtures: Path | None, subjects: dict[str, Subject], found: dict[str, Found]
) -> list[Source]:
    paths = list(dict.fromkeys(each.packaged.csrc_file for each in bound))
    targets = target_names(paths)
    if len(set(targets.values())) < len(paths):
        raise UsageError(
            f"the sources {', '.join(paths)} would become programs of one name", hint="give their entries other names"
        )
    sources = []
    for path in paths:
        own = [each for each in bound if each.packaged.csrc_file == path]
        stem = Path(path).stem
        mine = [subjects[each.entry.name] for each in own]
        support = {f"csrc/_support/{stem}/{name}": data for name, data in _below(root / "csrc" / "_support" / stem).items()}
        if fixtures:
            support |= {f"csrc/{stem}/{name}": data for name, data in _below(fixtures / stem / SUPPORT).items()}
        sources.append(
            Source(
                path=path,
                text=bytes_of(root / path),
                target=targets[path],
                entries=tuple(each.entry for each in own),
                packaged=tuple(each.packaged for each in own),
                fixtures=write_fixtures(stem, mine, found),
                support=support,
            )
        )
    return sources


def _below(folder: Path) -> dict[str, bytes]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): bytes_of(path) for path in files}


def _document(
    options: argparse.Namespace,
    target: dict[str, Any],
    config: dict[str, Any],
    sources: Sequence[Source],
    found: dict[str, Found],
) -> dict[str, Any]:
    is_resolved = target["status"] == "resolved"
    fixtures = {
        entry.name: {
            "status": "available",
            "path": str(found[entry.name].path),
            "device_runnable": True,
            "cases": [case.name for case in found[entry.name].cases],
            "reference": found[entry.name].reference,
        }
        if entry.name in found
        else {"status": "insufficient", "path": "", "device_runnable": False, "reason": "no-runtime-fixture"}
        for source in sources
        for entry in source.entries
    }
    document: dict[str, Any] = {
        "status": GENERATED if is_resolved else NEEDS_TARGET_ARCH,
        "aggregate_output_dir": str(options.adapted.resolve()),
        "standalone_verify_dir": str((options.output_dir / TREE).resolve()),
        "target_chip": options.target_chip,
        "npu_arch": target["npu_arch"],
        "target_arch_resolution": {key: value for key, value in target.items() if key not in ("reason", "message")},
        "operator_build_config": config,
        "runtime_compare": f"{TREE}/runtime_compare.asc",
        "runtime_sources": {source.target: f"{TREE}/runtime_compare.asc" for source in sources},
        "entry_targets": {entry.name: source.target for source in sources for entry in source.entries},
        "cmake": f"{TREE}/{CMAKE}" if is_resolved else "",
        "copied_sources": [f"{TREE}/{source.place}" for source in sources],
        "copied_support": [f"{TREE}/{path}" for source in sources for path in source.support],
        "entries": [entry.name for source in sources for entry in source.entries],
        "runtime_fixtures": fixtures,
    }
    return document if is_resolved else {**document, "reason": target["reason"], "message": target["message"]}
