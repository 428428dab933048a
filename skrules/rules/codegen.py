"""Codegen: an operator's sources and contract become adapted sources with launchers, and a descriptor."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from skrules.adapt import AdaptedSource, adapt
from skrules.binding.descriptor import render_descriptor
from skrules.binding.launcher import render_launchers
from skrules.contract.check import resolve_units
from skrules.contract.load import load
from skrules.contract.model import Contract
from skrules.engine.action import Action
from skrules.engine.depfile import write_depfile
from skrules.engine.files import write_if_changed
from skrules.errors import NeedsHuman
from skrules.findings import Finding, Severity, blockers
from skrules.rules.context import Context
from skrules.rules.declaration import Target
from skrules.source import read
from skrules.source.includes import local_headers
from skrules.source.model import SourceUnit

MNEMONIC = "ADAPT"


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedSource:
    """Where one source's generated files lie, relative to the workspace. `options` is a response file of compiler flags."""

    source: str
    adapted: str
    options: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Generated:
    sources: tuple[GeneratedSource, ...]
    descriptor: str
    action: Action


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorText:
    """What codegen makes of an operator: texts by source path, its descriptor, and findings that do not stop it."""

    adapted: Mapping[str, bytes]
    options: Mapping[str, str]
    descriptor: str
    findings: tuple[Finding, ...]


def codegen(target: Target, context: Context) -> Generated:
    """Return the one codegen Action of an operator and the paths of what it writes."""
    folder = f"{context.build}/gen/{target.label.path}"
    depfile = f"{folder}/codegen.d"
    sources = tuple(_place(source, target, folder) for source in target.strings("srcs"))
    descriptor = f"{folder}/descriptor.cpp"
    contract = target.file("contract")
    action = Action(
        mnemonic=MNEMONIC,
        label=str(target.label),
        what=" ".join(Path(source).name for source in target.strings("srcs")),
        inputs=(*target.strings("srcs"), *([contract] if contract else [])),
        outputs=(*(path for source in sources for path in (source.adapted, source.options)), descriptor),
        key={"codegen": context.codegen_digest},
        run=_runner(target.label.name, str(target.label), sources, contract, descriptor, depfile),
        depfile=depfile,
    )
    return Generated(sources=sources, descriptor=descriptor, action=action)


def _place(source: str, target: Target, folder: str) -> GeneratedSource:
    inside = Path(source).relative_to(target.label.package).as_posix()
    adapted = f"{folder}/{inside}" if inside.endswith(".asc") else f"{folder}/{inside}.asc"
    return GeneratedSource(source=source, adapted=adapted, options=f"{adapted}.rsp")


def _runner(
    name: str, label: str, sources: Sequence[GeneratedSource], contract_path: str, descriptor: str, depfile: str
) -> Callable[[Path], None]:
    def run(root: Path) -> None:
        contract = load((root / contract_path).read_bytes(), contract_path) if contract_path else None
        units = [read((root / source.source).read_bytes(), source.source) for source in sources]
        headers = {source.source: _headers(root, source.source) for source in sources}
        text = generate(name, units, contract, {source.source: source.adapted for source in sources}, headers)
        for source in sources:
            write_if_changed(root / source.adapted, text.adapted[source.source])
            write_if_changed(root / source.options, text.options[source.source].encode())
        write_if_changed(root / descriptor, text.descriptor.encode())
        names = dict.fromkeys(header.path for found in headers.values() for header in found)
        write_if_changed(root / depfile, write_depfile(descriptor, names).encode())
        report(label, text.findings)

    return run


def _headers(root: Path, source: str) -> tuple[SourceUnit, ...]:
    """Read the workspace headers that a source includes: what a kernel calls may stand there."""
    found = local_headers(str(root / source))
    inside = {path: data for path, data in found.items() if Path(path).is_relative_to(root)}
    return tuple(read(data, Path(path).relative_to(root).as_posix()) for path, data in sorted(inside.items()))


def generate(
    name: str,
    units: Sequence[SourceUnit],
    contract: Contract | None,
    adapted_paths: Mapping[str, str],
    headers: Mapping[str, Sequence[SourceUnit]],
) -> OperatorText:
    """Adapt and bind all sources of an operator.

    `adapted_paths` names the generated file of each source, for `#line`; `headers` has the workspace headers of each.

    Raises NeedsHuman with every finding of every source when one of them stops the operator.
    """
    resolutions = resolve_units(units, contract)
    adapted = [adapt(unit, found, headers.get(unit.path, ())) for unit, found in zip(units, resolutions, strict=True)]
    findings = tuple(dict.fromkeys(finding for source in adapted for finding in source.findings))
    if blockers(findings):
        raise needs_human(name, findings)
    entries = [entry.entry for source in adapted for entry in source.entries]
    texts = {}
    for source in adapted:
        path = source.unit.path
        adapted_text = source.text(line_markers=True, generated=adapted_paths[path])
        texts[path] = _with_launchers(
            adapted_text, render_launchers([entry.entry for entry in source.entries]), adapted_paths[path]
        )
    return OperatorText(
        adapted=texts,
        options={source.unit.path: _options(source) for source in adapted},
        descriptor=render_descriptor(name, entries, {entry.name: entry.kernel.type for entry in entries}),
        findings=findings,
    )


def _with_launchers(text: bytes, launchers: str, path: str) -> bytes:
    """Append the launchers; a compiler's messages on them name the generated file and its line."""
    if not text.endswith(b"\n"):
        text += b"\n"
    next_line = text.count(b"\n") + 2
    return text + f'#line {next_line} "{path}"\n{launchers}'.encode("latin-1")


def _options(source: AdaptedSource) -> str:
    words = dict.fromkeys(
        word for entry in source.entries for word in (*entry.entry.contract.defines, *entry.entry.contract.options)
    )
    return "".join(f"{_quote(word)}\n" for word in words)


def _quote(word: str) -> str:
    # Response files of GCC and Clang: a backslash keeps the next character.
    return "".join(f"\\{char}" if char in " \t\n\\\"'" else char for char in word)


def needs_human(name: str, findings: Sequence[Finding]) -> NeedsHuman:
    """Return the error that ends an operator's build: every finding, and what to do."""
    stopping = blockers(findings)
    count = f"{len(stopping)} finding{'s' if len(stopping) > 1 else ''}"
    notes = [line for finding in findings for line in str(finding).splitlines()]
    return NeedsHuman(f"{name}: {count} to settle before it can be adapted", at=stopping[0].at, notes=notes)


def report(label: str, findings: Sequence[Finding]) -> None:
    """Print findings that do not stop the operator; notes are left to the files of findings."""
    lines = [f"{label}: {finding}\n" for finding in findings if finding.severity is Severity.WARNING]
    if lines:
        print("".join(lines), end="", flush=True)
