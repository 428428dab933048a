"""Adapts all sources of an asset with one contract, the way a build does, and makes the tree of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from skrules.aclgraph.entry import PackageEntry, package_parameter
from skrules.aclgraph.host import check_host, with_host_part
from skrules.aclgraph.support import Support, SupportDir, collect_support
from skrules.adapt.adaptation import AdaptedSource, adapt
from skrules.binding.compiled_text import check_wrappers, marked, read_wrappers, text_of, verification_of, wrappers_of
from skrules.binding.wrapper import check_shared, parameters_of
from skrules.commands.asset import Asset, AssetSource
from skrules.commands.public_names import NameResolution
from skrules.contract.check import resolve_units
from skrules.contract.entry import Entry, Resolution
from skrules.contract.model import Contract
from skrules.engine.files import bytes_of
from skrules.errors import UsageError
from skrules.findings import Finding, Severity, blockers
from skrules.source.form import SkForm
from skrules.source.model import SourceUnit

_PLACES = {"mask": ("sk.mask", "sk.capabilities"), "num_splits": ("sk.num_splits",), "with_sys_args": ("sk.with_sys_args",)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What one run is asked for. `decisions` has `mask`, `num_splits` and `with_sys_args` where the command line gives them;
    `targets` what is known of the chips of an entry, by its public name."""

    asset: Asset
    contract: Contract | None
    decisions: Mapping[str, Any] = field(default_factory=dict)
    support_dirs: tuple[SupportDir, ...] = ()
    names: NameResolution
    targets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class AdaptedFile:
    """`packaged` are the entries for the package, in the order of `adapted.entries`; none for a file that is passed through
    as it is. `findings` has all that is known of the file."""

    source: AssetSource
    adapted: AdaptedSource
    wrappers: tuple[SourceUnit, ...]
    packaged: tuple[PackageEntry, ...]
    support: Support | None
    findings: tuple[Finding, ...]

    @property
    def is_passed_through(self) -> bool:
        return not self.packaged and self.source.form.form is SkForm.CURRENT_SK_BIND

    @property
    def status(self) -> str:
        """`adapted`, `already_current` or `needs-human`."""
        if blockers(self.findings):
            return "needs-human"
        return "already_current" if self.source.form.form is SkForm.CURRENT_SK_BIND else "adapted"


def adapt_asset(request: Request) -> tuple[AdaptedFile, ...]:
    """Adapt every source. Raises UsageError where the command line contradicts the contract."""
    units = [source.unit for source in request.asset.sources]
    resolutions = [_decide(resolution, request.decisions) for resolution in resolve_units(units, request.contract)]
    renamed, clashes = _rename(resolutions, request)
    root = request.asset.root
    wrappers = read_wrappers(request.contract, root, root.as_posix(), bytes_of)
    files = [
        _adapt_file(source, resolution, wrappers, request)
        for source, resolution in zip(request.asset.sources, renamed, strict=True)
    ]
    shared = check_shared([(unit.path, found.entries) for unit, found in zip(units, renamed, strict=True)])
    if clashes or shared:
        files[0] = replace(files[0], findings=(*files[0].findings, *clashes, *shared))
    return tuple(files)


def _decide(resolution: Resolution, decisions: Mapping[str, Any]) -> Resolution:
    """Put the command line's decisions where the contract records none."""
    entries = []
    for entry in resolution.entries:
        contract = entry.contract
        for key, value in decisions.items():
            recorded = getattr(contract.sk, key)
            place = next((path for path in _PLACES[key] if path in contract.positions), None)
            if place and recorded != value:
                option = f"--{key.replace('_', '-')}"
                message = f"{option} {value} contradicts the contract, which records {recorded} for entry '{entry.name}'"
                raise UsageError(message, at=contract.where(place), hint=f"leave {option} out, or change the contract")
            contract = replace(contract, sk=replace(contract.sk, **{key: value}))
        entries.append(replace(entry, contract=contract))
    return replace(resolution, entries=tuple(entries))


def _rename(resolutions: Sequence[Resolution], request: Request) -> tuple[list[Resolution], list[Finding]]:
    """Give entries the public names of a name resolution; kernels and generated symbols keep theirs."""
    result = []
    first: dict[str, Entry] = {}
    clashes = []
    for resolution in resolutions:
        entries = []
        for entry in resolution.entries:
            public = replace(entry, name=request.names.public_name(entry))
            entries.append(public)
            if first.setdefault(public.name, public) is not public:
                clashes.append(
                    Finding(
                        rule="codegen.pybind-entry-specialization-ambiguous",
                        severity=Severity.BLOCKER,
                        at=entry.contract.at,
                        message=f"the name resolution calls two entries '{public.name}'",
                    )
                )
        result.append(replace(resolution, entries=tuple(entries)))
    return result, clashes


def _adapt_file(source: AssetSource, resolution: Resolution, wrappers: Mapping[str, SourceUnit], request: Request) -> AdaptedFile:
    if source.form.form is SkForm.CURRENT_SK_BIND and request.contract is None and blockers(resolution.findings):
        # Bound by hand, and nobody says what its parameters are: it is reused as it is, without a Python side.
        resolution = Resolution(entries=(), findings=())
    operator = resolution.entries[0].name if resolution.entries else source.path.stem
    used = wrappers_of(resolution.entries, wrappers)
    compiled = [(source.unit, source.path), *((wrapper, Path(wrapper.path)) for wrapper in used)]
    macros = request.contract.macros if request.contract else {}
    support = collect_support(compiled, request.asset.root, request.support_dirs, operator, macros)
    adapted = adapt(source.unit, resolution, support.headers)
    findings = [*adapted.findings, *check_wrappers([(source.unit.path, resolution.entries)], wrappers)]
    findings += [finding for entry in resolution.entries for finding in check_host(entry)]
    if resolution.entries:
        findings += support.findings
    csrc = f"csrc/{operator}.asc"
    packaged = tuple(_package_entry(each.entry, csrc, support.quote_dirs, request) for each in adapted.entries)
    return AdaptedFile(
        source=source,
        adapted=adapted,
        wrappers=tuple(used),
        packaged=packaged,
        support=support if packaged else None,
        findings=tuple(dict.fromkeys(findings)),
    )


def _package_entry(entry: Entry, csrc: str, quote_dirs: tuple[str, ...], request: Request) -> PackageEntry:
    contract = entry.contract
    return PackageEntry(
        name=entry.name,
        csrc_file=csrc,
        parameters=tuple(package_parameter(parameter) for parameter in parameters_of(entry)),
        returned=entry.return_parameter,
        wrapped=contract.runtime_wrapper is not None,
        prepares=bool(contract.runtime_wrapper and contract.runtime_wrapper.prepare_entry),
        quote_dirs=quote_dirs,
        defines=contract.defines,
        options=contract.options,
        target=request.targets.get(entry.name) or request.targets.get(entry.kernel.name) or {},
    )


def source_files(files: Sequence[AdaptedFile]) -> dict[str, bytes]:
    """Return the kernels and headers of the tree, by path: adapted sources with their host part, others byte for byte.

    Raises UsageError when two files would have one place.
    """
    made: dict[str, bytes] = {}
    for file in files:
        if file.is_passed_through:
            add_files(made, {file.source.file: file.source.unit.text.encode("latin-1")})
        elif file.packaged:
            add_files(made, {file.packaged[0].csrc_file: _packaged_text(file)})
            add_files(made, file.support.files if file.support else {})
    return made


def add_files(made: dict[str, bytes], more: Mapping[str, bytes]) -> None:
    """Add files to a tree. Raises UsageError when a place is taken by other content."""
    for path, data in more.items():
        if made.setdefault(path, data) != data:
            hint = "rename the source, or the entry with a public_entry_name in the contract"
            raise UsageError(f"two files of the tree would be {path}", hint=hint)


def _packaged_text(file: AdaptedFile) -> bytes:
    entries = [each.entry for each in file.adapted.entries]
    newline = file.source.unit.newline
    text = marked(file.adapted).text()
    for wrapper in file.wrappers:
        verified = verification_of(wrapper, entries[0].contract.at.file, newline)
        text += f"{newline}// {wrapper.path.rpartition('/')[2]}{newline}".encode()  # a name, not text of a file
        text += (verified + text_of(wrapper)).encode("latin-1")
    return with_host_part(text, entries, newline)
