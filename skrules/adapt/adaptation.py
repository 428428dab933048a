"""From a source file and its resolved entries to SuperKernel-ready text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skrules.adapt.body import read_facts
from skrules.adapt.current import binding_of, read_bindings
from skrules.adapt.draft import AdaptedEntry, Draft, identity
from skrules.adapt.guards import branch_guards, guard, stated_macros
from skrules.adapt.names import legacy_edits
from skrules.adapt.places import finding
from skrules.adapt.splice import Fragment, after_kernel, include_fragment, splice
from skrules.adapt.twins import twin_fragments
from skrules.contract.entry import Entry, Resolution
from skrules.errors import Location
from skrules.findings import Finding, Severity, blockers
from skrules.shapes import shape
from skrules.source.form import Form, SkForm, classify
from skrules.source.kernels import DIGRAPH
from skrules.source.model import Kernel, SourceUnit, Span
from skrules.source.selection import MACRO_REDEFINED

COMPLETED = "completed"
ALREADY_CURRENT = "already-current"
NEEDS_HUMAN = "needs-human"


@dataclass(frozen=True, slots=True, kw_only=True)
class AdaptedSource:
    """`findings` has those of the reader and of the contract too, so that one list says all there is to say of the file.

    `status` is "completed", "already-current" (the file is bound already and stays as it is) or "needs-human" (there is no text).
    """

    unit: SourceUnit
    entries: tuple[AdaptedEntry, ...]
    findings: tuple[Finding, ...]
    status: str
    fragments: tuple[Fragment, ...] = ()

    def text(self, line_markers: bool = False, generated: str = "") -> bytes:
        """Return the adapted file: the original bytes and the fragments between them.

        With `line_markers`, `#line` directives let a compiler speak of original lines by `unit.path` and of generated ones by
        `generated`, the name of the file that will hold this text. Raises ValueError for a source that needs a human.
        """
        if self.status == NEEDS_HUMAN:
            raise ValueError(f"{self.unit.path} has open findings and no adapted text")
        return splice(self.unit, self.fragments, generated=generated if line_markers else None).encode("latin-1")


def adapt(unit: SourceUnit, resolution: Resolution, headers: Sequence[SourceUnit] = ()) -> AdaptedSource:
    """Return the SuperKernel form of a file. Pure: equal records give equal text.

    `headers` are the workspace headers that the file includes, read like sources: the block number and TPipes are looked for
    in them too. Nothing is guessed: what is not known for sure is a blocker with its place, and the file then needs a human.
    """
    renames, notes = _renames(unit)
    form = classify(unit)
    unclear = _form_findings(unit, form)
    unread = [each for header in headers for each in header.findings if each.rule in (MACRO_REDEFINED, DIGRAPH)]
    findings = [*unit.findings, *unread, *resolution.findings, *unclear, *notes]
    entries: tuple[AdaptedEntry, ...] = ()
    fragments = renames
    status = COMPLETED
    if form.form is SkForm.CURRENT_SK_BIND:
        entries = _current_entries(unit, resolution)
        fragments += _verified(unit, resolution, headers)
    elif not unclear:
        entries, made, problems = _bind_kernels(unit, resolution, headers)
        findings += problems
        fragments += made
    fragments += tuple(branch_guards(unit, resolution.contract_path))
    if form.form is SkForm.CURRENT_SK_BIND and not fragments:
        status = ALREADY_CURRENT
    if blockers(findings):
        return AdaptedSource(unit=unit, entries=(), findings=tuple(findings), status=NEEDS_HUMAN)
    return AdaptedSource(unit=unit, entries=entries, findings=tuple(findings), status=status, fragments=fragments)


def _verified(unit: SourceUnit, resolution: Resolution, headers: Sequence[SourceUnit]) -> tuple[Fragment, ...]:
    """Return what verifies stated macros behind each kernel that is bound by hand."""
    text = guard(stated_macros([unit, *headers]), resolution.contract_path, unit.newline)
    places = {after_kernel(unit, entry.kernel) for entry in resolution.entries} if text else set()
    return tuple(Fragment(span=Span(start=at, end=at), text=unit.newline + text) for at in sorted(places))


def _bind_kernels(
    unit: SourceUnit, resolution: Resolution, headers: Sequence[SourceUnit]
) -> tuple[tuple[AdaptedEntry, ...], tuple[Fragment, ...], list[Finding]]:
    """Make the blocks of all kernels that have entries, and the include that they need."""
    facts = read_facts(unit, headers)
    taken = set(facts.words)
    template = shape("adapt", "binding.j2", newline=unit.newline)
    verified = guard(stated_macros([unit, *headers]), resolution.contract_path, unit.newline)
    groups: dict[tuple[str, str], list[Entry]] = {}
    for entry in resolution.entries:
        groups.setdefault(identity(entry.kernel), []).append(entry)
    definitions: dict[tuple[str, str], list[Kernel]] = {name: [] for name in groups}
    for kernel in unit.kernels:
        if identity(kernel) in groups:
            definitions[identity(kernel)].append(kernel)
    adapted: list[AdaptedEntry] = []
    fragments: list[Fragment] = []
    findings: list[Finding] = []
    helpers: set[str] = set()
    for name, entries in groups.items():
        draft = Draft(facts, entries, taken, template, verified)
        fragments += [block for kernel in definitions[name] if (block := draft.block(kernel)) is not None]
        findings += dict.fromkeys(draft.findings)
        adapted += draft.adapted[: len(entries)]
        helpers |= draft.twins
    fragments += twin_fragments(facts.helpers, helpers)
    bound = tuple(kernel for kernel in unit.kernels if identity(kernel) in groups)
    include = include_fragment(unit, facts.scopes, bound) if bound else None
    return tuple(adapted), tuple([*fragments, include] if include else fragments), findings


def _form_findings(unit: SourceUnit, form: Form) -> list[Finding]:
    if form.form not in (SkForm.PARTIAL, SkForm.UNKNOWN) or (not unit.kernels and blockers(unit.findings)):
        return []
    at = Location(file=unit.path)
    if not unit.kernels and not form.markers:
        return [
            Finding(
                rule="codegen.no-kernel",
                severity=Severity.BLOCKER,
                at=at,
                message="the file has no kernel: it defines no __global__ function",
                hint="leave it out of the operator's sources; what kernels need of it belongs in a header that they include",
            )
        ]
    if form.markers:
        at = Location(file=unit.path, line=form.markers[0].line, column=form.markers[0].column)
    return [
        Finding(
            rule="codegen.unknown-sk-form",
            severity=Severity.BLOCKER,
            at=at,
            message=f"the file is neither a plain kernel file nor fully bound: {'; '.join(form.notes)}",
            hint="bind every kernel by hand, or remove the SK code and let it be generated",
        )
    ]


def _current_entries(unit: SourceUnit, resolution: Resolution) -> tuple[AdaptedEntry, ...]:
    bindings = read_bindings(unit)
    entries = []
    for entry in resolution.entries:
        found = binding_of(bindings, entry.bind_target)
        decision = entry.contract.sk
        entries.append(
            AdaptedEntry(
                entry=entry,
                args_struct=found.args_struct if found else "",
                sk_function=found.function if found else "",
                sk_type=found.sk_type if found else "",
                uses_sys_args=found.uses_sys_args if found else False,
                splits=found.splits if found else decision.num_splits,
                mask=decision.mask if found is None or found.mask is None else found.mask,
                bind_line=found.line if found else "",
            )
        )
    return tuple(entries)


def _renames(unit: SourceUnit) -> tuple[tuple[Fragment, ...], list[Finding]]:
    """Bring hand-written code to the current names of the system arguments."""
    edits = legacy_edits(unit.tokens)
    rule = "codegen.inline-sys-args-api-current"
    findings = []
    for edit in edits:
        message = f"'{unit.text[edit.start : edit.end]}' is now called '{edit.text}'; renamed"
        findings.append(finding(unit, edit.start, rule, message, severity=Severity.NOTE))
    return tuple(Fragment(span=Span(start=edit.start, end=edit.end), text=edit.text) for edit in edits), findings
