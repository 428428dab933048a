"""The operators of the package: what their tables say, and their modules, loaded one at a time.

Module names are composed of the operator of a table and an arch, never taken apart: the module of `add` for dav-2201 is
not one of an operator `add_dav`.
"""

import functools
import hashlib
import importlib
import importlib.machinery
import json
import pkgutil
import struct
from pathlib import Path

from . import _arch_selector, _environment

_PACKAGE = __name__.rpartition(".")[0]
_FOLDER = Path(__file__).parent
_TABLE = ".entries.json"
_FORMAT = 1


def operators():
    """Return the tables of all operators by name. Raises ImportError for one that cannot be read."""
    return {path.name.removesuffix(_TABLE): _table(path) for path in sorted(_FOLDER.glob("*" + _TABLE))}


def entries():
    """Return the tables of all entries by name, each with its "operator"; a name of two operators has both in "operators"."""
    found = {}
    for operator, table in operators().items():
        for entry, row in table["entries"].items():
            first = found.setdefault(entry, {**row, "operator": operator, "operators": []})
            first["operators"].append(operator)
    return found


def operator_of(entry):
    """Return the operator of an entry. Raises RuntimeError when two have one of that name."""
    owners = entries()[entry]["operators"]
    if len(owners) > 1:
        raise RuntimeError("{} have an entry '{}' each: call load(operator).run_{}".format(" and ".join(owners), entry, entry))
    return owners[0]


def names():
    """Return the names of the modules that are here."""
    here = {module.name for module in pkgutil.iter_modules([str(_FOLDER)])}
    return sorted(here & {module_name(operator, arch) for operator in operators() for arch in _arch_selector.archs()})


def archs(operator=None):
    """Return the archs that an operator is here for, or that any is."""
    here = set(names())
    wanted = [operator] if operator else list(operators())
    return [arch for arch in _arch_selector.archs() if any(module_name(each, arch) in here for each in wanted)]


def module_name(operator, arch):
    return "{}_{}".format(operator, arch.replace("-", "_"))


@functools.cache
def load(operator, arch):
    """Import the module of an operator for an arch of the table. Raises RuntimeError, and says what is wrong."""
    if operator not in operators():
        raise RuntimeError("{} has no operator '{}'; it has: {}".format(_PACKAGE, operator, ", ".join(operators()) or "none"))
    name = module_name(operator, arch)
    if name not in names():
        if arch in _recorded().get("operators", {}).get(operator, {}).get("archs", ()):
            raise RuntimeError(f"{name} of {_PACKAGE} is gone: {_environment.again()}")
        raise RuntimeError(
            "{} is not built for {}; it is built for: {}".format(operator, arch, ", ".join(archs(operator)) or "no arch")
        )
    _environment.require_device()
    _require_whole(name)
    try:
        module = importlib.import_module("." + name, _PACKAGE)
    except ImportError as error:
        raise RuntimeError(f"{name} of {_PACKAGE} cannot be loaded: {error}; {_environment.again()}") from error
    _require_same(module, operator, arch)
    return module


def _table(path):
    try:
        table = json.loads(path.read_text(encoding="utf-8"))
        if table["format"] == _FORMAT and table["operator"] + _TABLE == path.name and isinstance(table["entries"], dict):
            return table
    except (OSError, ValueError, KeyError, TypeError):
        pass
    raise ImportError(f"{path.name} of {_PACKAGE} is no table of its operator: {_environment.again()}", name=_PACKAGE)


def _require_whole(name):
    """A file that is cut off would not be refused by the loader of the system: it ends the process."""
    path = next(
        (_FOLDER / (name + each) for each in importlib.machinery.EXTENSION_SUFFIXES if (_FOLDER / (name + each)).is_file()), None
    )
    if path is None:
        return
    data = path.read_bytes()
    digest = _recorded().get("modules", {}).get(path.name)
    sections = struct.unpack_from("<40xQ10xHH", data) if len(data) >= 64 and data[:4] == b"\x7fELF" else None
    if sections is None:
        raise RuntimeError(f"{path.name} of {_PACKAGE} is no library: {_environment.again()}")
    if sections[0] + sections[1] * sections[2] > len(data):
        raise RuntimeError(f"{path.name} of {_PACKAGE} is cut off: {_environment.again()}")
    if digest and hashlib.sha256(data).hexdigest() != digest:
        raise RuntimeError(f"{path.name} of {_PACKAGE} is not the file that was packaged: {_environment.again()}")


def _require_same(module, operator, arch):
    """A file that was given another name, or that another build left here."""
    expected = {"operator": operator, "arch": arch, "toolchain": _environment.built()["toolchain"]}
    for what, value in expected.items():
        says = getattr(module, f"__skrules_{what}__", None)
        if says != value:
            raise RuntimeError(f"{module.__name__} says that its {what} is {says}, not {value}: {_environment.again()}")
    lacking = sorted(set(operators()[operator]["entries"]) ^ set(module.__skrules_entries__))
    if lacking:
        raise RuntimeError(
            "{} and the table of {} differ in {}: {}".format(module.__name__, operator, ", ".join(lacking), _environment.again())
        )


@functools.cache
def _recorded():
    """Return what a wheel was built with; a build tree has no such record."""
    try:
        record = json.loads((_FOLDER / "built_with.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError):
        record = None
    if not isinstance(record, dict) or any(not isinstance(record.get(key, {}), dict) for key in ("operators", "modules")):
        raise RuntimeError(f"built_with.json of {_PACKAGE} is damaged: {_environment.again()}")
    return record
