"""`skrules list-templates`: the new-operator templates and what they take."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from skrules.errors import UsageError
from skrules.scaffold.template import OperatorTemplate, load_template, template_paths


def declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--template-dir", type=Path, metavar="DIR", help="folder with templates of your own instead of those of skrules"
    )
    parser.add_argument("--output", choices=("json", "text"), default="json", help="text is for people (json)")


def run(options: argparse.Namespace) -> int:
    found = listing(options.template_dir)
    print("\n".join(map(_shown, found)) if options.output == "text" else json.dumps({"templates": found}, indent=2))
    return 0


def _shown(item: Mapping[str, Any]) -> str:
    """Return a listed template for people: what `--param` takes stands below its name."""
    if "error" in item:
        return f"{item['id']}: {item['error']}"
    lines = [f"{item['id']}: {item['description']}"]
    for each in item["parameters"]:
        values = ", ".join(map(str, each.get("allowed", ()))) or f"any {each['kind']}"
        default = f" ({each['default']})" if "default" in each else ""
        lines.append(f"  --param {each['name']}={values}{default}")
    return "\n".join(lines)


def listing(where: Path | None = None) -> list[dict[str, Any]]:
    """Return what is known of every template; a damaged one has `error` instead of its content."""
    items = []
    for name, path in template_paths(where).items():
        try:
            items.append(_item(load_template(name, where)))
        except UsageError as error:
            items.append({"id": name, "path": str(path), "error": str(error)})
    return items


def _item(template: OperatorTemplate) -> dict[str, Any]:
    parameters = []
    for parameter in template.parameters:
        item: dict[str, Any] = {"name": parameter.name, "kind": parameter.kind}
        if parameter.default is not None:
            item["default"] = parameter.default
        if parameter.allowed:
            item["allowed"] = list(parameter.allowed)
        parameters.append(item)
    return {
        "id": template.id,
        "description": template.description,
        "path": str(template.source),
        "parameters": parameters,
        "file_count": len(template.files),
    }
