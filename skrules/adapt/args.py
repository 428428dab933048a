"""The Args struct: the launch's argument block as the SK function reads it.

The runtime packs kernel arguments in order, each at max(4, alignof); a field of the struct must lie where its argument does.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from skrules.adapt.names import free_name
from skrules.adapt.places import finding
from skrules.findings import Finding, Severity
from skrules.source.model import Kernel, Parameter, SourceUnit, TemplateParameter, printable

# Bytes of the value types that the language (C++, LP64) or the device compiler defines. Types that are not here are measured by
# the compiler itself, so this table only makes the generated struct easier to read.
_SIZES = {
    1: "bool char signed-char unsigned-char char8_t int8_t uint8_t int4b_t int4x2_t hifloat8_t fp8_e4m3fn_t fp8_e5m2_t "
    "fp8_e8m0_t",
    2: "short signed-short unsigned-short short-int signed-short-int unsigned-short-int char16_t int16_t uint16_t half __fp16 "
    "bfloat16_t __bf16",
    4: "int signed unsigned signed-int unsigned-int float char32_t wchar_t int32_t uint32_t",
    8: "long unsigned-long signed-long long-int unsigned-long-int long-long unsigned-long-long long-long-int "
    "unsigned-long-long-int double int64_t uint64_t size_t ssize_t ptrdiff_t intptr_t uintptr_t",
}
_SIZE_OF = {name: size for size, names in _SIZES.items() for name in names.split()}
_MODIFIERS = ("unsigned", "signed", "long", "short")  # in the order of the names above
_POINTERS = frozenset({"GM_ADDR"})  # macro of kernel_operator.h: `__gm__ uint8_t *`
_NOT_OF_THE_TYPE = frozenset({"const", "volatile", "__restrict__", "__restrict", "restrict", "register", "std", "::"})
_PIECE = re.compile(r"\w+|::|\S")


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One field: `declaration` as it stands in the struct, `local` the declaration that restores the parameter, "" for
    a parameter without a name."""

    name: str
    declaration: str
    local: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgsStruct:
    """`template` has the kernel's template parameters that a field type mentions, in their order."""

    name: str
    fields: tuple[Field, ...]
    template: tuple[TemplateParameter, ...]

    @property
    def template_head(self) -> str:
        return ", ".join(parameter.declaration for parameter in self.template)

    @property
    def spelling(self) -> str:
        """Name with the template parameters as arguments, for use inside of the twin template."""
        return self.name + (f"<{', '.join(parameter.name for parameter in self.template)}>" if self.template else "")


def args_struct(kernel: Kernel, name: str, unused: Collection[str]) -> ArgsStruct | None:
    """Return the struct of a kernel, None for one without parameters.

    `unused` are the parameters that the body never names; their locals are marked, so that a build with warnings as errors
    stays as clean as it was.
    """
    if not kernel.parameters:
        return None
    dependent = kernel.template_parameters or ()
    names = [parameter.name for parameter in kernel.parameters]
    mentioned = {word for parameter in kernel.parameters for word in re.findall(r"\w+", parameter.type + parameter.array)}
    fields = []
    for index, parameter in enumerate(kernel.parameters):
        # A parameter may be called like a type; a field that is would change what the type of another one means.
        wanted = f"{parameter.name}Field" if parameter.name in mentioned else parameter.name
        field_name = free_name(wanted, {*names, *mentioned} - {parameter.name}) if wanted else free_name(f"unnamed{index}", names)
        fields.append(_field(parameter, field_name, {p.name for p in dependent}, parameter.name in unused))
    return ArgsStruct(
        name=name, fields=tuple(fields), template=tuple(parameter for parameter in dependent if parameter.name in mentioned)
    )


def check_parameters(unit: SourceUnit, kernel: Kernel) -> tuple[Finding, ...]:
    """Report the parameters whose place in the argument block is not known for sure."""
    found = []
    for parameter in kernel.parameters:
        shown = printable(parameter.type + " " + parameter.name).strip()
        at = parameter.span.start
        if not parameter.type or "..." in parameter.type or "(" in parameter.type or re.search(r"\bauto\b", parameter.type):
            found.append(
                finding(
                    unit,
                    at,
                    "codegen.parameter-unsupported",
                    f"parameter '{shown}' of {kernel.name} has no type that an Args struct can hold",
                    hint="write the parameter as a plain type and a name",
                )
            )
        elif _reference(parameter.type) and re.search(r"\bTPipe\b", parameter.type):
            found.append(
                finding(
                    unit,
                    at,
                    "codegen.parameter-unsupported",
                    f"parameter '{shown}' of {kernel.name} refers to a TPipe, which no launch can pass",
                    hint="declare the TPipe in the kernel",
                )
            )
        elif _reference(parameter.type):
            found.append(
                finding(
                    unit,
                    at,
                    "codegen.reference-parameter",
                    f"parameter '{shown}' of {kernel.name} is a reference; kernel arguments are documented as values and "
                    "pointers, and the Args struct stores the value",
                    severity=Severity.WARNING,
                    hint="pass the value or a __gm__ pointer",
                )
            )
    return tuple(found)


def _field(parameter: Parameter, name: str, dependent: Collection[str], is_unused: bool) -> Field:
    declared = parameter.type
    mark = "[[maybe_unused]] " if is_unused else ""
    if parameter.array:
        rest = parameter.array.partition("]")[2].strip()
        field, local = (f"{declared} (*{each}){rest}" if rest else f"{declared} *{each}" for each in (name, parameter.name))
        return Field(name=name, declaration=field, local=_local(parameter, f"{mark}{local}"))
    reference = _reference(declared)
    value = declared.removesuffix(reference).rstrip() if reference else declared
    # A reference to const can refer to the block itself; any other one needs a variable of its own to write to.
    local_type = declared if reference == "&" and _is_const(value) else value
    return Field(
        name=name,
        declaration=f"{_alignment(value, dependent)}{value} {name}",
        local=_local(parameter, f"{mark}{local_type} {parameter.name}"),
    )


def _local(parameter: Parameter, declaration: str) -> str:
    return declaration if parameter.name else ""


def _reference(declared: str) -> str:
    return "&&" if declared.endswith("&&") else "&" if declared.endswith("&") else ""


def _pieces(declared: str) -> list[str]:
    """Return the pieces of a type outside of template arguments."""
    depth, outside = 0, []
    for piece in _PIECE.findall(declared):
        depth += (piece == "<") - (piece == ">")
        if not depth and piece != ">":
            outside.append(piece)
    return outside


def _is_const(value: str) -> bool:
    pieces = _pieces(value)
    return "const" in pieces[len(pieces) - pieces[::-1].index("*") :] if "*" in pieces else "const" in pieces


def _alignment(value: str, dependent: Collection[str]) -> str:
    pieces = _pieces(value)
    if "*" in pieces or _POINTERS.intersection(pieces):
        return ""
    words = [piece for piece in pieces if piece not in _NOT_OF_THE_TYPE]
    words.sort(key=lambda word: _MODIFIERS.index(word) if word in _MODIFIERS else len(_MODIFIERS))
    known = "<" not in value and not set(words) & set(dependent)
    size = _SIZE_OF.get("-".join(words)) if known else None
    if size is None:
        return f"alignas(alignof({value}) < 4 ? 4 : alignof({value})) "
    return "alignas(4) " if size < 4 else ""
