"""Are the kernels of a file read as the corpus says?"""

from __future__ import annotations

import re
from collections.abc import Iterable

from skrules.source.model import Kernel, MacroKernel, SourceUnit
from tests.corpus.records import ExpectedFile, ExpectedKernel, squeeze

_IMPLIED = frozenset({"extern", '"C"', "void", "__global__"})
_MACRO_USE = re.compile(r"[A-Z][A-Z0-9_]*(?:\(.*\))?")
_LINKAGE = frozenset({"static", "inline"})


def difference(unit: SourceUnit, expected: ExpectedFile) -> str:
    """Return the first difference in words, "" when all kernels are as expected."""
    wanted = {(kernel.line, squeeze(kernel.name)): kernel for kernel in expected.kernels}
    found = {(kernel.line, squeeze(kernel.name)): kernel for kernel in _definitions(unit)}
    for line, name in sorted(wanted.keys() - found.keys()):
        return f"line {line}: '{name}' is not read"
    for line, name in sorted(found.keys() - wanted.keys()):
        return f"line {line}: '{name}' is read, and none is there"
    for key, kernel in wanted.items():
        problem = _compare(found[key], kernel)
        if problem:
            return f"line {kernel.line}: '{kernel.name}': {problem}"
    return ""


def _definitions(unit: SourceUnit) -> Iterable[Kernel | MacroKernel]:
    """What is written: the kernels of macro uses are not, their definitions in the macros are."""
    return [*(kernel for kernel in unit.kernels if not kernel.macro), *unit.macro_kernels]


def _compare(kernel: Kernel | MacroKernel, expected: ExpectedKernel) -> str:
    if isinstance(kernel, MacroKernel):
        return _compare_macro(kernel, expected)
    parameters = tuple(
        (squeeze(each.type), each.name, squeeze(each.array), squeeze(each.default or "")) for each in kernel.parameters
    )
    # Under an #if in the signature the corpus lists what one branch has: only the flag is compared.
    if kernel.signature_has_conditions != expected.conditional:
        return f"signature split by #if: {kernel.signature_has_conditions}, not {expected.conditional}"
    if not expected.conditional and parameters != expected.parameters and not _has_macro(expected):
        return f"parameters {parameters}, not {expected.parameters}"
    if expected.macro:
        return f"it is defined by the macro {expected.macro}"
    if kernel.extern_c != "prefix" and '"C"' in expected.qualifiers:
        return f"extern C: '{kernel.extern_c}'"
    # The corpus lists neither [[...]] and what stands before it, nor what a macro for the linkage stands for.
    attributes = [index for index, text in enumerate(kernel.qualifiers) if text.startswith("[[")]
    own = {squeeze(text) for text in kernel.qualifiers[max(attributes, default=-1) + 1 :]} - _IMPLIED
    wanted = {text for text in expected.qualifiers if not text.startswith("template<")} - _IMPLIED
    if not wanted <= own or not own - wanted <= _LINKAGE:
        return f"qualifiers {sorted(own)}, not {sorted(wanted)}"
    heads = [text for text in expected.qualifiers if text.startswith("template<")]
    if bool(heads) != (kernel.template_parameters is not None) and not attributes:
        return f"template: {kernel.template_parameters}, not {heads}"
    return ""


def _compare_macro(kernel: MacroKernel, expected: ExpectedKernel) -> str:
    if kernel.macro != expected.macro:
        return f"macro '{kernel.macro}', not '{expected.macro}'"
    parameters = tuple((squeeze(each.type), each.name) for each in kernel.parameters or ())
    if (
        kernel.parameters is not None
        and not _has_macro(expected)
        and parameters != tuple(each[:2] for each in expected.parameters)
    ):
        return f"parameters {parameters}, not {expected.parameters}"
    return ""


def _has_macro(expected: ExpectedKernel) -> bool:
    """Tell whether a parameter is listed as the macro that it is written as."""
    return any(not name and _MACRO_USE.fullmatch(text) for text, name, _, _ in expected.parameters)
