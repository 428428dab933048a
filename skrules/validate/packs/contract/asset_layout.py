from __future__ import annotations

from pathlib import Path

from skrules.contract.tree import Node
from skrules.engine.files import bytes_of
from skrules.findings import Severity
from skrules.source.kernels import read
from skrules.validate.packs.contract._documents import Reader, checked
from skrules.validate.rule import Rule

_ONE_FILE = ("host_source", "json_spec")
_FILES = ("tiling_headers", "support_files")


def look(reader: Reader, root: Node) -> None:
    folder = reader.root_folder(root)
    seen: set[str] = set()
    for unit in reader.items(root, "operator_units", "an operator unit"):
        name = reader.text(unit, "unit_id", "an operator unit")
        if name in seen:
            reader.tell(unit, f"there are two operator units '{name}'")
        seen.add(name)
        what = f"the operator unit '{name}'"
        entry = reader.text(unit, "entry_name", what)
        source = reader.field(unit, "kernel_source")
        if source is None:
            reader.tell(unit, f"{what} has no kernel_source")
        else:
            file = reader.file(source, folder, "kernel_source")
            if file is not None and entry:
                _check_entry(reader, source, file, entry)
        for key in _ONE_FILE:
            given = reader.field(unit, key)
            if given is not None and given.value not in (None, ""):
                reader.file(given, folder, key)
        for key in _FILES:
            _check_files(reader, unit, key, folder)


def _check_entry(reader: Reader, source: Node, file: Path, entry: str) -> None:
    kernels = [kernel.name for kernel in read(bytes_of(file), file.as_posix()).kernels]
    if entry not in kernels:
        known = f"it defines {', '.join(kernels)}" if kernels else "it defines none"
        reader.tell(source, f"{source.value} has no kernel '{entry}'", known)


def _check_files(reader: Reader, unit: Node, key: str, folder: Path | None) -> None:
    listed = reader.field(unit, key)
    if listed is None or listed.value is None:
        return
    if not isinstance(listed.value, tuple):
        reader.tell(listed, f"{key} must be a list, not {listed.type_name}")
        return
    for item in listed.value:
        reader.file(item, folder, f"a file of {key}")


RULE: Rule = Rule(
    id="contract.asset-layout",
    severity=Severity.BLOCKER,
    category="contract",
    title="the layout of an asset speaks of files and kernels that are there",
    explanation="operator-asset-layout.json names the operator units of an asset: their kernel, its source, and what belongs to "
    "it. Everything in it is checked against the files, and every violation is told at its place, not only the first.",
    source="the published operator-asset-layout.json of graph-autofusion: https://gitcode.com/cann/graph-autofusion",
    bad="""{
  "schema_version": 1,
  "status": "ready",
  "asset_root": ".",
  "operator_units": [{"unit_id": "scale", "entry_name": "shift", "kernel_source": "scale.asc"}]
}
""",
    good="""{
  "schema_version": 1,
  "status": "ready",
  "asset_root": ".",
  "operator_units": [{"unit_id": "scale", "entry_name": "scale", "kernel_source": "scale.asc", "support_files": []}]
}
""",
    check=checked(lambda: RULE, "layout", look),
)
