"""The Python side of the tree: pybind11 sources, the import package, setup.py."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skrules.aclgraph.entry import PackageEntry
from skrules.aclgraph.host import HEADER, declarations
from skrules.aclgraph.templates import directory, render
from skrules.arch import ArchTable
from skrules.binding import templates

#: What Python imports, whatever the distribution is called.
IMPORT_PACKAGE = "op_extension"
TREE = "operator-sk-adapted"
LAYOUT = "aclgraph-canonical"
_VERBS = ("run", "prepare")
_DOCS = {"run": "AscendC SK operator", "prepare": "Before a graph is captured, prepare the descriptors of"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """`name` is that of the distribution; `resources` are files below the import package, by their path in it."""

    name: str
    version: str
    entries: tuple[PackageEntry, ...]
    build_config: Mapping[str, Any] = field(default_factory=dict)
    resources: Mapping[str, bytes] = field(default_factory=dict)


def render_package(package: Package, archs: ArchTable, module: str) -> dict[str, bytes]:
    """Return the files that all entries share, by their path in the tree; `module` names the module of all of them."""
    names = {entry.name: _VERBS if entry.prepares else _VERBS[:1] for entry in package.entries}
    inside = {
        "__init__.py": render("init.py.j2", {"package": package.name, "entries": names, "docs": _DOCS}),
        "_arch_selector.py": render("arch_selector.py.j2", {"entries": _declared(package.entries), "archs": _archs(archs)}),
        "_torch_library.py": render("torch_library.py.j2", {"entries": _operators(package.entries)}),
    }
    files = {f"csrc/{HEADER}": (directory() / HEADER).read_bytes()}
    if any(entry.wrapped for entry in package.entries):
        files |= {f"csrc/{path.name}": path.read_bytes() for path in _wrapper_headers()}
    files["csrc/pybind11.asc"] = _pybind(package.entries, f"All entries of {package.name}, for reference", module)
    for entry in package.entries:
        files[entry.pybind_file] = _pybind([entry], f"The native module of {entry.name}", entry.name)
    files |= {f"{IMPORT_PACKAGE}/{name}": text.encode() for name, text in inside.items()}
    files |= {f"{IMPORT_PACKAGE}/{name}": data for name, data in package.resources.items()}
    files["setup.py"] = _setup(package)
    return files


def _pybind(entries: Sequence[PackageEntry], what: str, module: str) -> bytes:
    values = [
        {
            "name": entry.name,
            "heads": declarations(entry),
            "verbs": _VERBS if entry.prepares else _VERBS[:1],
            "parameters": [parameter.name for parameter in entry.parameters],
        }
        for entry in entries
    ]
    shape = {"what": what, "entries": values, "module": module, "docs": _DOCS}
    return render("pybind11.asc.j2", shape).encode("latin-1")


def _wrapper_headers() -> tuple[Path, ...]:
    """Return what entries with a runtime wrapper include; the wrapper's own header is the one that a build has."""
    binding = templates.directory()
    return (directory() / "ascendc_wrapper.h", binding / "skrules_wrapper.h", binding / "skrules_descriptor.h")


def _declared(entries: Sequence[PackageEntry]) -> dict[str, list[str]]:
    return {entry.name: list(entry.target.get("supported_arches", ())) for entry in entries}


def _archs(table: ArchTable) -> dict[str, tuple[list[str], list[int]]]:
    return {arch.name: ([*arch.families, *(chip.name for chip in arch.chips)], sorted(arch.soc_versions)) for arch in table.archs}


def _operators(entries: Sequence[PackageEntry]) -> dict[str, tuple[str, str, int | None, bool]]:
    return {entry.name: (entry.schema, entry.launch_schema, entry.return_index, entry.has_device) for entry in entries}


def _setup(package: Package) -> bytes:
    specs = [
        {
            "entry_name": entry.name,
            "module_base": entry.name,
            "csrc_file": entry.csrc_file,
            "pybind_file": entry.pybind_file,
            "extra_sources": [],
            "quote_dirs": list(entry.quote_dirs),
            "supported_arches": list(entry.target.get("supported_arches", ())),
            "supported_soc_versions": list(entry.target.get("supported_soc_versions", ())),
            "target_resolution": dict(entry.target.get("target_resolution", {})),
            "support_source": entry.target.get("support_source", ""),
            "compile_defines": list(entry.defines),
            "compile_options": list(entry.options),
        }
        for entry in package.entries
    ]
    return render(
        "setup.py.j2",
        {
            "package": IMPORT_PACKAGE,
            "name": package.name,
            "version": package.version,
            "description": f"AscendC operators: {', '.join(entry.name for entry in package.entries)}",
            "entry_specs": specs,
            "build_config": dict(package.build_config),
            "package_data": sorted(package.resources),
        },
    ).encode()
