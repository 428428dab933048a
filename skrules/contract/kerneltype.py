"""`sk.kernel_type`: what the author says that a kernel runs as, where its source leaves that open."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from skrules.source.model import CoreType, KernelType

# The values of `sk.kernel_type` that name a type, beside "map" and "keep".
KERNEL_TYPES: Mapping[str, KernelType] = MappingProxyType(
    {
        "vector": KernelType(core=CoreType.VECTOR, source="contract"),
        "cube": KernelType(core=CoreType.CUBE, source="contract"),
        "mix(1, 1)": KernelType(core=CoreType.MIX, aic="1", aiv="1", source="contract"),
        "mix(1, 2)": KernelType(core=CoreType.MIX, aic="1", aiv="2", source="contract"),
    }
)
TYPE_HINT = "sk:\n  kernel_type: mix(1, 2)  # or mix(1, 1), cube, vector: what the SK function runs as"


def decided(written: KernelType, decision: str) -> KernelType:
    """Return what a kernel of the type `written` runs as under the `sk.kernel_type` of its contract.

    The source has the first word: a decision fills in what the source does not say, and one that contradicts it has no effect.
    """
    said = KERNEL_TYPES.get(decision)
    is_open = written.core is not CoreType.NONE and not _is_settled(written)
    return said if said is not None and is_open and agrees(written, said) else written


def agrees(written: KernelType, said: KernelType) -> bool:
    """Tell whether a kernel of the type `written` can run as `said`. `__mix__(1, 0)` and cube are the same.

    Of a kernel without any type (SIMT) nothing can be said, and nothing contradicts.
    """
    if written.core in (CoreType.BARE, CoreType.NONE):
        return True
    if _is_settled(written):
        return _cores(one_kind(written)) == _cores(said)
    return said.core is CoreType.MIX


def one_kind(kernel_type: KernelType) -> KernelType:
    """Return `__mix__` with cores of one kind only as that kind, any other type as it is."""
    if kernel_type.core is CoreType.MIX and _is_settled(kernel_type):
        if not int(kernel_type.aiv) and int(kernel_type.aic):
            return KernelType(core=CoreType.CUBE, source=kernel_type.source)
        if not int(kernel_type.aic) and int(kernel_type.aiv):
            return KernelType(core=CoreType.VECTOR, source=kernel_type.source)
    return kernel_type


def spelling(kernel_type: KernelType) -> str:
    """Return a type as a contract spells it."""
    if kernel_type.core is not CoreType.MIX:
        return kernel_type.core.value
    return f"mix({kernel_type.aic}, {kernel_type.aiv})" if kernel_type.aic or kernel_type.aiv else "mix"


def _is_settled(kernel_type: KernelType) -> bool:
    """Tell whether the cores of a block are known: a ratio may be a macro or a template parameter, or not written at all."""
    if kernel_type.core is CoreType.MIX:
        return all(text.isascii() and text.isdigit() for text in (kernel_type.aic, kernel_type.aiv))
    return kernel_type.core in (CoreType.VECTOR, CoreType.CUBE)


def _cores(kernel_type: KernelType) -> tuple[CoreType, int, int]:
    is_mix = kernel_type.core is CoreType.MIX
    return kernel_type.core, int(kernel_type.aic) if is_mix else 0, int(kernel_type.aiv) if is_mix else 0
