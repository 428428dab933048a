"""What every rule needs to know to turn a declaration into Actions."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from skrules import installed, resources
from skrules.arch import ArchTable
from skrules.binding.detect import TorchInfo
from skrules.rules.validate import Validation
from skrules.toolchain.base import Toolchain
from skrules.toolchain.fingerprint import digest_tree

# Rooms whose code decides what codegen writes, and what a comparison says.
_CODEGEN = (
    *("errors", "findings", "label", "shapes", "source", "contract", "adapt", "binding", "report", "validate"),
    *("arch", "arch_file", "sourced_yaml", "toolchain/command_line"),
    *("rules/codegen", "rules/generation", "rules/validate", "engine/depfile"),
)
_COMPARE = ("errors", "findings", "source", "contract", "compare", "rules/compare")


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """`build` is the folder of this toolchain's results, relative to the workspace, e.g. "build/host".

    `interrupted` tells whether the user wants the build to end: what runs long asks it.
    """

    root: Path
    build: str
    archs: ArchTable
    toolchain: Toolchain
    torch: TorchInfo | None
    codegen_key: Mapping[str, str]
    compare_digest: str
    numpy: str
    compare_template_digest: str
    binding_header_digest: str
    interrupted: Callable[[], bool]
    validation: Validation


def make_context(
    *,
    root: Path,
    build: str,
    archs: ArchTable,
    toolchain: Toolchain,
    torch: TorchInfo | None,
    interrupted: Callable[[], bool] = lambda: False,
    settings: str = "",
) -> Context:
    """Collect what the rules need. Results of different toolchains never share a folder.

    `settings` is the file with what the workspace decides about rules of validation, or "".
    """
    package, templates = resources.package(), resources.templates()
    shapes = "".join(digest_tree(templates / name, ("**/*.j2", "**/*.h")) for name in ("adapt", "binding"))
    return Context(
        root=root,
        build=f"{build}/{toolchain.name}",
        archs=archs,
        toolchain=toolchain,
        torch=torch,
        codegen_key={
            "generator": digest_tree(package, _code_of(_CODEGEN)),
            "template": shapes,
            "library": _versions("jinja2", "PyYAML"),
        },
        compare_digest=digest_tree(package, _code_of(_COMPARE)),
        numpy=_versions("numpy", "ml_dtypes"),
        compare_template_digest=digest_tree(templates / "compare", ("*.asc", "*.h")),
        # Not the headers of the binding runtime: they are in its own key, and kernels do not see them.
        binding_header_digest=digest_tree(templates / "binding", ("skrules_*.h",)),
        interrupted=interrupted,
        validation=Validation(root, settings, archs),
    )


def _versions(*distributions: str) -> str:
    """Return the versions of Python and of libraries that decide what comes out: random numbers, YAML, rendered text."""
    return " ".join([platform.python_version(), *(f"{name} {installed.version(name)}" for name in distributions)])


def _code_of(rooms: Iterable[str]) -> list[str]:
    """Return the patterns of the code of rooms: packages, or single modules."""
    return [pattern for room in rooms for pattern in (f"{room}.py", f"{room}/**/*.py")]
