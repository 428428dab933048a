"""Reads a contract file, strictly: whatever is misspelt, of a wrong type or contradictory is an error with its place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from skrules.contract.document import read_document
from skrules.contract.keys import CAPABILITIES, CONTRACT
from skrules.contract.model import (
    Contract,
    EntryContract,
    ParameterDecision,
    ParameterKind,
    RuntimeWrapper,
    SuperKernelDecision,
)
from skrules.contract.reading import Problems, Read, read
from skrules.errors import Location

_ROLES = ("inputs", "outputs", "workspaces")


def load(data: bytes, path: str) -> Contract:
    """Read a contract in YAML or JSON; `path` names it in messages and positions.

    Raises UsageError (`DocumentErrors` when there are several): every error of the file at once.
    """
    problems = Problems()
    root = read(read_document(path, data), CONTRACT, problems)
    entries = root.value.get("entries") if root is not None else None
    loaded = [_entry(name, item, problems) for name, item in entries.value.items()] if entries is not None else []
    _check_public_names(loaded, problems)
    problems.finish()
    return Contract(path=path, entries=tuple(loaded), macros=root.get("macros", {}) if root is not None else {})


def _entry(name: str, item: Read, problems: Problems) -> EntryContract:
    if isinstance(item.value, str):  # short form: the returned tensor
        positions = {"": item.key_at, "outputs": item.at, "outputs[0]": item.at, "pybind_return_tensor": item.at}
        return EntryContract(
            name=name, outputs=(item.value,), pybind_return_tensor=item.value, at=item.key_at, positions=positions
        )
    _check_roles(name, item, problems)
    outputs, returned = _returned(name, item, problems)
    parameters = (
        {key: _parameter(decision) for key, decision in item.value["parameters"].value.items()}
        if "parameters" in item.value
        else {}
    )
    if returned and returned in parameters and parameters[returned].nullable:
        problems.add(f"'{returned}' is returned and cannot be nullable", item.value["parameters"].value[returned].at)
    launch = item.value.get("launch")
    compiling = item.value.get("compile")
    return EntryContract(
        name=name,
        inputs=tuple(item.get("inputs", ())),
        outputs=outputs,
        workspaces=tuple(item.get("workspaces", ())),
        pybind_return_tensor=returned,
        parameters=parameters,
        block_dim=launch.get("block_dim") if launch else None,
        defines=_defines(item, problems),
        options=tuple(_either(item, compiling, "options", problems)),
        source_entry_name=item.get("source_entry_name", ""),
        public_entry_name=item.get("public_entry_name", ""),
        bind_target=item.get("bind_target", "").strip(),
        runtime_wrapper=_wrapper(item.value["runtime_wrapper"], problems) if "runtime_wrapper" in item.value else None,
        sk=_super_kernel(item.value["sk"], problems) if "sk" in item.value else SuperKernelDecision(),
        at=item.key_at,
        positions=dict(_positions(item, "")),
    )


def _positions(item: Read, path: str) -> Iterator[tuple[str, Location]]:
    """Every place below an entry: of a key the user chose its key, of all else the value."""
    if isinstance(item.value, dict):
        for key, child in item.value.items():
            below = f"{path}.{key}" if path else key
            yield below, child.key_at if path == "parameters" else child.at
            yield from _positions(child, below)
    elif isinstance(item.value, list):
        for index, child in enumerate(item.value):
            yield f"{path}[{index}]", child.at
            yield from _positions(child, f"{path}[{index}]")


def _check_roles(name: str, item: Read, problems: Problems) -> None:
    """A workspace is scratch memory: it is neither read nor returned. Input and output at once is in-place."""
    known = {tensor.value: role for role in _ROLES[:2] if role in item.value for tensor in item.value[role].value}
    for tensor in item.value["workspaces"].value if "workspaces" in item.value else ():
        if tensor.value in known:
            problems.add(
                f"'{tensor.value}' of entry '{name}' is in workspaces and in {known[tensor.value]}",
                tensor.at,
                hint="a tensor in inputs and outputs is changed in place; a workspace is scratch memory only",
            )


def _returned(name: str, item: Read, problems: Problems) -> tuple[tuple[str, ...], str]:
    """Return outputs and the tensor that `run_<name>` returns, completing one from the other."""
    outputs = tuple(item.get("outputs", ()))
    returned = item.value.get("pybind_return_tensor")
    if problems.wrong & {item.path, f"{item.path}.outputs", f"{item.path}.pybind_return_tensor"}:
        return outputs, ""
    if returned is not None:
        if outputs and returned.value not in outputs:
            problems.add(f"'{returned.value}' is returned but not an output of entry '{name}'", returned.at, allowed=outputs)
        return outputs or (returned.value,), str(returned.value)
    if len(outputs) > 1:
        message = f"entry '{name}' has {len(outputs)} outputs and no pybind_return_tensor"
        problems.add(message, item.key_at, allowed=outputs, hint=f"name the one that run_{name} returns")
    elif not outputs and (item.get("inputs") or item.get("workspaces")):
        problems.add(f"entry '{name}' has tensors but no output", item.key_at, hint="outputs: [...]")
    return outputs, outputs[0] if len(outputs) == 1 else ""


def _parameter(item: Read) -> ParameterDecision:
    if isinstance(item.value, str):
        return ParameterDecision(kind=ParameterKind(item.value))
    kind = item.get("kind")
    return ParameterDecision(
        kind=ParameterKind(kind) if kind else None,
        nullable=item.get("nullable", False),
        dtype=item.get("dtype", ""),
        rank=item.get("rank"),
    )


def _either(item: Read, table: Read | None, key: str, problems: Problems) -> list[str]:
    """Read `compile.<key>` or its older spelling `compile_<key>`."""
    inner = table.value.get(key) if table else None
    outer = item.value.get(f"compile_{key}")
    if inner is not None and outer is not None:
        problems.add(f"'compile_{key}' and 'compile.{key}' are the same key", outer.key_at, hint=f"keep 'compile.{key}'")
    found = inner if inner is not None else outer
    return found.plain() if found is not None else []


def _defines(item: Read, problems: Problems) -> tuple[str, ...]:
    texts = _either(item, item.value.get("compile"), "defines", problems)
    return tuple(text if text.startswith("-D") else f"-D{text}" for text in texts)


def _wrapper(item: Read, problems: Problems) -> RuntimeWrapper:
    strategy = item.get("tensor_list_descriptor_strategy", "")
    state = ("prepare_entry", "descriptor_bytes", "descriptor_order")
    for key in state:
        if strategy and key not in item.value:
            problems.add(f"runtime_wrapper has no '{key}', which '{strategy}' needs", item.key_at)
        if not strategy and key in item.value:
            hint = "tensor_list_descriptor_strategy: prepared_workspace_tail"
            problems.add(f"runtime_wrapper.{key} has no meaning without a strategy", item.value[key].key_at, hint=hint)
    return RuntimeWrapper(
        source=item.get("source", ""),
        entry=item.get("entry", ""),
        tensor_list_descriptor_strategy=strategy,
        prepare_entry=item.get("prepare_entry", ""),
        descriptor_bytes=item.get("descriptor_bytes", 0),
        descriptor_order=tuple(item.get("descriptor_order", ())),
    )


def _super_kernel(item: Read, problems: Problems) -> SuperKernelDecision:
    if "mask" in item.value and "capabilities" in item.value:
        message = "sk.mask and sk.capabilities say the same thing"
        problems.add(message, item.value["capabilities"].key_at, hint="keep capabilities: they have names")
    fields: dict[str, Any] = {key: item.get(key) for key in item.value if key != "capabilities"}
    if "capabilities" in item.value:
        fields["mask"] = sum(CAPABILITIES[name] for name in item.get("capabilities"))
    return SuperKernelDecision(**fields)


def _check_public_names(entries: list[EntryContract], problems: Problems) -> None:
    first: dict[str, EntryContract] = {}
    for entry in entries:
        public = entry.public_entry_name or entry.name
        if public in first:
            at = entry.positions.get("public_entry_name", entry.at)
            problems.add(f"two entries have the public name '{public}'", at, hint=f"the other is in line {first[public].at.line}")
        first.setdefault(public, entry)
