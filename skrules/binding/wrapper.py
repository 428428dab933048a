"""Runtime wrappers: what an entry with a hand-written launch takes, and what its source must be.

The wrapper's source is compiled with the kernel, in one translation unit, and is called in place of a generated launch; see
`skrules_wrapper.h` for what it is given. Descriptors that a kernel reads under graph capture are made by `prepare_entry`
before the capture and lie at the end of the entry's workspace.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skrules.contract.check import check_wrapper
from skrules.contract.entry import Entry, EntryParameter
from skrules.contract.model import ParameterKind, Role
from skrules.errors import Location
from skrules.findings import Finding, Severity
from skrules.source.model import SourceUnit

_WORKSPACE = "workspace"


@dataclass(frozen=True, slots=True, kw_only=True)
class WrapperFunction:
    """`role` is "run" or "prepare", `context` the type of the function's first parameter."""

    role: str
    name: str
    context: str


def functions_of(entry: Entry) -> tuple[WrapperFunction, ...]:
    """Return the functions of the entry's wrapper, none for a generated launch."""
    wrapper = entry.contract.runtime_wrapper
    if wrapper is None:
        return ()
    run = WrapperFunction(role="run", name=wrapper.entry, context="skrules_launch")
    prepare = WrapperFunction(role="prepare", name=wrapper.prepare_entry, context="skrules_prepare")
    return (run, prepare) if wrapper.prepare_entry else (run,)


def descriptor_bytes_of(entry: Entry) -> int:
    """Return how many bytes of descriptors the entry keeps at the end of its workspace."""
    return entry.contract.runtime_wrapper.descriptor_bytes if entry.contract.runtime_wrapper else 0


def workspace_of(entry: Entry) -> str:
    """Return the workspace that holds the descriptors, "" for an entry without descriptors."""
    if not descriptor_bytes_of(entry):
        return ""
    return next((each.name for each in entry.parameters if Role.WORKSPACE in each.roles), _WORKSPACE)


def parameters_of(entry: Entry) -> tuple[EntryParameter, ...]:
    """Return what the entry's callers give: what the kernel takes, and the workspace of the descriptors.

    A kernel that gets its descriptors in place of the list has no workspace of its own; then one is added at the end.
    """
    name = workspace_of(entry)
    if not name or any(each.name == name for each in entry.parameters):
        return entry.parameters
    added = EntryParameter(name=name, c_type="GM_ADDR", kind=ParameterKind.TENSOR, roles=(Role.WORKSPACE,))
    return (*entry.parameters, added)


def check_wrapped(entry: Entry, source: SourceUnit | None) -> tuple[Finding, ...]:
    """Return what keeps the entry's wrapper from being used. `source` is its file as read, None when there is none."""
    wrapper = entry.contract.runtime_wrapper
    if wrapper is None:
        return ()
    findings = [*check_wrapper(entry.contract, source.tokens if source else None)]
    for kernel in source.kernels if source else ():
        message = f"the runtime wrapper defines the kernel '{kernel.name}', which would be launched without an SK function"
        at = Location(file=source.path if source else "", line=kernel.line, column=kernel.column)
        findings.append(_blocker("runtime-wrapper-kernel", at, message, "move it to a source of the operator"))
    if wrapper.descriptor_order and not any(each.kind is ParameterKind.TENSOR_LIST for each in entry.parameters):
        message = f"descriptor_order is [{', '.join(wrapper.descriptor_order)}], but entry '{entry.name}' has no tensor lists"
        at = entry.contract.where("runtime_wrapper.descriptor_order")
        findings.append(_blocker("tensor-list-descriptor-order-mismatch", at, message, "descriptor_order: []"))
    if descriptor_bytes_of(entry):
        findings += _check_workspace(entry)
    return tuple(findings)


def _check_workspace(entry: Entry) -> list[Finding]:
    workspaces = [each for each in entry.parameters if Role.WORKSPACE in each.roles]
    at = entry.contract.where("runtime_wrapper.tensor_list_descriptor_strategy")
    if len(workspaces) > 1:
        names = ", ".join(each.name for each in workspaces)
        message = f"entry '{entry.name}' has the workspaces {names}: which of them holds the descriptors is not known"
        return [_blocker("tensor-list-workspace-ambiguous", at, message, "keep one workspace for an entry with descriptors")]
    findings = []
    for each in workspaces:
        if each.nullable:
            message = f"the workspace '{each.name}' of entry '{entry.name}' holds its descriptors and cannot be nullable"
            place = entry.contract.where(f"parameters.{each.name}")
            findings.append(_blocker("io-contract-parameter-invalid", place, message))
        if each.kind is ParameterKind.TENSOR_LIST:
            message = f"the workspace '{each.name}' of entry '{entry.name}' is a tensor list; descriptors need a tensor"
            findings.append(_blocker("io-contract-tensor-invalid", entry.contract.where("workspaces"), message))
    if not workspaces and any(each.name == _WORKSPACE for each in entry.parameters):
        message = f"entry '{entry.name}' has no workspace for its descriptors, and its parameter '{_WORKSPACE}' is none"
        hint = f"list it in workspaces, or give the parameter another name: '{_WORKSPACE}' is then added"
        findings.append(_blocker("tensor-list-workspace-missing", at, message, hint))
    return findings


def check_shared(entries_of: Sequence[tuple[str, Sequence[Entry]]]) -> tuple[Finding, ...]:
    """Return a finding for each wrapper that serves kernels of several files: it is compiled with one of them.

    `entries_of` has the entries of each source by its path.
    """
    first: dict[str, str] = {}
    findings = []
    for path, entries in entries_of:
        for entry in entries:
            wrapper = entry.contract.runtime_wrapper
            if wrapper is not None and first.setdefault(wrapper.source, path) != path:
                message = f"{wrapper.source} is the wrapper of kernels in {first[wrapper.source]} and in {path}"
                at = entry.contract.where("runtime_wrapper.source")
                findings.append(
                    _blocker("runtime-wrapper-shared", at, message, "give the kernels of each file a wrapper of their own")
                )
    return tuple(findings)


def _blocker(rule: str, at: Location, message: str, hint: str = "") -> Finding:
    return Finding(rule=f"codegen.{rule}", severity=Severity.BLOCKER, at=at, message=message, hint=hint)
