"""Documents about an asset that other tools make: public names of entries, and what is known of their chips."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skrules.commands.files import read_object
from skrules.contract.entry import Entry
from skrules.errors import Location, UsageError
from skrules.label import is_name

NO_REPORT: Mapping[str, Any] = {"policy": "none", "renamed_entry_count": 0, "resolutions": []}
_TARGET_KEYS = ("supported_soc_versions", "supported_arches", "target_resolution", "support_source", "source_asset")


@dataclass(frozen=True, slots=True, kw_only=True)
class NameResolution:
    """`items` are the resolutions of this asset; `report` the document without paths of this machine, None when there is none."""

    items: tuple[Mapping[str, Any], ...] = ()
    report: Mapping[str, Any] | None = field(default=None)

    def item_of(self, entry: Entry) -> Mapping[str, Any] | None:
        """Return what is resolved for an entry: by its bind target where that is given, else by its source name."""
        named = [item for item in self.items if item["source_entry_name"] in (entry.kernel.name, entry.contract.name)]
        exact = [item for item in named if _plain(item.get("bind_target")) == _plain(entry.bind_target)]
        loose = [item for item in named if not item.get("bind_target") or "<" not in str(item["bind_target"])]
        return next(iter(exact or loose), None)

    def public_name(self, entry: Entry) -> str:
        item = self.item_of(entry)
        return str(item["public_entry_name"]) if item else entry.name

    def details(self, entry: Entry) -> dict[str, Any]:
        """Return the `name_resolution` of an entry in the manifest."""
        item = self.item_of(entry) or {}
        defaults = {"renamed": False, "rename_reason": "", "asset_namespace": "", "collision_group": ""}
        return {key: item.get(key, value) for key, value in defaults.items()}


def _plain(text: object) -> str:
    return "".join(str(text or "").split()).removeprefix("::")


def load_names(path: Path | None, asset: Path) -> NameResolution:
    """Read a name resolution; `asset` is the source asset it speaks of. Raises UsageError for another shape."""
    if path is None:
        return NameResolution()
    document = read_object(path)
    if document.get("schema_version") != 1:
        raise UsageError("schema_version must be 1", at=Location(file=str(path)))
    resolutions = _objects(document, "resolutions", path)
    wanted = asset.resolve()
    items = []
    for item in resolutions:
        for key in ("asset_path", "source_entry_name", "public_entry_name"):
            if not isinstance(item.get(key), str):
                raise UsageError(f"a resolution has no '{key}'", at=Location(file=str(path)))
        if not is_name(item["public_entry_name"]):
            raise UsageError(f"'{item['public_entry_name']}' is no C identifier", at=Location(file=str(path)))
        if Path(item["asset_path"]).resolve() == wanted:
            items.append(item)
    public = [{**item, "asset_path": item.get("asset_key", Path(item["asset_path"]).name)} for item in resolutions]
    return NameResolution(items=tuple(items), report={**document, "resolutions": public})


def load_understanding(path: Path | None) -> dict[str, dict[str, Any]]:
    """Read the chips and archs that an `operator-asset-understanding.json` has for each entry."""
    if path is None:
        return {}
    targets: dict[str, dict[str, Any]] = {}
    for unit in _objects(read_object(path), "operator_units", path):
        name = unit.get("entry_name")
        if not isinstance(name, str):
            raise UsageError("an operator unit has no 'entry_name'", at=Location(file=str(path)))
        for key in ("supported_soc_versions", "supported_arches"):
            if not isinstance(unit.get(key, []), list):
                raise UsageError(f"'{key}' of '{name}' must be a list", at=Location(file=str(path)))
        targets[name] = {key: unit[key] for key in _TARGET_KEYS if unit.get(key) is not None}
    return targets


def _objects(document: Mapping[str, Any], key: str, path: Path) -> list[dict[str, Any]]:
    items = document.get(key)
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise UsageError(f"'{key}' must be a list of objects", at=Location(file=str(path)))
    return items
