"""What codegen does: an operator's sources and contract become adapted sources with launchers, and a descriptor."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from skrules.adapt.adaptation import AdaptedSource, adapt
from skrules.binding.compiled_text import check_wrappers, marked, read_wrappers, text_of, verification_of, wrappers_of
from skrules.binding.descriptor import render_descriptor
from skrules.binding.launcher import render_launchers
from skrules.binding.schema import render_entries
from skrules.contract.check import resolve_units
from skrules.contract.entry import Resolution
from skrules.contract.load import load
from skrules.contract.model import Contract
from skrules.engine.depfile import write_depfile
from skrules.engine.files import write_if_changed
from skrules.errors import NeedsHuman
from skrules.findings import Finding, Severity, blockers
from skrules.report.sources import Sources
from skrules.report.text import finding_lines
from skrules.rules.codegen import GeneratedSource, declared_options
from skrules.rules.declaration import Target
from skrules.rules.validate import Validation
from skrules.source.evaluation import Macros
from skrules.source.includes import local_headers
from skrules.source.kernels import read
from skrules.source.model import SourceUnit
from skrules.source.operator_build import operator_build_findings
from skrules.source.programs import defines_main
from skrules.toolchain.command_line import angled_folders, include_folders
from skrules.validate.examination import Examined

_NEWLINE = b"\n"
_DEFINED = re.compile(r"(?<!\S)-D\s*(\w+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorText:
    """What codegen makes of an operator: texts by source path, its descriptor, the table of its entries, and findings that do
    not stop it.
    """

    adapted: Mapping[str, bytes]
    options: Mapping[str, str]
    descriptor: str
    table: str
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorInput:
    """What codegen works on. `headers` has the workspace headers of each source, `wrappers` the sources of runtime wrappers by
    the contract's name of them; `options` are the compiler options that the operator is declared with. `read` names the files
    beside sources and contract that were read."""

    name: str
    units: tuple[SourceUnit, ...]
    contract: Contract | None
    headers: Mapping[str, Sequence[SourceUnit]]
    wrappers: Mapping[str, SourceUnit] = field(default_factory=dict)
    options: Sequence[str] = ()
    archs: tuple[str, ...] = ()

    @property
    def read(self) -> tuple[str, ...]:
        found = (*self.headers.values(), self.wrappers.values())
        return tuple(dict.fromkeys(unit.path for units in found for unit in units))


def read_operator(root: Path, target: Target) -> OperatorInput:
    """Read sources, headers and contract of an operator; paths are relative to `root`. Raises UsageError."""
    contract = target.file("contract")
    decisions = load((root / contract).read_bytes(), contract) if contract else None
    macros = decisions.macros if decisions else {}
    decided = [word for entry in decisions.entries for word in entry.options] if decisions else []
    words = declared_options(target)
    headers = {source: _headers(root, source, [*words, *decided], macros) for source in target.strings("srcs")}
    return OperatorInput(
        name=target.label.name,
        units=tuple(
            read((root / source).read_bytes(), source, headers=found, macros=macros) for source, found in headers.items()
        ),
        contract=decisions,
        headers=headers,
        wrappers=read_wrappers(decisions, root / target.label.package, target.label.package),
        options=words,
        archs=target.strings("archs"),
    )


def write_operator(
    root: Path,
    target: Target,
    sources: Sequence[GeneratedSource],
    *,
    validation: Validation,
    descriptor: str,
    table: str,
    depfile: str,
) -> None:
    """Write the generated files of an operator, those that changed; paths are relative to `root`, and `table` may be "".

    Raises NeedsHuman with all findings, and then nothing is written.
    """
    operator = read_operator(root, target)
    try:
        text = generate(operator, {source.source: source.adapted for source in sources}, validation)
    except NeedsHuman as error:
        if operator.contract is not None:
            raise
        hint = f"write the decisions to a file of {target.label.package or 'the package'} and name it in {target.at}"
        raise NeedsHuman(error.message, at=error.at, notes=error.notes, hint=f"{hint}: contract='contract.yaml'") from None
    for source in sources:
        write_if_changed(root / source.adapted, text.adapted[source.source])
        write_if_changed(root / source.options, text.options[source.source].encode())
    write_if_changed(root / descriptor, text.descriptor.encode())
    if table:
        write_if_changed(root / table, text.table.encode())
    write_if_changed(root / depfile, write_depfile(descriptor, operator.read).encode())
    report(str(target.label), text.findings)


def _headers(root: Path, source: str, options: Sequence[str], macros: Macros) -> tuple[SourceUnit, ...]:
    """Read the workspace headers that a source includes: what makes a kernel, and what it calls, may stand there."""
    folders = [root / folder for folder in include_folders(options)]
    found = local_headers(str(root / source), folders, angled=[root / folder for folder in angled_folders(options)])
    inside = {path: data for path, data in found.items() if Path(path).is_relative_to(root)}
    return tuple(read(data, Path(path).relative_to(root).as_posix(), macros=macros) for path, data in sorted(inside.items()))


def generate(operator: OperatorInput, adapted_paths: Mapping[str, str], validation: Validation | None = None) -> OperatorText:
    """Adapt and bind all sources of an operator.

    `adapted_paths` names the generated file of each source, for `#line`; `validation` are the rules that are asked.

    Raises NeedsHuman with every finding of every source when one of them stops the operator.
    """
    name, contract, headers, wrappers = operator.name, operator.contract, operator.headers, operator.wrappers
    adapted, findings = _adapted(operator, validation)
    if blockers(findings):
        raise needs_human(name, findings)
    entries = [entry.entry for source in adapted for entry in source.entries]
    texts = {}
    for source in adapted:
        path = source.unit.path
        own = [entry.entry for entry in source.entries]
        text = marked(source).text(line_markers=True, generated=adapted_paths[path])
        for wrapper in wrappers_of(own, wrappers):
            verified = verification_of(wrapper, contract.path if contract else "", "\n")
            text = _appended(text, verified, adapted_paths[path]) if verified else text
            text = _appended(text, text_of(wrapper), wrapper.path, 1)
        texts[path] = _appended(text, render_launchers(own), adapted_paths[path])
    return OperatorText(
        adapted=texts,
        options={
            source.unit.path: _options(source, wrappers, headers.get(source.unit.path, ()), operator.options)
            for source in adapted
        },
        descriptor=render_descriptor(name, entries, {entry.name: entry.type for entry in entries}),
        table=render_entries(name, entries),
        findings=findings,
    )


def examine_operator(operator: OperatorInput, validation: Validation, *, with_known: bool = False) -> Examined:
    """Return all that is to be said of an operator; `with_known`, also what the baseline of the workspace has."""
    _, resolutions, findings = _adaptations(operator)
    return validation.examine(operator.units, operator.headers, resolutions, operator.archs, findings, with_known=with_known)


def _adapted(operator: OperatorInput, validation: Validation | None) -> tuple[Sequence[AdaptedSource], tuple[Finding, ...]]:
    adapted, resolutions, findings = _adaptations(operator)
    if validation is None:
        return adapted, findings
    return adapted, validation.examine(operator.units, operator.headers, resolutions, operator.archs, findings).findings


def _adaptations(operator: OperatorInput) -> tuple[Sequence[AdaptedSource], Sequence[Resolution], tuple[Finding, ...]]:
    """Return the adapted sources, their entries, and what was found on the way."""
    units, headers = operator.units, operator.headers
    resolutions = resolve_units(units, operator.contract)
    adapted = [adapt(unit, found, headers.get(unit.path, ())) for unit, found in zip(units, resolutions, strict=True)]
    resolved = [(unit.path, found.entries) for unit, found in zip(units, resolutions, strict=True)]
    findings = [
        *(finding for source in adapted for finding in source.findings),
        *check_wrappers(resolved, operator.wrappers),
        *_build_findings(units, resolutions, headers, operator.options),
    ]
    return adapted, resolutions, tuple(dict.fromkeys(findings))


def _build_findings(
    units: Sequence[SourceUnit],
    resolutions: Sequence[Resolution],
    headers: Mapping[str, Sequence[SourceUnit]],
    options: Sequence[str],
) -> list[Finding]:
    """Say of each source what it lacks to be compiled here, in one finding instead of an error for every use."""
    findings: list[Finding] = []
    for unit, found in zip(units, resolutions, strict=True):
        words = [*options, *(word for entry in found.entries for word in (*entry.contract.defines, *entry.contract.options))]
        if "-include" not in words:  # which could bring in whatever is missing
            text = " ".join(words)
            findings += operator_build_findings(unit, headers.get(unit.path, ()), _DEFINED.findall(text))
    return findings


def _appended(text: bytes, more: str, path: str, line: int = 0) -> bytes:
    """Append source text that messages call line `line` and following of `path`; 0: the line of the result it will be."""
    if not text.endswith(b"\n"):
        text += b"\n"
    return text + f'#line {line or text.count(_NEWLINE) + 2} "{path}"\n'.encode() + more.encode("latin-1")


def _options(
    source: AdaptedSource, wrappers: Mapping[str, SourceUnit], headers: Sequence[SourceUnit], options: Sequence[str]
) -> str:
    """Return what a source is compiled with: the contract's own words, and what the build itself must see to."""
    entries = [entry.entry for entry in source.entries]
    words = dict.fromkeys(word for entry in entries for word in (*entry.contract.defines, *entry.contract.options))
    # A wrapper includes its neighbours, and so does the kernel it is compiled with.
    used = wrappers_of(entries, wrappers)
    places = {Path(wrapper.path).parent.as_posix(): "" for wrapper in used}
    places.pop(Path(source.unit.path).parent.as_posix(), None)
    own = [*words, *(word for place in places for word in ("-iquote", place))]
    is_named = "main" in _DEFINED.findall(" ".join((*options, *words)))
    if not is_named and any(defines_main(unit) for unit in (source.unit, *headers, *used)):
        # What the source is linked into has a `main` of its own, or is no program; several sources may have one each.
        own.append(f"-Dmain={_own_main(source.unit.path)}")
    return "".join(f"{_quote(word)}\n" for word in own)


def _own_main(path: str) -> str:
    """Return the name of the `main` of a source, another one for every path."""
    return "skrules_main_" + "".join(
        char if char.isascii() and char.isalnum() else "".join(f"_{byte:02x}" for byte in char.encode()) for char in path
    )


def _quote(word: str) -> str:
    # Response files of GCC and Clang: a backslash keeps the next character.
    return "".join(f"\\{char}" if char in " \t\n\\\"'" else char for char in word)


def needs_human(name: str, findings: Sequence[Finding]) -> NeedsHuman:
    """Return the error that ends an operator's build: every finding, and what to do."""
    stopping = blockers(findings)
    count = f"{len(stopping)} finding{'s' if len(stopping) > 1 else ''}"
    sources = _sources()
    notes = [line for finding in findings for line in finding_lines(finding, sources)]
    return NeedsHuman(f"{name}: {count} to settle before it can be adapted", at=stopping[0].at, notes=notes)


def report(label: str, findings: Sequence[Finding]) -> None:
    """Print findings that do not stop the operator; notes are left to the files of findings."""
    sources = _sources()
    told = ["\n".join(finding_lines(finding, sources)) for finding in findings if finding.severity is Severity.WARNING]
    if told:
        print("".join(f"{label}: {text}\n" for text in told), end="", flush=True)


def _sources() -> Sources:
    return Sources(Path())  # builds run in the root of their workspace, and commands tell files as they were given
