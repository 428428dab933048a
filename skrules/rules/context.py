"""What every rule needs to know to turn a declaration into Actions."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from skrules import resources
from skrules.arch import ArchTable
from skrules.binding.detect import TorchInfo
from skrules.rules.provenance import digest_code, digest_files, digest_tree
from skrules.toolchain.base import Toolchain

# Rooms whose code decides what codegen writes, and what a comparison says.
_CODEGEN = ("errors", "findings", "source", "contract", "adapt", "binding", "rules/codegen")
_COMPARE = ("errors", "findings", "source", "contract", "compare", "rules/compare")


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """`build` is the folder of this toolchain's results, relative to the workspace, e.g. "build/host"."""

    root: Path
    build: str
    archs: ArchTable
    toolchain: Toolchain
    torch: TorchInfo | None
    codegen_digest: str
    compare_digest: str
    compare_template_digest: str
    binding_header_digest: str


def make_context(*, root: Path, build: str, archs: ArchTable, toolchain: Toolchain, torch: TorchInfo | None) -> Context:
    """Collect what the rules need. Results of different toolchains never share a folder."""
    package, templates = resources.package(), resources.templates()
    shapes = "".join(digest_tree(templates / name, suffixes=(".j2", ".h")) for name in ("adapt", "binding"))
    return Context(
        root=root,
        build=f"{build}/{toolchain.name}",
        archs=archs,
        toolchain=toolchain,
        torch=torch,
        codegen_digest=digest_code(package, _CODEGEN) + shapes,
        compare_digest=digest_code(package, _COMPARE),
        compare_template_digest=digest_tree(templates / "compare", suffixes=(".asc", ".h")),
        # Not the headers of the binding runtime: they are in its own key, and kernels do not see them.
        binding_header_digest=digest_files((templates / "binding").glob("skrules_*.h"), below=templates),
    )
