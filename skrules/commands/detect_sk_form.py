"""`skrules detect-sk-form`: which form the sources of an asset have, with the evidence."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from skrules.commands.asset import Asset, AssetSource, read_asset
from skrules.commands.files import OutputFolder, json_bytes
from skrules.source.form import overall

DOCUMENT = "operator-sk-form-analysis.json"

# What the public document calls an unsupported signal: forms of super kernels that came before SK_BIND.
_UNSUPPORTED = frozenset({"__spk__", "FunLevelKType", "FunLevelMixCoreType", ".ascend.meta"})


def declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("asset", type=Path, metavar="ASSET", help="a kernel file, or a folder with .asc and .cpp files")
    parser.add_argument("--output-dir", type=Path, required=True, help=f"folder for {DOCUMENT}")


def run(options: argparse.Namespace) -> int:
    asset = read_asset(options.asset, options.output_dir)
    with OutputFolder(options.output_dir) as output:
        output.publish({DOCUMENT: json_bytes(analysis(asset))})
    return 0


def analysis(asset: Asset) -> dict[str, Any]:
    """Return the document: the published fields, and for each file its markers, kernels and findings."""
    return {
        "status": "analyzed",
        "asset_path": str(asset.path.resolve()),
        "overall_form": str(overall(tuple(source.form for source in asset.sources))),
        "per_file": [_file(source) for source in asset.sources],
        "ignored_support_files": [{"file": each.file, "reason": each.reason} for each in asset.ignored],
    }


def _file(source: AssetSource) -> dict[str, Any]:
    form = source.form
    names = {marker.name for marker in form.markers}
    return {
        "file": source.file,
        "form": str(form.form),
        "has_global": source.has_global,
        "has_sk_keyword": "__sk__" in names,
        "has_sk_bind": "SK_BIND" in names,
        "has_unsupported_sk_signal": bool(names & _UNSUPPORTED),
        "notes": list(form.notes),
        "bound_kernels": list(form.bound),
        "unbound_kernels": list(form.unbound),
        "markers": [
            {
                "name": marker.name,
                "file": source.file,
                "line": marker.line,
                "column": marker.column,
                "confidence": str(marker.confidence),
                "legacy": marker.is_legacy,
            }
            for marker in form.markers
        ],
        "findings": [finding.to_json() for finding in source.unit.findings],
    }
