"""What an operator is, as far as its files say: its kernels, the names that callers will know them by, what is missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from skrules.contract.check import resolve_units
from skrules.contract.entry import Entry
from skrules.contract.load import load
from skrules.contract.model import Contract
from skrules.engine.files import bytes_of
from skrules.errors import UsageError
from skrules.pipeline.operators import Operator
from skrules.source.form import classify
from skrules.source.includes import local_headers
from skrules.source.kernels import read


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """`kernels` are qualified names; `entries` the public names that callers will use, and `resolved` what is known of
    them; `forms` is by source."""

    kernels: tuple[str, ...]
    entries: tuple[str, ...]
    forms: dict[str, str]
    resolved: tuple[Entry, ...] = ()

    def to_json(self, operator: Operator) -> dict[str, Any]:
        """Return the unit with the published names of fields."""
        return {
            "schema_version": 1,
            "unit_id": operator.name,
            "entry_name": self.entries[0] if self.entries else "",
            "entries": list(self.entries),
            "kernels": list(self.kernels),
            "kernel_sources": list(operator.sources),
            "forms": self.forms,
            "io_contract": operator.contract,
            "runtime_fixture": operator.cases,
            "reference": operator.reference,
            "supported_arches": list(operator.archs),
            "support_source": "declared" if operator.archs else "not-declared",
        }


def read_unit(operator: Operator, contract: bytes | None, name: str) -> Unit:
    """Read the sources of an operator; `contract` is its contract, called `name`, or None.

    A contract that cannot be read says nothing here: adapting tells what is wrong with it.
    """
    decisions = None
    if contract is not None:
        try:
            decisions = load(contract, name)
        except UsageError:
            decisions = None
    return _unit(operator, decisions)


def _unit(operator: Operator, contract: Contract | None) -> Unit:
    units = []
    forms = {}
    for source in operator.sources:
        path = operator.folder / source
        headers = [read(data, found) for found, data in local_headers(str(path)).items()]
        unit = read(bytes_of(path), source, headers=headers, macros=contract.macros if contract else {})
        units.append(unit)
        forms[source] = str(classify(unit).form)
    resolved = resolve_units(units, contract)
    return Unit(
        kernels=tuple(dict.fromkeys(kernel.qualified_name for unit in units for kernel in unit.kernels)),
        entries=tuple(dict.fromkeys(entry.name for found in resolved for entry in found.entries)),
        forms=forms,
        resolved=tuple(entry for found in resolved for entry in found.entries),
    )


def duplicates(units: Sequence[tuple[str, Operator, Unit]]) -> list[dict[str, Any]]:
    """Return the names that operators of different assets share, as `{"entry": ..., "assets": [...]}`, sorted."""
    owners: dict[str, list[str]] = {}
    for asset, operator, unit in units:
        for name in {operator.name, *(unit.entries or unit.kernels)}:
            owners.setdefault(name, []).append(asset)
    return [{"entry": name, "assets": assets} for name, assets in sorted(owners.items()) if len(set(assets)) > 1]
