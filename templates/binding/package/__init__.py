"""Operators built by skrules: `torch.ops.ascendc_ops.<entry>`, and `run_<entry>` of this package.

Importing it defines the operators and loads none of them. The module of an operator is loaded when it is first launched,
for the arch of SK_ACLGRAPH_NPU_ARCH or else for that of the device. An arch is never picked because it is the only one.
"""

from . import _environment

_environment.require()

from . import _arch_selector, _modules, _torch_library  # noqa: E402  # torch is there, and the right one

_VERBS = ("run_", "prepare_")


def modules():
    """Return the names of the modules that are here, e.g. ["add_custom_dav_2201"]."""
    return _modules.names()


def selected_arch():
    """Return the arch that operators run for, e.g. "dav-2201". Raises RuntimeError when nothing tells it."""
    return _arch_selector.selected()


def load(operator, arch=None):
    """Return the module of one operator, for an arch or for the selected one: load("add_custom", "dav-2201").

    Raises RuntimeError for what was not built, naming what was, and for a module that cannot be loaded.
    """
    return _modules.load(operator, selected_arch() if arch is None else _arch_selector.known(arch, "load()"))


def _function_of(entry, verb="run_"):
    return getattr(load(_modules.operator_of(entry)), verb + entry)


def __getattr__(name):
    if name == "SELECTED_NPU_ARCH":
        return selected_arch()
    if name in _functions():
        verb = next(verb for verb in _VERBS if name.startswith(verb))
        return _function_of(name.removeprefix(verb), verb)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted([*globals(), "SELECTED_NPU_ARCH", *_functions()])


def _functions():
    entries = _modules.entries()
    prepared = [entry for entry, table in entries.items() if table["prepares"]]
    return ["run_" + entry for entry in entries] + ["prepare_" + entry for entry in prepared]


_torch_library.register(__name__, _modules.entries(), _function_of)
