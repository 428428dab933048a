"""One file of the corpus through reader, contract and adaptation, and what that came to."""

from __future__ import annotations

import time
import traceback
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from skrules.adapt.adaptation import AdaptedSource, adapt
from skrules.contract.check import resolve
from skrules.findings import Finding, blockers
from skrules.source.evaluation import Macros
from skrules.source.kernels import read
from skrules.source.model import SourceUnit
from tests.corpus.comparison import difference
from tests.corpus.compiler import Compiler
from tests.corpus.contracts import complete_contract, possible_macros
from tests.corpus.headers import Headers
from tests.corpus.output import check_output
from tests.corpus.records import ExpectedFile, Outcome

NEEDS_HUMAN = "needs-human"
# Findings that `helper_block_num: accept` takes away: without one of them the second run says the same as the first.
_ACCEPTABLE = frozenset({"codegen.block-num-in-helper", "codegen.raw-block-variable"})
_UNTYPED = "codegen.kernel-type-unresolved"  # what a `kernel_type` takes away
_MAX_MACROS = 6
_MAX_READINGS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """`compiles` asks for the compiler check; `scratch` is a folder for it; `headers` tells where headers are read, None: they
    are not."""

    path: Path
    expected: ExpectedFile
    compiles: bool
    scratch: Path
    headers: Headers | None = None


def check_file(job: Job) -> Outcome:
    """Never raises: a crash of the product is an outcome of class "crash"."""
    try:
        return _check(job)
    except Exception:
        detail = traceback.format_exc().strip()
        problems = (("crash", detail),)
        return Outcome(
            name=job.expected.name,
            size=0,
            kernels_read=False,
            difference="crash",
            status="crash",
            rules=(),
            accepted_status="crash",
            accepted_rules=(),
            problems=problems,
        )


def _check(job: Job) -> Outcome:
    data = job.path.read_bytes()
    headers = job.headers.read(job.path) if job.headers else ()
    start = time.perf_counter()
    unit = read(data, job.expected.name, headers=headers)
    read_at = time.perf_counter()
    first = _adapted(unit, headers, "")
    adapted_at = time.perf_counter()
    chosen, first = _with_macros(job, first, unit)
    headers = job.headers.read(job.path, chosen) if job.headers and chosen else headers
    rules = _rules(first)
    second = (
        _adapted(first.unit, headers, "accept", first.findings, chosen)
        if _ACCEPTABLE.union({_UNTYPED}).intersection(rules)
        else first
    )
    problems = [
        problem for source in {id(first): first, id(second): second}.values() for problem in _problems(source, headers, chosen)
    ]
    compiled = job.compiles and second.status == "completed"
    unjudged: tuple[str, ...] = ()
    if compiled:
        compiler = Compiler(job.scratch, job.headers.folders if job.headers else ())
        messages = tuple(compiler.new_errors(second, job.path, chosen))
        problems += [("compiler", message) for message in messages if compiler.judged]
        unjudged = () if compiler.judged else messages
    told = difference(unit, job.expected)
    if told and not unit.findings:
        problems.append(("read-without-finding", told))
    return Outcome(
        name=job.expected.name,
        size=len(data),
        kernels_read=not told,
        difference=told,
        status=first.status,
        rules=rules,
        accepted_status=second.status,
        accepted_rules=_rules(second),
        problems=tuple(problems),
        compiled=compiled,
        unjudged=unjudged,
        seconds={"read": read_at - start, "adapt": adapted_at - read_at},
    )


def _with_macros(job: Job, first: AdaptedSource, unit: SourceUnit) -> tuple[Macros, AdaptedSource]:
    """Return what the contract of a file must state of macros, if that settles anything, and the adaptation then."""
    data = job.path.read_bytes()
    waiting: list[tuple[Macros, AdaptedSource]] = [({}, first)]
    for known, found in waiting:
        for macros in possible_macros(blockers(found.findings), known) if len(known) < _MAX_MACROS else ():
            headers = job.headers.read(job.path, macros) if job.headers else ()
            stated = read(data, unit.path, headers=headers, macros=macros)
            adapted = _adapted(stated, headers, "", (), macros)
            if _is_settled(adapted) and stated.kernels:
                return macros, adapted
            if len(waiting) < _MAX_READINGS:
                waiting.append((macros, adapted))
    return {}, first


def _is_settled(source: AdaptedSource) -> bool:
    return not set(_rules(source)) - _ACCEPTABLE - {_UNTYPED}


def _adapted(
    unit: SourceUnit,
    headers: Sequence[SourceUnit],
    helper_block_num: str,
    findings: Iterable[Finding] = (),
    macros: Macros = MappingProxyType({}),
) -> AdaptedSource:
    """Adapt with a contract that decides what `findings` of an adaptation before ask for."""
    untyped = {finding.message.partition(":")[0] for finding in findings if finding.rule == _UNTYPED}
    contract = complete_contract(unit, helper_block_num=helper_block_num, untyped=untyped, macros=macros)
    return adapt(unit, resolve(unit, contract), headers)


def _rules(source: AdaptedSource) -> tuple[str, ...]:
    return tuple(sorted({finding.rule for finding in blockers(source.findings)}))


def _problems(source: AdaptedSource, headers: Sequence[SourceUnit], macros: Macros) -> Iterator[tuple[str, str]]:
    if source.status == NEEDS_HUMAN:
        if not blockers(source.findings):
            yield "no-reason", "the file needs a human, and no finding says why"
        return
    yield from check_output(source, headers, macros)
