"""Whether the modules fit what is here. All that does not is told in one message, before a device is asked for anything."""

import functools
import importlib
import json
import os
import platform
import re
import sys
import sysconfig
from pathlib import Path

_PACKAGE = __name__.rpartition(".")[0]


@functools.cache
def built():
    """Return what the modules were built with."""
    return record("_build.json")


def record(name):
    """Return an object that lies beside the modules. Raises ImportError where it is gone or damaged."""
    try:
        document = json.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        document = None
    if not isinstance(document, dict) or not document:
        raise ImportError(f"{name} of {_PACKAGE} is gone or damaged: {again()}", name=_PACKAGE)
    return document


def again():
    """Return what to do about a file that is not as it was."""
    return "install it again" if Path(__file__).with_name("built_with.json").exists() else "build it again"


def require():
    """Import what modules are linked with. Raises ImportError, with everything that differs from when they were built."""
    record = built()
    differences = [
        *_differs("Python", record["python"], sysconfig.get_config_var("SOABI")),
        *_torch(record),
        *(_npu(record) if record["toolchain"] != "host" else ()),
    ]
    if differences:
        raise ImportError(
            "{} was built for another environment:\n{}".format(_PACKAGE, "\n".join("  " + line for line in differences)),
            name=_PACKAGE,
        )
    require_device()


def require_device():
    """Raise ImportError when modules for a device meet the emulation, or emulated ones a device.

    Asked again before each module is loaded: the other runtime may have come after the package.
    """
    emulated = built()["toolchain"] == "host"
    if emulated and not _is_emulated() and _is_real():
        raise ImportError(
            f"{_PACKAGE} was built by the host toolchain, which emulates the NPU on the CPU, and torch_npu is here: "
            "its results would pass for those of the device. Build it with TOOLCHAIN=bisheng",
            name=_PACKAGE,
        )
    if not emulated and _is_emulated():
        raise ImportError(
            f"{_PACKAGE} was built for an NPU, and the npu of this process is emulated by skrules.hostnpu. "
            "Build it with TOOLCHAIN=host",
            name=_PACKAGE,
        )


def _is_emulated():
    npu = getattr(sys.modules.get("torch"), "npu", None)
    return "skrules.hostnpu" in sys.modules or getattr(npu, "__skrules_emulated__", False)


def _is_real():
    """Tell whether torch_npu can be used: it is installed where only its headers are wanted too, and cannot be imported."""
    return _module("torch_npu")[0] is not None


def _torch(record):
    torch, why = _module("torch")
    if torch is None:
        return ["torch: built with {}, and it cannot be imported here: {}".format(record["torch"], why)]
    here = getattr(torch, "__version__", None)
    abi = getattr(getattr(torch, "_C", None), "_GLIBCXX_USE_CXX11_ABI", record["cxx11_abi"])
    return [
        *_differs("torch", _release(record["torch"]), here and _release(here)),
        *_differs("torch's C++ ABI", _abi(record["cxx11_abi"]), _abi(abi)),
    ]


def _npu(record):
    torch_npu, why = _module("torch_npu")
    if torch_npu is None:
        yield "torch_npu: built with {}, and it cannot be imported here: {}".format(record["torch_npu"], why)
    elif record["torch_npu"]:
        here = getattr(torch_npu, "__version__", None)
        yield from _differs("torch_npu", _release(record["torch_npu"]), here and _release(here))
    cann = _cann(record)
    # A machine that only runs operators may have a CANN that does not tell its version.
    if record["cann"] and cann:
        yield from _differs("CANN", _major_minor(record["cann"]), _major_minor(cann))


def _module(name):
    try:
        return importlib.import_module(name), ""
    except (ImportError, OSError, RuntimeError) as error:  # OSError: a library; RuntimeError: torch on a broken backend
        return None, (str(error).strip().splitlines() or [type(error).__name__])[-1]


def _cann(record):
    """Return the version of the CANN that the environment names, or "" when nothing tells it."""
    home = os.environ.get("ASCEND_HOME_PATH", "")
    for name in record["cann_files"] if home else ():
        try:
            text = Path(home, name.format(machine=platform.machine())).read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        found = re.search(record["cann_version"], text, re.I | re.M)
        if found:
            return found[1]
    return ""


def _differs(what, then, now):
    return [] if then == now else ["{}: built with {}, here is {}".format(what, then, now or "unknown")]


def _release(version):
    return str(version).partition("+")[0]


def _major_minor(version):
    return ".".join(version.split(".")[:2])


def _abi(is_new):
    return f"_GLIBCXX_USE_CXX11_ABI={bool(is_new):d}"
