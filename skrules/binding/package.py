"""The Python package of a build tree: `op_extension/__init__.py` beside the modules it loads."""

from __future__ import annotations

from collections.abc import Sequence

from skrules.binding.templates import render
from skrules.errors import UsageError


def module_name(operator: str, arch: str) -> str:
    """Return the module of one operator and arch: "add_custom", "dav-2201" -> "add_custom_dav_2201"."""
    return f"{operator}_{arch.replace('-', '_')}"


def render_package_init(modules: Sequence[tuple[str, str]], *, toolchain: str) -> str:
    """Return `__init__.py` for a package with the modules of `modules`, pairs of operator and arch.

    Importing the package loads nothing. `load(operator, arch)` imports one module, torch (and torch_npu for bisheng)
    before it; it never picks an arch itself. Raises UsageError when two pairs would be one module: operator
    `add_dav` for `x` and `add` for `dav-x`.
    """
    names: dict[str, tuple[str, str]] = {}
    for operator, arch in modules:
        name = module_name(operator, arch)
        if name in names:
            pairs = ", ".join(f"{known} for {of}" for known, of in (names[name], (operator, arch)))
            raise UsageError(f"two modules would be named {name}: {pairs}", hint="rename one of the operators")
        names[name] = (operator, arch)
    needs = ("torch", "torch_npu") if toolchain == "bisheng" else ("torch",)
    return render("package_init.py.j2", {"modules": sorted((pair, name) for name, pair in names.items()), "needs": needs})
