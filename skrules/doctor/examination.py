"""Looks at everything, and says what can be built."""

from __future__ import annotations

from skrules.doctor.check import Examination, Status
from skrules.doctor.device import look_at_devices
from skrules.doctor.machine import Machine
from skrules.doctor.modules import look_at_torch, look_at_torch_npu
from skrules.doctor.storage import look_at_caches, look_at_disks
from skrules.doctor.tools import look_at_cann, look_at_compiler, look_at_launcher, look_at_python, look_at_requirements


def examine(machine: Machine) -> Examination:
    """Look at a machine. Takes a fraction of a second: two short runs of the compiler, and no import of torch.

    Nothing is raised for what is missing or wrong, and nothing is written.
    """
    requirements = look_at_requirements()
    compiler = look_at_compiler(machine)
    cann = look_at_cann(machine)
    torch_check, torch = look_at_torch()
    torch_npu = look_at_torch_npu(torch, is_needed=cann.status is Status.OK)
    caches = look_at_caches(machine)
    # A build reads the settings of caches before anything else, and ends when they are none.
    runs = all(check.status is not Status.BROKEN or check.name == "cache folder" for check in (*requirements, *caches))
    host = runs and compiler.status is Status.OK
    bisheng = runs and cann.status is Status.OK
    return Examination(
        checks=(
            look_at_python(),
            *requirements,
            compiler,
            cann,
            look_at_devices(machine),
            torch_check,
            torch_npu,
            *caches,
            *look_at_disks(machine),
            look_at_launcher(machine),
        ),
        host=host,
        bisheng=bisheng,
        modules=torch is not None and (torch_npu.status is Status.OK if bisheng else host),
    )
