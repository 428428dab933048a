"""A complete contract for a file nobody has written one for: every decision the source leaves open is made, somehow.

What is decided is not what the author would say (any tensor may be the result); that every kernel can be bound is all it is for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from itertools import islice, product
from types import MappingProxyType

from skrules.contract.ctype import NO_DEFINITIONS, Definitions, collect_definitions, explain, substitute
from skrules.contract.match import group_kernels
from skrules.contract.model import Contract, EntryContract, ParameterDecision, ParameterKind, SuperKernelDecision
from skrules.errors import Location
from skrules.findings import Finding
from skrules.source.evaluation import Macros
from skrules.source.model import Kernel, SourceUnit, TemplateParameter

PATH = "contract.yaml"
_MAX_CHOICES = 9  # one after the other, the last macro's values first


def complete_contract(
    unit: SourceUnit, *, helper_block_num: str, untyped: Collection[str] = (), macros: Macros = MappingProxyType({})
) -> Contract:
    """Return a contract that speaks of every kernel of a file. `helper_block_num` is "" or "accept"; the kernels of the names
    `untyped` get a type; `macros` are what the file was read with."""
    groups, _ = group_kernels(unit)
    decision = SuperKernelDecision(helper_block_num=helper_block_num)
    typed = replace(decision, kernel_type="mix(1, 2)")
    names: set[str] = set()
    kernels = [group.kernel for group in groups]
    definitions = collect_definitions(unit) if any(each.parameters for each in kernels) else NO_DEFINITIONS
    entries = tuple(_entry(each, typed if each.name in untyped else decision, names, definitions) for each in kernels)
    return Contract(path=PATH, entries=entries, macros=macros)


def possible_macros(findings: Iterable[Finding], known: Macros) -> Iterator[Macros]:
    """Yield what a contract could state in addition to `known`: the lines that findings ask for, likely ones first."""
    choices: dict[str, list[int | str]] = {}
    for finding in findings:
        for line in finding.hint.partition("\nmacros:\n")[2].splitlines():
            name, _, values = line.strip().partition(": ")
            if name not in known:
                words = values.replace("  # or", ",").split(", ")
                choices.setdefault(name, [int(word) if word.lstrip("-").isdigit() else word.strip() for word in words])
    for values in islice(product(*choices.values()), _MAX_CHOICES if choices else 0):
        yield {**known, **dict(zip(choices, values, strict=True))}


def _entry(kernel: Kernel, decision: SuperKernelDecision, names: set[str], definitions: Definitions) -> EntryContract:
    name = kernel.name
    while name in names:
        name += "_"
    names.add(name)
    target = kernel.qualified_name + kernel.specialisation
    arguments = dict(_template_arguments(kernel))
    if arguments:
        target += f"<{', '.join(arguments.values())}>"
    tensors, parameters = [], {}
    for parameter in kernel.parameters:
        kind = explain(substitute(parameter.type, arguments) + (" *" if parameter.array else ""), definitions).kind
        if kind is ParameterKind.TENSOR:
            tensors.append(parameter.name)
        elif kind is None or kind is ParameterKind.HOST_STRUCT:
            parameters[parameter.name] = ParameterDecision(kind=ParameterKind.HOST_STRUCT)
    return EntryContract(
        name=name,
        inputs=tuple(tensors),
        outputs=tuple(tensors[-1:]),
        pybind_return_tensor=tensors[-1] if tensors else "",
        parameters=parameters,
        block_dim=1,
        source_entry_name=kernel.qualified_name,
        bind_target=target,
        sk=decision,
        at=Location(file=PATH, line=1, column=1),
    )


def _template_arguments(kernel: Kernel) -> Iterator[tuple[str, str]]:
    for index, parameter in enumerate(kernel.template_parameters or ()):
        yield parameter.name or f"#{index}", _template_argument(parameter)


def _template_argument(parameter: TemplateParameter) -> str:
    if parameter.is_type:
        return "half"
    words = parameter.declaration.removesuffix(parameter.name).split()
    if "&" in parameter.declaration or "auto" in words:
        return "skrules_any_object"
    return {"bool": "false"}.get(" ".join(words), "0" if len(words) < 3 and "::" not in parameter.declaration else "1")
