"""The operators of an asset: what its SConscript declares or, without one, what lies in its folder."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from skrules.commands.asset import Asset, read_asset
from skrules.errors import UsageError
from skrules.label import is_name
from skrules.rules.declaration import FILE_NAME, Target, read_package, reference_of

#: What a contract may be called in the folder of an operator that declares nothing.
CONTRACTS = ("contract.yaml", "contract.yml", "contract.json", "operator-io-contract.json", "operator-io-contract.yaml")
CASES = "cases.yaml"
REFERENCE = "reference.py"
#: What the public tool calls a file that says what an operator is run on.
FIXTURE = "operator-sk-runtime-fixture.json"
_OTHER = re.compile(r"\W", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """One operator. `folder` is that of its package; all files are relative to it, "" where there is none.

    `archs` are those that are declared, none where nothing declares any. `is_declared`: an SConscript says all this.
    """

    name: str
    folder: Path
    sources: tuple[str, ...]
    contract: str = ""
    cases: str = ""
    reference: str = ""
    archs: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    is_declared: bool = False
    is_alone: bool = field(default=True)


def read_operators(path: Path, leave_out: Path) -> tuple[Operator, ...]:
    """Return the operators of the asset at `path`, a kernel file or a folder; `leave_out` is the folder of results.

    Raises UsageError when there is none, or when it is not clear what its contract is.
    """
    if path.is_dir() and (path / FILE_NAME).is_file():
        declared = _declared(path)
        if declared:
            return declared
    return (_found(read_asset(path, leave_out)),)


def _declared(folder: Path) -> tuple[Operator, ...]:
    root = folder.parent
    targets = [target for target in read_package(root, folder.name) if target.rule == "operator"]
    return tuple(_of_target(target, root, folder, is_alone=len(targets) == 1) for target in targets)


def _of_target(target: Target, root: Path, folder: Path, *, is_alone: bool) -> Operator:
    def inside(name: str) -> str:
        return name.removeprefix(f"{folder.name}/")

    return Operator(
        name=target.label.name,
        folder=folder,
        sources=tuple(inside(name) for name in target.strings("srcs")),
        contract=inside(target.file("contract")),
        cases=inside(target.file("cases")),
        reference=inside(reference_of(target, root)),
        archs=target.strings("archs"),
        defines=target.strings("defines"),
        options=target.strings("options"),
        is_declared=True,
        is_alone=is_alone,
    )


def _found(asset: Asset) -> Operator:
    is_file = asset.path.is_file()
    # Beside a single file there may be contracts and cases of others: it has those that its folder has only when it is a folder.
    contract = "" if is_file else _contract(asset.path)
    cases = CASES if not is_file and (asset.path / CASES).is_file() else ""
    reference = REFERENCE if cases and (asset.path / REFERENCE).is_file() else ""
    return Operator(
        name=operator_name(asset.path.stem if is_file else asset.path.name),
        folder=asset.root,
        sources=tuple(source.file for source in asset.sources),
        contract=contract,
        cases=cases,
        reference=reference,
        is_alone=not is_file,
    )


def _contract(folder: Path) -> str:
    found = [name for name in CONTRACTS if (folder / name).is_file()]
    if len(found) > 1:
        raise UsageError(f"{folder} has {' and '.join(found)}", hint="keep one of them: which is the contract?")
    return found[0] if found else ""


def operator_name(text: str) -> str:
    """Return the name of an operator whose folder or file is called `text`: other characters become `_`."""
    name = _OTHER.sub("_", text)
    return name if is_name(name) else f"op_{name}"
