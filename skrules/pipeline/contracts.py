"""One contract for several operators: each gets the entries that speak of its kernels, and nobody gets none by mistake."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from skrules.contract.load import load
from skrules.contract.match import parse_target
from skrules.contract.model import EntryContract
from skrules.engine.files import bytes_of
from skrules.errors import UsageError
from skrules.pipeline.operators import Operator

_NAME = "io-contract"


def share_contract(
    path: Path | None, operators: Sequence[Operator], kernels: Sequence[Sequence[str]]
) -> dict[int, tuple[str, bytes]]:
    """Return, by the place of an operator, the name and content of the contract that it gets from `--io-contract`.

    `kernels` are the names of each operator's kernels. A single operator gets the file as it is; several get it divided.
    Raises UsageError for entries of nobody, and for an operator that has a contract of its own already.
    """
    if path is None:
        return {}
    data = bytes_of(path)
    contract = load(data, str(path))
    owners: dict[int, list[EntryContract]] = {}
    for entry in contract.entries:
        found = [index for index, names in enumerate(kernels) if _speaks_of(entry, names)]
        if not found:
            known = sorted({name for names in kernels for name in names})
            raise UsageError(f"entry '{entry.name}' is of no kernel of the assets", at=entry.at, allowed=known)
        for index in found:
            owners.setdefault(index, []).append(entry)
    for index in owners:
        own = operators[index].contract
        if own:
            raise UsageError(
                f"{path} has '{owners[index][0].name}', and {operators[index].folder / own} is its contract already",
                hint="keep one of them",
            )
    if len(operators) == 1:
        return {0: (f"{_NAME}{path.suffix if path.suffix in ('.json', '.yaml', '.yml') else '.yaml'}", data)}
    document = yaml.safe_load(data)
    return {
        index: (f"{_NAME}-{operators[index].name}.json", _part(document, {entry.name for entry in entries}))
        for index, entries in owners.items()
    }


def _speaks_of(entry: EntryContract, kernels: Sequence[str]) -> bool:
    target = parse_target(entry.bind_target) if entry.bind_target else None
    names = {target.name} if target else {entry.source_entry_name or entry.name}
    plain = {name.rpartition("::")[2] for name in names}
    return any(kernel in names or kernel.rpartition("::")[2] in plain for kernel in kernels)


def _part(document: Mapping[str, Any], names: set[str]) -> bytes:
    entries = {name: value for name, value in document["entries"].items() if name in names}
    return (json.dumps({**document, "entries": entries}, indent=2) + "\n").encode()
