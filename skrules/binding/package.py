"""The Python package of a build tree: `op_extension/__init__.py` beside the modules it loads."""

from __future__ import annotations

from skrules.binding.templates import render

# What must be imported before a module can be: their libraries are the ones it is linked with.
_NEEDS = {"bisheng": ("torch", "torch_npu"), "host": ("torch",)}


def module_name(operator: str, arch: str) -> str:
    """Return the module of one operator and arch: "add_custom", "dav-2201" -> "add_custom_dav_2201"."""
    return f"{operator}_{arch.replace('-', '_')}"


def render_package_init(toolchain: str) -> str:
    """Return `__init__.py` of the package.

    It lists no modules, so it is the same whichever operators a build was asked for; `load` finds those that are there.
    """
    return render("package_init.py.j2", {"needs": _NEEDS[toolchain]})
