"""Which arch operators run for: what SK_ACLGRAPH_NPU_ARCH says, else what the device is."""

import ctypes
import functools
import os
import re
import sys
from pathlib import Path

from . import _environment, _modules

VARIABLE = "SK_ACLGRAPH_NPU_ARCH"
_EMULATION = "libskrules_host.so"
_EMULATED_CHIP = "skrules-host-"


@functools.cache
def archs():
    """Return the table of archs: {"dav-2201": {"chips": [...], "soc_versions": [...]}}."""
    return _environment.record("_archs.json")


def known(name, where):
    """Return an arch as the table writes it: "DAV_2201" -> "dav-2201". Raises RuntimeError for what is none."""
    arch = str(name).strip().lower().replace("_", "-")
    if arch not in archs():
        raise RuntimeError("{}: '{}' is no arch; archs: {}".format(where, name, ", ".join(archs())))
    return arch


@functools.cache
def selected():
    """Return the arch, decided once in a process. Raises RuntimeError when nothing decides it, or two things differ."""
    packaged = _modules.archs()
    there = "packaged: {}".format(", ".join(packaged) or "none")
    wanted = os.environ.get(VARIABLE, "").strip()
    chip, arch = device()
    if wanted:
        asked = known(wanted, VARIABLE)
        # The emulation runs kernels of any arch; a device only its own.
        if arch and arch != asked and _environment.built()["toolchain"] != "host":
            raise RuntimeError(f"{VARIABLE} is {asked}, but the device, {chip}, is {arch}; {there}")
        if asked not in packaged:
            raise RuntimeError(f"{VARIABLE} is {asked}, which is not packaged; {there}")
        return asked
    if not chip:
        raise RuntimeError(f"no NPU is seen here, so there is no arch to choose: set {VARIABLE}; {there}")
    if not arch:
        raise RuntimeError(f"the device, {chip}, is of no known arch: set {VARIABLE}; {there}")
    if arch not in packaged:
        raise RuntimeError(f"the device, {chip}, is {arch}, which is not packaged; {there}")
    return arch


def device():
    """Return what the device calls itself and its arch, e.g. ("Ascend910B3", "dav-2201"); ("", "") when there is none."""
    named = [name for name in _names() if name not in (None, "")]
    for name in named:
        arch = arch_of(name)
        if arch:
            return _text(name), arch
    return (_text(named[0]), "") if named else ("", "")


def arch_of(chip):
    """Return the arch of a chip's name or SoC number, or "". Case, `-`, `_` and blanks do not matter."""
    if isinstance(chip, int):
        return next((arch for arch, row in archs().items() if chip in row["soc_versions"]), "")
    if chip.startswith(_EMULATED_CHIP):
        arch = chip.removeprefix(_EMULATED_CHIP)
        return arch if arch in archs() else ""
    return next((arch for arch, row in archs().items() if _plain(chip) in map(_plain, row["chips"])), "")


def _names():
    """Yield the SoC number and the name of the current device of torch.npu, and the name of one that is emulated."""
    npu = getattr(sys.modules.get("torch"), "npu", None)
    for ask in ("get_soc_version", "get_device_name"):
        try:
            yield getattr(npu, ask)()
        except (AttributeError, RuntimeError, AssertionError, OSError):
            continue  # no device, or not of this torch_npu
    if _environment.built()["toolchain"] == "host":
        yield _emulated_chip()


def _emulated_chip():
    """Return what the emulated device calls itself: modules run on it without a torch.npu too."""
    package = Path(__file__).parent
    for library in (package / "lib" / _EMULATION, package.parent / "lib" / _EMULATION):
        if library.is_file():
            name = ctypes.CDLL(str(library)).aclrtGetSocName
            name.restype = ctypes.c_char_p
            return (name() or b"").decode()
    return ""


def _text(chip):
    return f"SoC version {chip}" if isinstance(chip, int) else chip


def _plain(name):
    return re.sub(r"[-_\s]", "", name).lower()
