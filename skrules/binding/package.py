"""The Python package of a build tree: `op_extension/` with its own files beside the modules it loads."""

from __future__ import annotations

import json
from collections.abc import Mapping

from skrules.arch import ArchTable
from skrules.binding import templates
from skrules.binding.detect import TorchInfo
from skrules.toolchain.detect import VERSION_FILES, VERSION_WORDS

_FORMAT = 1


def module_name(operator: str, arch: str) -> str:
    """Return the module of one operator and arch: "add_custom", "dav-2201" -> "add_custom_dav_2201"."""
    return f"{operator}_{arch.replace('-', '_')}"


def table_name(operator: str) -> str:
    """Return the file that tells the package of an operator's entries, see `skrules.binding.schema`."""
    return f"{operator}.entries.json"


def package_paths() -> tuple[str, ...]:
    """Return the paths of `package_files`, relative to the package, `__init__.py` first."""
    return (*_sources(), "_archs.json", "_build.json")


def package_files(toolchain: str, *, torch: TorchInfo, key: Mapping[str, str], archs: ArchTable) -> dict[str, str]:
    """Return the text of every file of the package that no operator owns, by its path in it.

    `toolchain` is "bisheng" or "host" and `key` its own key, of which the part "toolkit" is the version of CANN.

    They list no modules, so they are the same whichever operators a build was asked for: each operator has a table beside
    its modules, and those that are there are found.
    """
    files = {name: (templates.directory() / "package" / name).read_text(encoding="utf-8") for name in _sources()}
    emulated = toolchain == "host"
    cann = key.get("toolkit", "unknown")
    build = {
        "format": _FORMAT,
        "toolchain": toolchain,
        "python": torch.python_abi,
        "torch": torch.version,
        "cxx11_abi": torch.cxx11_abi,
        "torch_npu": torch.npu.version if torch.npu and not emulated else None,
        "cann": None if emulated or cann == "unknown" else cann,
        # How the version of a CANN is found where the modules are loaded.
        "cann_files": list(VERSION_FILES),
        "cann_version": VERSION_WORDS.pattern,
    }
    files["_archs.json"] = json.dumps(_archs(archs), indent=2) + "\n"
    files["_build.json"] = json.dumps(build, indent=2) + "\n"
    return files


def _sources() -> list[str]:
    return sorted(path.name for path in (templates.directory() / "package").glob("*.py"))


def _archs(table: ArchTable) -> dict[str, dict[str, list[str] | list[int]]]:
    return {
        arch.name: {
            "chips": [*arch.families, *(chip.name for chip in arch.chips)],
            "soc_versions": sorted(arch.soc_versions),
        }
        for arch in table.archs
    }
