"""What is compiled for one source: its adapted text with the marks of presence, then the runtime wrappers of its entries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from skrules.adapt.adaptation import AdaptedSource
from skrules.adapt.guards import guard, stated_macros
from skrules.binding.presence import presence_marks
from skrules.binding.wrapper import check_shared, check_wrapped
from skrules.contract.entry import Entry
from skrules.contract.model import Contract
from skrules.findings import Finding
from skrules.source.kernels import read
from skrules.source.model import SourceUnit

_BOM = "\xef\xbb\xbf"

Wrappers = Mapping[str, SourceUnit]


def read_wrappers(
    contract: Contract | None, folder: Path, shown: str, read_bytes: Callable[[Path], bytes] = Path.read_bytes
) -> dict[str, SourceUnit]:
    """Read the runtime wrappers that the contract names, by that name; one that is not there is left out.

    They lie below `folder`, which messages call `shown`, "" for the folder that all names start from.
    """
    named = [entry.runtime_wrapper.source for entry in contract.entries if entry.runtime_wrapper] if contract else []
    macros = contract.macros if contract else {}
    return {
        name: read(read_bytes(folder / name), f"{shown}/{name}" if shown else name, macros=macros)
        for name in dict.fromkeys(named)
        if (folder / name).is_file()
    }


def wrappers_of(entries: Sequence[Entry], wrappers: Wrappers) -> list[SourceUnit]:
    """Return the wrappers of `entries`, each once."""
    names = dict.fromkeys(entry.contract.runtime_wrapper.source for entry in entries if entry.contract.runtime_wrapper)
    return [wrappers[name] for name in names if name in wrappers]


def check_wrappers(entries_of: Sequence[tuple[str, Sequence[Entry]]], wrappers: Wrappers) -> list[Finding]:
    """Return what is wrong with the wrappers of sources, whose entries `entries_of` has by path."""
    entries = [entry for _, found in entries_of for entry in found]
    told = [finding for wrapper in wrappers_of(entries, wrappers) for finding in wrapper.findings]
    for entry in entries:
        if entry.contract.runtime_wrapper:
            told += check_wrapped(entry, wrappers.get(entry.contract.runtime_wrapper.source))
    return [*told, *check_shared(entries_of)]


def marked(source: AdaptedSource) -> AdaptedSource:
    """Return an adapted source with the marks of presence of its entries."""
    marks = presence_marks(source.unit, [each.entry for each in source.entries])
    return replace(source, fragments=(*source.fragments, *marks))


def verification_of(wrapper: SourceUnit, contract_path: str, newline: str) -> str:
    """Return what verifies, in front of a wrapper, the macros that the contract states and that decided something in it."""
    return guard(stated_macros([wrapper]), contract_path, newline)


def text_of(wrapper: SourceUnit) -> str:
    """Return the text of a wrapper as it can stand in the middle of a file."""
    return wrapper.text.removeprefix(_BOM)
