"""The type of a kernel: which cores run it, and where that is said."""

from __future__ import annotations

import re
from collections.abc import Iterable

from skrules.source.code import Code
from skrules.source.conditions import Conditions
from skrules.source.model import CoreType, KernelType

_MIX = re.compile(r"__mix__\((.*)\)\Z", re.DOTALL)
_CORE_RATIO = re.compile(r"\[\[bisheng::core_ratio\((.*)\)\]\]\Z", re.DOTALL)
_SIMPLE = {"__vector__": CoreType.VECTOR, "__cube__": CoreType.CUBE}

# The kernel types of KERNEL_TASK_TYPE; the numbers are AIC and AIV cores of one block.
# Source: CANN AscendC API reference, "Setting the kernel type".
_TASK_TYPES = {
    "KERNEL_TYPE_AIV_ONLY": KernelType(core=CoreType.VECTOR, source="task-macro"),
    "KERNEL_TYPE_AIC_ONLY": KernelType(core=CoreType.CUBE, source="task-macro"),
    "KERNEL_TYPE_MIX_AIV_1_0": KernelType(core=CoreType.VECTOR, source="task-macro"),
    "KERNEL_TYPE_MIX_AIC_1_0": KernelType(core=CoreType.CUBE, source="task-macro"),
    "KERNEL_TYPE_MIX_AIC_1_1": KernelType(core=CoreType.MIX, aic="1", aiv="1", source="task-macro"),
    "KERNEL_TYPE_MIX_AIC_1_2": KernelType(core=CoreType.MIX, aic="1", aiv="2", source="task-macro"),
}
CONDITIONAL = "conditional-task-macro"
UNSETTLED = "unsettled-task-macro"
_TASK_MACROS = frozenset({"KERNEL_TASK_TYPE_DEFAULT", "KERNEL_TASK_TYPE"})


def type_of_qualifiers(qualifiers: Iterable[str]) -> KernelType:
    """Return the type that the qualifiers (as joined text) name; `BARE` or `NONE` when they name none."""
    ratio = bare = None
    for qualifier in qualifiers:
        if qualifier in _SIMPLE:
            return KernelType(core=_SIMPLE[qualifier], source="qualifier")
        mix = _MIX.match(qualifier)
        if mix:
            return _mix(mix.group(1), "qualifier")
        ratio = ratio or _CORE_RATIO.match(qualifier)
        bare = bare or qualifier in ("__aicore__", "[aicore]")
    if ratio:
        return _mix(ratio.group(1), "core-ratio-attribute")
    return KernelType(core=CoreType.BARE if bare else CoreType.NONE, source="qualifier" if bare else "")


def _mix(arguments: str, source: str) -> KernelType:
    aic, _, aiv = arguments.partition(",")
    return KernelType(core=CoreType.MIX, aic=aic.strip(), aiv=aiv.strip(), source=source)


def task_type(name: str) -> KernelType | None:
    """Return the type that a constant of KERNEL_TASK_TYPE stands for, None for an unknown one."""
    return _TASK_TYPES.get(name)


def type_of_body(code: Code, conditions: Conditions, start: int, end: int) -> KernelType | None:
    """Return the type that the task macros between `start` and `end` set, None without such macros.

    A type that depends on a `#if` is `BARE` with the source CONDITIONAL; one that depends on the tiling key, or whose name is not
    known, `BARE` with the source UNSETTLED.
    """
    found: set[KernelType] = set()
    outside = conditions.open_at(start)
    inside: set[bool] = set()
    for index in range(start, end):
        if code.texts[index] not in _TASK_MACROS or code.text(index + 1) != "(":
            continue
        closing = code.pairs.get(index + 1, index + 1)
        name = code.text(closing - 1)
        if name not in _TASK_TYPES:
            return KernelType(core=CoreType.BARE, source=UNSETTLED)
        found.add(_TASK_TYPES[name])
        inside.add(conditions.open_at(index) != outside)
    if len(found) > 1 and True not in inside:
        return KernelType(core=CoreType.BARE, source=UNSETTLED)
    if True in inside and (len(found) > 1 or False not in inside):
        return KernelType(core=CoreType.BARE, source=CONDITIONAL)
    return next(iter(found), None)
