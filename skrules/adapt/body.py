"""The body of the SK function: the kernel's own text with what the rules of a super kernel change, token by token."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from skrules.adapt.askers import Helpers, read_helpers
from skrules.adapt.blocknum import ACCEPT_HINT, API, api_names, block_num_use, pasted_name, raw_finding
from skrules.adapt.copies import copy_findings
from skrules.adapt.edits import Edit, apply, line_start
from skrules.adapt.flow import DESTROYERS
from skrules.adapt.guards import inactive_edits
from skrules.adapt.helpers import (
    BLOCK_NUM,
    DESTROY,
    DESTRUCTOR,
    PASTE,
    PIPE,
    RAW,
    Chunk,
    Chunks,
    index_chunks,
    kernels_called,
    read_chunks,
)
from skrules.adapt.implicit import UNWRITTEN, implicit_chunks
from skrules.adapt.names import legacy_edits, words_in, words_of
from skrules.adapt.pipes import plan_pipes
from skrules.adapt.places import finding, tokens_in
from skrules.adapt.scopes import FileScopes, read_scopes
from skrules.adapt.tasktypes import TASK_MACROS
from skrules.adapt.twins import TwinUse, use_twins
from skrules.contract.kerneltype import decided
from skrules.contract.model import SuperKernelDecision
from skrules.findings import Finding, Severity
from skrules.source.code import Code, code_of
from skrules.source.model import CoreType, Kernel, SourceUnit, Span

_WORD = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFacts:
    """What the kernels of one file need to know of the rest of it and of its `headers`.

    `words` are all identifiers of these files, `macro_words` those that stand in directives.
    """

    unit: SourceUnit
    scopes: FileScopes
    api: frozenset[str]
    chunks: Chunks
    words: frozenset[str]
    macro_words: frozenset[str]
    headers: tuple[SourceUnit, ...]
    helpers: Helpers

    @property
    def kernels(self) -> frozenset[str]:
        return frozenset(kernel.name for unit in (self.unit, *self.headers) for kernel in unit.kernels)


@dataclass(frozen=True, slots=True, kw_only=True)
class SkBody:
    """`inner` is what stands between the braces, `words` the identifiers of the original body, `twins` the helpers whose SK
    twins it uses."""

    inner: str
    uses_sys_args: bool
    words: frozenset[str]
    findings: tuple[Finding, ...]
    twins: frozenset[str] = frozenset()


def read_facts(unit: SourceUnit, headers: Sequence[SourceUnit]) -> FileFacts:
    """Read once what all kernels of a file share."""
    scopes = read_scopes(unit)
    words, macro_words = words_of(unit)
    of_headers = [words_of(header) for header in headers]
    api = api_names(scopes.code)
    chunks = read_chunks([unit, *headers])
    return FileFacts(
        unit=unit,
        scopes=scopes,
        api=api,
        chunks=index_chunks([*implicit_chunks([unit, *headers], chunks), *chunks]),
        words=(words | macro_words).union(*(each | macros for each, macros in of_headers)),
        macro_words=macro_words.union(*(macros for _, macros in of_headers)),
        headers=tuple(headers),
        helpers=read_helpers(scopes, unit, api, words | macro_words, headers),
    )


def rewrite_body(
    facts: FileFacts, kernel: Kernel, decision: SuperKernelDecision, *, sys_args: str, arguments: Iterable[str]
) -> SkBody:
    """Return the body of the twin. `sys_args` is the name of the system arguments there, `arguments` are the template arguments
    of all entries.

    Whatever cannot be rewritten for sure is a blocker among the findings; the text is of no use then.
    """
    place = kernel.span.start
    unit, kernel = written(facts.unit, kernel)
    kernel = replace(kernel, type=decided(kernel.type, decision.kernel_type))
    code = code_of(tokens_in(unit, kernel.body))
    words = words_in(code.tokens)
    head = tokens_in(unit, Span(start=kernel.span.start, end=kernel.body.start))
    named = words_in(head) | {word for argument in arguments for word in _WORD.findall(argument)}
    called = (words | named) - (facts.kernels - kernels_called(code, facts.kernels))
    helpers = facts.chunks.reached(called | UNWRITTEN)
    use = block_num_use(
        unit,
        kernel,
        code,
        facts.api,
        own_function=API in facts.chunks.single,
        declared=facts.chunks.single,
        accepted=decision.helper_block_num == "accept",
        strange=facts.helpers.strange,
    )
    rewrites = bool(use.calls) and decision.with_sys_args != "never"
    edits = [*_task_macro_edits(unit.text, code), *legacy_edits(code.tokens), *use.index_edits(code)]
    twins = use_twins(facts.helpers, place, code, helpers, _number(sys_args), named, decision)
    findings = [*use.findings, *_in_helpers(kernel, helpers, decision, twins), *_statics(unit, kernel, code)]
    findings += copy_findings(unit, kernel.name, code, facts.headers)
    if decision.helper_block_num != "accept":
        findings += _pasted(kernel, helpers, words | named)
    edits += twins.edits
    if rewrites:
        edits += use.edits(code, _number(sys_args))
    elif use.calls:  # the contract says never
        findings.append(
            finding(
                unit,
                code.tokens[use.calls[0][0]].start,
                "codegen.sys-args-never",
                f"{kernel.name}: {API} is left as it is and tells the block number of the super kernel",
                severity=Severity.WARNING,
                hint="the contract says sk.with_sys_args: never",
            )
        )
    places = [edit.start for edit in (*(use.edits(code, "") if rewrites else ()), *twins.edits)]
    if places:
        findings += _mix_warning(unit, kernel, min(places))
    pipes = plan_pipes(code, unit.text, unit.newline, natural=_natural(helpers, words))
    edits += pipes.edits
    edits += list(inactive_edits(unit, kernel.body, edits))
    findings += _pipe_findings(unit, kernel, code, helpers, pipes.left)
    return SkBody(
        inner=_inner(unit, kernel, edits).replace(unit.newline, facts.unit.newline),
        uses_sys_args=decision.with_sys_args == "always" or rewrites or bool(twins.names),
        words=words,
        findings=tuple(findings),
        twins=twins.names,
    )


def _pasted(kernel: Kernel, helpers: Sequence[Chunk], words: frozenset[str]) -> Iterator[Finding]:
    """Say where `##` can make a name of the block number: what a macro makes is not looked through, so it is not known."""
    made = [use for chunk in helpers for use in chunk.uses if use.what == PASTE]
    name = pasted_name(words.union(*(chunk.words for chunk in helpers))) if made else ""
    if name:
        message = f"{kernel.name}: the macro '{made[0].word}' can make the name '{name}' with ##, which no twin would be given"
        hint = f"write {name} out\n{ACCEPT_HINT}"
        yield finding(made[0].unit, made[0].offset, "codegen.block-num-in-helper", message, hint=hint)


def written(unit: SourceUnit, kernel: Kernel) -> tuple[SourceUnit, Kernel]:
    """Return where the text of a kernel stands: in its file, or in the expansion of the macro use that defines it."""
    if kernel.expansion is None or kernel.definition is None:
        return unit, kernel
    return kernel.expansion, kernel.definition


def _number(sys_args: str) -> str:
    """Return the block number as an expression. The cast keeps the API's type: arithmetic and deduced types stay the same."""
    return f"static_cast<int64_t>({sys_args}->skNumBlocks)"


def _in_helpers(kernel: Kernel, helpers: Iterable[Chunk], decision: SuperKernelDecision, twins: TwinUse) -> Iterator[Finding]:
    """Report the block number where the kernel reaches it through other code, which has no system arguments."""
    told: set[tuple[str, int]] = set()
    for chunk, use in [(each, use) for each in helpers for use in each.uses]:
        if (use.unit.path, use.offset) in told:
            continue  # what runs without its name may have one besides
        told.add((use.unit.path, use.offset))
        if use.what == BLOCK_NUM and decision.helper_block_num != "accept" and not twins.names:
            reason = f"; it gets no SK twin: {twins.problem}" if twins.problem else ""
            yield finding(
                use.unit,
                use.offset,
                "codegen.block-num-in-helper",
                f"{kernel.name} reaches {use.word} through '{chunk.title}', where a super kernel's own block number is told"
                + reason,
                hint=ACCEPT_HINT,
            )
        elif use.what == RAW:
            yield raw_finding(use.unit, use.offset, kernel.name, use.word, accepted=decision.helper_block_num == "accept")


def _natural(helpers: Sequence[Chunk], words: frozenset[str]) -> str:
    """Return why all TPipes of a body must keep their natural destruction, or ""."""
    reasons = ((DESTROY, "may destroy it"), (PIPE, "has a TPipe of its own"), (DESTRUCTOR, "has a destructor, which may use it"))
    for what, reason in reasons:
        for chunk in helpers:
            if any(use.what == what for use in chunk.uses):
                return f"'{chunk.title}' {reason}"
    made = [use.word for chunk in helpers for use in chunk.uses if use.what == PASTE]
    if made and pasted_name(words.union(*(chunk.words for chunk in helpers)), sorted(DESTROYERS)):
        return f"the macro '{made[0]}' may destroy it"
    return ""


def _inner(unit: SourceUnit, kernel: Kernel, edits: list[Edit]) -> str:
    """Return the edited text between the braces: whole lines, without the empty rest of the brace's own line."""
    inner = apply(unit.text, edits, kernel.body.start + 1, kernel.body.end - 1)
    if "\n" not in inner and "\r" not in inner:
        return f"    {inner.strip()}{unit.newline}" if inner.strip() else ""
    inner = re.sub(r"\A[ \t]*(?:\r\n?|\n)", "", inner)
    inner = inner.rstrip(" \t")
    return inner if not inner or inner[-1] in "\r\n" else inner + unit.newline


def _task_macro_edits(text: str, code: Code) -> list[Edit]:
    edits = []
    for index in range(len(code.tokens)):
        if code.text(index) not in TASK_MACROS or not code.is_identifier(index) or code.text(index + 1) != "(":
            continue
        last = code.partner(index + 1)
        if last < 0:
            continue
        start, end = code.tokens[index].start, code.tokens[last].end
        # After `if (...)` or `else` the semicolon is the statement that must stay.
        if code.text(last + 1) == ";" and (code.text(index - 1) in ("{", "}", ";") or code.is_directive(index - 1)):
            end = code.tokens[last + 1].end
        begin = line_start(text, start)
        rest = re.compile(r"[ \t]*(?:\r\n?|\n)").match(text, end)
        if rest and not text[begin:start].strip(" \t"):
            start, end = begin, rest.end()
        edits.append(Edit(start=start, end=end, text=""))
    return edits


def _statics(unit: SourceUnit, kernel: Kernel, code: Code) -> list[Finding]:
    return [
        finding(
            unit,
            code.tokens[index].start,
            "codegen.local-static",
            f"{kernel.name}: a static variable of the body exists once per split of the SK function",
            severity=Severity.WARNING,
            hint="make it a local variable, or a constexpr",
        )
        for index in range(len(code.tokens))
        if code.text(index) == "static" and not {code.text(index - 1), code.text(index + 1)} & {"constexpr", "const"}
    ]


def _mix_warning(unit: SourceUnit, kernel: Kernel, offset: int) -> list[Finding]:
    if kernel.type.core is not CoreType.MIX or (kernel.type.aic, kernel.type.aiv) != ("1", "2"):
        return []
    return [
        finding(
            unit,
            offset,
            "codegen.block-num-in-mix",
            f"{kernel.name}: in a 1:2 mix kernel a vector core sees twice the block number in sysArgs",
            severity=Severity.WARNING,
            hint="divide by two on vector cores, or pass the block number as a parameter",
        )
    ]


def _pipe_findings(
    unit: SourceUnit, kernel: Kernel, code: Code, helpers: Iterable[Chunk], left: Iterable[tuple[int, str]]
) -> Iterator[Finding]:
    """Report the TPipes that cost a barrier: those of the body that are left alone, and those of helpers."""
    places = [(unit, code.tokens[index].start, reason) for index, reason in left]
    for chunk in helpers:
        places += [(use.unit, use.offset, f"it belongs to '{chunk.title}'") for use in chunk.uses if use.what == PIPE]
    for where, offset, reason in places:
        yield finding(
            where,
            offset,
            "codegen.tpipe-not-local",
            f"{kernel.name}: a TPipe keeps its natural destruction, a barrier more in a super kernel: {reason}",
            severity=Severity.WARNING,
            hint="declare the TPipe in the kernel body and pass its address",
        )
