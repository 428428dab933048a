"""What a contract decides about the parameters of one kernel, checked against the source."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from skrules.contract.ctype import Meaning
from skrules.contract.entry import EntryParameter
from skrules.contract.model import EntryContract, ParameterDecision, ParameterKind, Role
from skrules.errors import did_you_mean
from skrules.findings import Finding, Severity
from skrules.source.model import Kernel

_TENSOR_LIKE = (ParameterKind.TENSOR, ParameterKind.TENSOR_LIST)
_ROLES = (("inputs", Role.INPUT), ("outputs", Role.OUTPUT), ("workspaces", Role.WORKSPACE))
_NOTHING = ParameterDecision()


@dataclass(frozen=True, slots=True)
class _Report:
    """Findings on one contract entry, each at the place in the contract that would settle it."""

    decision: EntryContract
    kernel: Kernel
    findings: list[Finding] = field(default_factory=list)

    def add(self, rule: str, path: str, message: str, hint: str = "") -> None:
        at = self.decision.where(path)
        self.findings.append(Finding(rule=f"codegen.{rule}", severity=Severity.BLOCKER, at=at, message=message, hint=hint))


def undeclared(name: str, type_text: str, kernel: Kernel) -> str:
    """Return the message on a parameter that only its author can explain."""
    return (
        f"parameter '{name}' of kernel '{kernel.qualified_name}' has the type {type_text}, "
        "which is no pointer and no built-in scalar; the contract must say what it is"
    )


def decide(
    decision: EntryContract,
    kernel: Kernel,
    types: Mapping[str, str],
    meanings: Mapping[str, Meaning],
    still_open: Collection[str],
) -> tuple[list[EntryParameter], list[Finding]]:
    """Return the parameters as decided, and every finding on them.

    `types` and `meanings` go by parameter name in order; `still_open` are parameters whose type waits for template
    arguments. A parameter without a known kind is left out, and a finding says so.
    """
    report = _Report(decision, kernel)
    for name in decision.parameters:
        if name not in types:
            message = f"kernel '{kernel.qualified_name}' has no parameter '{name}'"
            report.add("io-contract-parameter-invalid", f"parameters.{name}", message, _choices(name, "parameters", types))
    kinds = {name: _kind(name, types[name], meaning, name in still_open, report) for name, meaning in meanings.items()}
    result = []
    for name, kind in kinds.items():
        declared = decision.parameters.get(name, _NOTHING)
        if kind is None:
            continue
        for key, message in _unfit(declared, kind, meanings[name]):
            report.add("io-contract-parameter-invalid", _path(decision, name, key), f"parameter '{name}': {message}")
        result.append(
            EntryParameter(
                name=name,
                c_type=types[name],
                kind=kind,
                roles=_roles_of(name, decision),
                nullable=declared.nullable,
                # An enum or alias does not spell its encoding, so that is kept here.
                dtype=declared.dtype or ("" if meanings[name].spelled else meanings[name].dtype),
                rank=declared.rank,
            )
        )
    _check_roles(kinds, still_open, report)
    _check_tensor_lists(kinds, report)
    return result, report.findings


def _kind(name: str, type_text: str, meaning: Meaning, is_open: bool, report: _Report) -> ParameterKind | None:
    declared = report.decision.parameters.get(name, _NOTHING).kind
    if declared is None:
        if meaning.kind in (None, ParameterKind.HOST_STRUCT) and not is_open:
            hint = f"parameters:\n  {name}: host_struct"
            message = undeclared(name, type_text, report.kernel)
            report.add("runtime-parameter-contract-required", _path(report.decision, name, "kind"), message, hint)
        return meaning.kind
    if not _compatible(declared, meaning.kind):
        message = f"parameter '{name}' is declared {declared}, but its type {type_text} is a {meaning.kind}"
        report.add("io-contract-parameter-kind-mismatch", _path(report.decision, name, "kind"), message)
    return declared


def _roles_of(name: str, decision: EntryContract) -> tuple[Role, ...]:
    return tuple(role for key, role in _ROLES if name in getattr(decision, key))


def _choices(name: str, what: str, known: Iterable[str]) -> str:
    return "\n".join(filter(None, [did_you_mean(name, known), f"{what}: {', '.join(known) or 'none'}"]))


def _path(decision: EntryContract, name: str, field: str) -> str:
    inner = f"parameters.{name}.{field}"
    return inner if inner in decision.positions else f"parameters.{name}"


def _compatible(declared: ParameterKind | None, detected: ParameterKind | None) -> bool:
    return declared in (None, detected) or detected is None or (declared in _TENSOR_LIKE and detected in _TENSOR_LIKE)


def _unfit(declared: ParameterDecision, kind: ParameterKind, meaning: Meaning) -> list[tuple[str, str]]:
    """Attributes that mean nothing for the kind: (key, message)."""
    unfit = []
    if kind not in _TENSOR_LIKE:
        if declared.nullable:
            unfit.append(("nullable", f"a {kind} cannot be nullable"))
        if declared.rank is not None:
            unfit.append(("rank", f"a {kind} has no rank"))
    if kind is ParameterKind.HOST_STRUCT and declared.dtype:
        unfit.append(("dtype", "a host_struct has no dtype"))
    if kind is ParameterKind.SCALAR and declared.dtype and meaning.dtype not in ("", declared.dtype):
        unfit.append(("dtype", f"its type is {meaning.dtype}, not {declared.dtype}"))
    return unfit


def _check_roles(kinds: Mapping[str, ParameterKind | None], still_open: Collection[str], report: _Report) -> None:
    decision = report.decision
    known = [name for name, kind in kinds.items() if kind in _TENSOR_LIKE]
    for key, _ in _ROLES:
        for index, name in enumerate(getattr(decision, key)):
            if name in known or name in still_open:
                continue
            kind = kinds.get(name)
            what = f"is a {kind}, not a tensor" if kind else f"is no tensor of kernel '{report.kernel.qualified_name}'"
            report.add(
                "io-contract-tensor-invalid", f"{key}[{index}]", f"'{name}' in {key} {what}", _choices(name, "tensors", known)
            )
    homeless = [name for name in known if not _roles_of(name, decision)]
    if homeless:
        message = f"no role for {', '.join(homeless)} of kernel '{report.kernel.qualified_name}'"
        report.add("io-contract-tensor-incomplete", "", message, f"put into inputs, outputs or workspaces: {', '.join(homeless)}")
    if kinds.get(decision.pybind_return_tensor) is ParameterKind.TENSOR_LIST:
        message = f"'{decision.pybind_return_tensor}' is a tensor list and cannot be returned"
        report.add("pybind-return-tensor-invalid", "pybind_return_tensor", message)


def _check_tensor_lists(kinds: Mapping[str, ParameterKind | None], report: _Report) -> None:
    lists = [name for name, kind in kinds.items() if kind is ParameterKind.TENSOR_LIST]
    wrapper = report.decision.runtime_wrapper
    if not lists:
        return
    if wrapper is None:
        message = f"how the tensor list {lists[0]} is laid out in memory is known to its author only"
        hint = "runtime_wrapper:\n  source: wrapper.cpp\n  entry: run_with_lists"
        report.add("tensor-list-runtime-wrapper-required", f"parameters.{lists[0]}", message, hint)
        return
    order = ", ".join(lists)
    if not wrapper.tensor_list_descriptor_strategy:
        message = "the descriptors of tensor lists must be prepared before a graph is captured"
        hint = (
            "tensor_list_descriptor_strategy: prepared_workspace_tail\nprepare_entry: ...\ndescriptor_bytes: ...\n"
            f"descriptor_order: [{order}]"
        )
        report.add("tensor-list-prepared-runtime-state-required", "runtime_wrapper", message, hint)
        return
    # The order is that in which the contract declares them, as the public tool has it.
    declared = [name for name in report.decision.parameters if name in lists]
    if list(wrapper.descriptor_order) != declared:
        given = ", ".join(wrapper.descriptor_order)
        message = f"descriptor_order is [{given}], but the tensor lists are declared as [{', '.join(declared)}]"
        report.add("tensor-list-descriptor-order-mismatch", "runtime_wrapper.descriptor_order", message)
