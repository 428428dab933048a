"""NPUs of this machine: the nodes that the driver makes for them, `/dev/davinci0` and following, and its manager."""

from __future__ import annotations

import os
import re

from skrules.doctor.check import Check, Status
from skrules.doctor.machine import Machine

_WITHOUT = "programs and comparisons run on the emulated device, as part of the host toolchain"


def look_at_devices(machine: Machine) -> Check:
    """Look for device nodes, and whether they may be used. No program of the driver is started: that may take seconds.

    The driver's users are those of the group HwHiAiUser, by default:
    https://www.hiascend.com/document/detail/en/canncommercial/800/softwareinst/instg/instg_0004.html
    """
    name = "NPU"
    folder = machine.root / "dev"
    try:
        nodes = sorted(node for node in os.listdir(folder) if re.fullmatch(r"davinci[0-9]+", node))  # noqa: PTH208
    except OSError:
        nodes = []
    manager = folder / "davinci_manager"
    details = {"nodes": [f"/dev/{node}" for node in nodes], "npu_smi": machine.which("npu-smi")}
    if not nodes:
        if manager.exists() or details["npu_smi"]:
            meaning = f"the driver is there and shows no device; {_WITHOUT}"
            return Check(
                name=name, status=Status.MISSING, found="no device", meaning=meaning, command="npu-smi info", details=details
            )
        return Check(name=name, status=Status.MISSING, found="no device", meaning=_WITHOUT, details=details)
    found = f"{len(nodes)} device{'' if len(nodes) == 1 else 's'}: {', '.join(f'/dev/{node}' for node in nodes)}"
    needed = [folder / node for node in nodes] + ([manager] if manager.exists() else [])
    if not all(os.access(node, os.R_OK | os.W_OK) for node in needed):
        meaning = "this user may not use them; after the command log in again"
        command = "sudo usermod -aG HwHiAiUser $USER"
        return Check(name=name, status=Status.BROKEN, found=found, meaning=meaning, command=command, details=details)
    return Check(name=name, status=Status.OK, found=found, details=details)
