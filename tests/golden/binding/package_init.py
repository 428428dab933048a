"""Operators built by skrules. Nothing is loaded until load(operator, arch) is called."""

import importlib

MODULES = {
    ("add", "dav-2201"): "add_dav_2201",
    ("add", "dav-3510"): "add_dav_3510",
    ("mul", "dav-3510"): "mul_dav_3510",
}

# They load the shared libraries that every module needs.
_NEEDS = ["torch", "torch_npu"]


def load(operator, arch):
    """Return the module of one operator for one arch, e.g. load("add_custom", "dav-2201").

    Raises KeyError for an operator or arch that is not in MODULES, and ImportError when its module cannot be loaded.
    """
    name = MODULES.get((operator, arch))
    if name is None:
        known = ", ".join(f"{operator} for {arch}" for operator, arch in MODULES) or "none"
        raise KeyError(f"no module of operator {operator!r} for arch {arch!r}; built: {known}")
    for needed in _NEEDS:
        importlib.import_module(needed)
    return importlib.import_module("." + name, __name__)
