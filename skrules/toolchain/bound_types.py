"""What a kernel with `__aicore__` alone runs as, by the type of the SK function that it is bound to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from skrules.source.code import Code, join
from skrules.source.form import target_name
from skrules.source.model import CoreType, KernelType, SourceUnit
from skrules.source.parameters import split
from skrules.source.types import type_of_qualifiers

_MAX_HEAD = 16  # tokens between `__sk__` and `void`


def bound_types(unit: SourceUnit) -> Mapping[str, KernelType]:
    """Return the types that the SK functions of a file give its kernels, by the kernel's plain name.

    A kernel is left out when its SK functions have no type, or one that depends on an `#if`.
    """
    if "SK_BIND" not in unit.text:
        return {}
    code = unit.code
    functions = dict(_functions(code))
    types: dict[str, set[KernelType | None]] = {}
    for kernel, function in _bindings(code):
        types.setdefault(kernel, set()).add(functions.get(function))
    known = {kernel: found.pop() for kernel, found in types.items() if len(found) == 1}
    return {kernel: found for kernel, found in known.items() if found is not None and found.core is not CoreType.BARE}


def _functions(code: Code) -> Iterator[tuple[str, KernelType | None]]:
    """Yield the SK functions with their types, None for a type that depends on an `#if`."""
    for index, text in enumerate(code.texts):
        if text != "__sk__" or "void" not in code.texts[index : index + _MAX_HEAD]:
            continue
        void = code.texts.index("void", index)
        qualifiers: list[str] = []
        at = index + 1
        while at < void:
            end = code.pairs.get(at + 1, at) + 1 if code.text(at + 1) == "(" else at + 1
            qualifiers.append(join(code, at, end))
            at = end
        is_conditional = any(map(code.is_directive, range(index, void)))
        yield code.text(void + 1), None if is_conditional else type_of_qualifiers(qualifiers)


def _bindings(code: Code) -> Iterator[tuple[str, str]]:
    """Yield kernel and first SK function of every SK_BIND, by their plain names."""
    for index, text in enumerate(code.texts):
        if text != "SK_BIND" or code.text(index + 1) != "(" or index + 1 not in code.pairs:
            continue
        arguments = split(code, index + 2, code.pairs[index + 1])
        names = [target_name(code, *place).rpartition("::")[2] for place in arguments[:3]]
        if len(names) == 3:  # kernel, mask, first SK function
            yield names[0], names[2]
