"""Kernels and contract become entries, or findings that say what is wrong or undecided.

Nothing is guessed: where source and contract leave a question open there is a finding at the place that would settle it,
and all findings of a file come at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from skrules.contract.ctype import NO_DEFINITIONS, Definitions, Meaning, c_type, collect_definitions, explain, split_type
from skrules.contract.entry import Entry, Resolution
from skrules.contract.kerneltype import KERNEL_TYPES, agrees, spelling
from skrules.contract.match import KernelGroup, bind_arguments, group_kernels, match_entries, parse_target
from skrules.contract.model import Contract, EntryContract, ParameterKind
from skrules.contract.parameters import decide, undeclared
from skrules.contract.skeleton import skeleton
from skrules.errors import Location
from skrules.findings import Finding, Severity, blockers
from skrules.source.code import code_of
from skrules.source.model import Parameter, SourceUnit, Token


def resolve(unit: SourceUnit, contract: Contract | None) -> Resolution:
    """Return the entries of a file and everything that keeps its other kernels from being entries.

    What the reader found (`unit.findings`) is not repeated. An entry is in the result only when nothing stops it.
    """
    return resolve_units([unit], contract)[0]


def resolve_units(units: Sequence[SourceUnit], contract: Contract | None) -> tuple[Resolution, ...]:
    """Resolve all files of one operator against its one contract, file by file.

    Findings on the contract as a whole (unused entries, public names that clash) are in the first result.
    """
    groups: list[KernelGroup] = []
    findings: list[list[Finding]] = [[] for _ in units]
    for index, unit in enumerate(units):
        found, problems = group_kernels(unit)
        groups += found
        findings[index] += problems
    matches = match_entries(groups, contract.entries if contract else ())
    resolved: list[list[Entry]] = [[] for _ in units]
    definitions = [_definitions(unit) for unit in units]
    for place, (group, decisions) in enumerate(zip(groups, matches.of, strict=True)):
        index = next(i for i, unit in enumerate(units) if unit is group.unit)
        if not group.usable or (place in matches.doubtful and not decisions):
            continue
        for decision in decisions or (None,):
            entry, problems = _resolve(group, decision, definitions[index], contract.path if contract else "")
            findings[index] += problems
            if entry is not None:
                resolved[index].append(entry)
    clashes = _clashes([entry for entries in resolved for entry in entries])
    clashing = {entry.name for entry, _ in clashes}
    operator_wide = [*matches.findings, *(finding for _, finding in clashes)]
    return tuple(
        Resolution(
            entries=tuple(entry for entry in entries if entry.name not in clashing),
            findings=tuple(_in_order([*found, *(operator_wide if index == 0 else [])])),
            contract_path=contract.path if contract else "",
        )
        for index, (entries, found) in enumerate(zip(resolved, findings, strict=True))
    )


def _definitions(unit: SourceUnit) -> Definitions:
    """Read the types a file defines, when one of its kernels has a parameter that needs them: most have none."""
    types = {parameter.type for kernel in unit.kernels for parameter in kernel.parameters}
    return collect_definitions(unit) if any(explain(text, NO_DEFINITIONS).kind is None for text in types) else NO_DEFINITIONS


def _in_order(findings: Iterable[Finding]) -> list[Finding]:
    return sorted(dict.fromkeys(findings), key=lambda finding: finding.at)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    """One kernel, what is decided about it, and what its source says. `meanings` and `types` go by parameter name.

    `arguments` is None for a template whose arguments are not known; `open` has the parameters whose type waits for them.
    """

    group: KernelGroup
    decision: EntryContract | None
    contract_path: str
    arguments: Mapping[str, str] | None
    types: Mapping[str, str]
    meanings: Mapping[str, Meaning]
    open: frozenset[str]

    def place(self, parameter: Parameter) -> Location:
        return self.group.unit.lines.at(parameter.span.start)


def _resolve(
    group: KernelGroup, decision: EntryContract | None, definitions: Definitions, contract_path: str
) -> tuple[Entry | None, list[Finding]]:
    kernel = group.kernel
    arguments, written, findings = _arguments(group, decision)
    types = {each.name: c_type(each, arguments or {}) for each in kernel.parameters if each.name}
    meanings = {name: explain(text, definitions) for name, text in types.items()}
    unbound = {each.name for each in kernel.template_parameters or ()} if arguments is None else set()
    waiting = {name for name, text in types.items() if unbound & set(split_type(text))}
    question = _Question(
        group=group,
        decision=decision,
        contract_path=contract_path,
        arguments=arguments,
        types=types,
        meanings=meanings,
        open=frozenset(name for name in waiting if meanings[name].kind is not ParameterKind.TENSOR),
    )
    findings += _check_source(group)
    findings += _check_kernel_type(group, decision) if decision else []
    if decision is None:
        findings += _undecided(question)
        decision = _default_decision(group, meanings)
    known, problems = decide(decision, kernel, types, meanings, question.open)
    findings += problems if question.decision else []
    if blockers(findings):
        return None, findings
    entry = Entry(
        name=decision.public_name,
        kernel=kernel,
        contract=decision,
        parameters=tuple(known),
        bind_target=kernel.qualified_name + (kernel.specialisation or written),
        template_arguments=tuple((arguments or {}).values()),
        return_parameter=decision.pybind_return_tensor,
    )
    return entry, findings


def _blocker(rule: str, at: Location, message: str, hint: str = "") -> Finding:
    return Finding(rule=f"codegen.{rule}", severity=Severity.BLOCKER, at=at, message=message, hint=hint)


def _check_source(group: KernelGroup) -> list[Finding]:
    """Findings on the kernel's own text that no contract can settle."""
    findings = []
    lines = group.unit.lines
    for index, parameter in enumerate(group.kernel.parameters):
        if not parameter.name and parameter.type != "void":
            message = f"parameter {index + 1} of kernel '{group.kernel.qualified_name}' has no name"
            hint = "name it in the source: callers and the contract speak of parameters by name"
            findings.append(_blocker("kernel-parameter-unnamed", lines.at(parameter.span.start), message, hint))
    return findings


def _check_kernel_type(group: KernelGroup, decision: EntryContract) -> list[Finding]:
    """A type that the contract gives a kernel cannot be another one than the source gives it."""
    said = KERNEL_TYPES.get(decision.sk.kernel_type)
    return [
        _blocker(
            "sk-kernel-type-conflict",
            decision.where("sk.kernel_type"),
            f"{decision.name}: the contract says that the kernel is {spelling(said)}, and its source says "
            f"{spelling(kernel.type)}, in line {kernel.line}",
            "leave sk.kernel_type out: what the source says is used",
        )
        for kernel in group.kernels
        if said is not None and not agrees(kernel.type, said)
    ]


def _arguments(group: KernelGroup, decision: EntryContract | None) -> tuple[Mapping[str, str] | None, str, list[Finding]]:
    """Return the template arguments by parameter (None: not known), the `<...>` to write, and what is wrong."""
    kernel = group.kernel
    text = decision.bind_target if decision else ""
    target = parse_target(text)
    given = target.arguments if target else None
    at = decision.where("bind_target") if decision else group.at
    if not kernel.template_parameters:
        if given is None or kernel.specialisation:
            return {}, "", []
        message = f"kernel '{kernel.qualified_name}' is no template, but bind_target '{text}' has arguments"
        return {}, "", [_blocker("io-contract-bind-target-mismatch", at, message, f"bind_target: {kernel.qualified_name}")]
    if given is None:
        names = ", ".join(each.name or "?" for each in kernel.template_parameters)
        message = f"kernel '{kernel.qualified_name}' is a template over {names}; the contract must name what to bind"
        hint = f"bind_target: {kernel.qualified_name}<{names}>  # with arguments for {names}"
        return None, "", [_blocker("template-bind-target-required", at, message, hint)]
    bound = bind_arguments(kernel.template_parameters, given)
    if isinstance(bound, str):
        return None, "", [_blocker("io-contract-bind-target-mismatch", at, f"bind_target '{text}': {bound}")]
    return bound, f"<{', '.join(given)}>", []


def _undecided(question: _Question) -> list[Finding]:
    """Findings on a kernel that the contract does not speak of. The first has the contract lines that settle all."""
    kernel = question.group.kernel
    full = skeleton(kernel, question.meanings, question.contract_path)
    findings = []
    tensors = [name for name, meaning in question.meanings.items() if meaning.kind is ParameterKind.TENSOR]
    if len(tensors) > 1:
        message = (
            f"kernel '{kernel.qualified_name}' has the tensors {', '.join(tensors)}; no contract says what it does with them"
        )
        findings.append(_blocker("pybind-return-tensor-unresolved", question.group.at, message, full))
    for parameter in kernel.parameters:
        name = parameter.name
        if name and name not in question.open and question.meanings[name].kind in (None, ParameterKind.HOST_STRUCT):
            hint = f"parameters:\n  {name}: host_struct" if findings else full
            message = undeclared(name, question.types[name], kernel)
            findings.append(_blocker("runtime-parameter-contract-required", question.place(parameter), message, hint))
    return findings


def _default_decision(group: KernelGroup, meanings: Mapping[str, Meaning]) -> EntryContract:
    """One tensor needs no contract: the kernel can only change it in place, and it is returned."""
    tensors = tuple(name for name, meaning in meanings.items() if meaning.kind is ParameterKind.TENSOR)
    returned = tensors[0] if len(tensors) == 1 else ""
    return EntryContract(name=group.kernel.name, inputs=tensors, outputs=tensors, pybind_return_tensor=returned, at=group.at)


def _clashes(entries: Sequence[Entry]) -> list[tuple[Entry, Finding]]:
    """Two entries with one public name, or two names for one binding: nobody could tell which is meant."""
    result = []
    for attribute, what in (("name", "public name"), ("bind_target", "kernel")):
        first: dict[str, Entry] = {}
        for entry in entries:
            value = getattr(entry, attribute)
            other = first.setdefault(value, entry)
            if other is not entry:
                message = f"two entries have the {what} '{value}'; the other is at {other.contract.at}"
                hint = "give each its own entry in the contract, with its own source_entry_name or bind_target"
                result.append((entry, _blocker("pybind-entry-specialization-ambiguous", entry.contract.at, message, hint)))
    return result


def check_wrapper(decision: EntryContract, tokens: Sequence[Token] | None) -> tuple[Finding, ...]:
    """Check the source of a runtime wrapper: `tokens` of the file, or None when there is no such file.

    Its functions must be in its code; comments and strings do not count.
    """
    wrapper = decision.runtime_wrapper
    if wrapper is None:
        return ()
    if tokens is None:
        at = decision.where("runtime_wrapper.source")
        return (_blocker("runtime-wrapper-source-missing", at, f"there is no file '{wrapper.source}'"),)
    code = code_of(tokens)
    called = {code.text(i) for i in range(len(code)) if code.is_identifier(i) and code.text(i + 1) == "("}
    return tuple(
        _blocker("runtime-wrapper-entry-missing", decision.where(f"runtime_wrapper.{key}"), f"{wrapper.source} has no '{name}('")
        for key, name in (("entry", wrapper.entry), ("prepare_entry", wrapper.prepare_entry))
        if name and name not in called
    )
