"""Verdicts: what a comparison found, case by case. Skipped is never passed, and neither is a run without cases."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from skrules.compare.case import Case, TensorCase
from skrules.compare.difference import (
    BitDifference,
    NumberDifference,
    compare_bits,
    compare_numbers,
    default_tolerance,
    unwritten_elements,
)
from skrules.compare.numbers import Array
from skrules.compare.plan import outputs_of, read_output
from skrules.compare.reference import Reference
from skrules.compare.subject import Subject
from skrules.errors import TestFailure

NO_REFERENCE = "no reference: only SK against plain was checked"


class Status(enum.StrEnum):
    """From worst to best; a whole is as good as its worst part."""

    FAILED = "failed"
    NO_NPU = "skipped-no-npu"
    INSUFFICIENT = "skipped-insufficient-runtime-spec"
    PASSED = "passed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """How it is known that the SK twin ran: `source` is "runtime" or "companion"."""

    source: str = ""
    twin_ran: bool = False
    super_kernel: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseRun:
    """One record of the compare program. `status` is "ran", "failed" or "skipped-no-npu"; `accepts`: the contract says
    `helper_block_num: accept`."""

    case: str
    entry: str = ""
    status: str
    blocks: int = 0
    companion_blocks: int = 0
    accepts: bool = False
    stage: str = ""
    error: str = ""
    evidence: Evidence = Evidence()


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorVerdict:
    """One output tensor. `numbers` has the plain run, and the SK run too when their bits differ; none without reference."""

    tensor: str
    dtype: str
    bits: BitDifference
    numbers: tuple[NumberDifference, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseVerdict:
    """`case` "" speaks of an entry that has no case. `reference` is "file" or "none"; `messages` say what failed."""

    case: str
    entry: str
    status: Status
    blocks: int = 0
    companion_blocks: int = 0
    reference: str = "none"
    tensors: tuple[TensorVerdict, ...] = ()
    evidence: Evidence = Evidence()
    messages: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One operator on one arch. `seconds` is the wall time of the program; `messages` are on the run as a whole;
    `left_out` says of cases why they were not run."""

    label: str
    arch: str
    seconds: float
    cases: tuple[CaseVerdict, ...]
    messages: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def status(self) -> Status:
        if self.messages:
            return Status.FAILED
        found = {case.status for case in self.cases}
        return next((status for status in Status if status in found), Status.INSUFFICIENT)

    @property
    def reference(self) -> str:
        """ "file" when every case that ran was compared with the reference, else "none"."""
        ran = [case for case in self.cases if case.tensors]
        return "file" if ran and all(case.reference == "file" for case in ran) else "none"

    @property
    def max_abs_error(self) -> float | None:
        """The largest error against the reference, None without one."""
        errors = [part.max_abs_error for case in self.cases for tensor in case.tensors for part in tensor.numbers]
        return max(errors, default=None)


def uncovered(entry: Subject) -> CaseVerdict:
    """Return the verdict on an entry that no case runs."""
    return CaseVerdict(case="", entry=entry.name, status=Status.INSUFFICIENT, notes=(f"entry '{entry.name}' has no case",))


def failed(case: Case, *messages: str) -> CaseVerdict:
    """Return the verdict on a case that has no results."""
    return CaseVerdict(case=case.name, entry=case.entry, status=Status.FAILED, messages=messages)


def judge(case: Case, entry: Subject, run: CaseRun, outputs: Path, reference: Reference | None, label: str) -> CaseVerdict:
    """Judge one case by what its two runs left in the folder `outputs`.

    `reference` None: there is none, and the verdict says so. Never raises for what the operator or its reference did.
    """
    title = f"{label} case '{case.name}'"
    if run.status == "skipped-no-npu":
        return CaseVerdict(case=case.name, entry=entry.name, status=Status.NO_NPU, notes=(run.error or "there is no NPU",))
    if run.status != "ran":
        message = f"{title}: {run.stage or 'the run'} failed: {run.error or 'the program does not say why'}"
        return failed(case, message, *_overtaken(case, run, title))
    messages: list[str] = []
    if not run.evidence.twin_ran:
        detail = f": {run.evidence.detail}" if run.evidence.detail else ""
        messages.append(f"{title}: the SK twin never ran{detail}")
    expected: Mapping[str, Array] = {}
    if reference is not None:
        try:
            expected = reference.expected(case, entry)
        except TestFailure as error:
            messages.append(f"{title}: {str(error).removeprefix('error: ')}")
    tensors = []
    for name, tensor in outputs_of(case, entry):
        try:
            plain, sk = (read_output(outputs, case, name, tensor, each) for each in ("plain", "sk"))
        except TestFailure as error:
            messages.append(f"{label}: {error.message}")
            continue
        tensors.append(_judge_tensor(case, name, tensor, plain, sk, expected.get(name)))
        messages += _complaints(tensors[-1], title, case.partial)
    if any(each.bits.mismatches for each in tensors):
        messages += _overtaken(case, run, title)
    notes = [] if reference is not None else [NO_REFERENCE]
    notes += [
        f"'{each.tensor}': {each.bits.padding} of {each.bits.elements} elements are padding by the reference, "
        "and not compared with it"
        for each in tensors
        if each.bits.padding
    ]
    compared = sum(tensor.bits.elements - tensor.bits.padding for tensor in tensors)
    if not compared:
        notes.append("no output element was compared")
    status = Status.FAILED if messages else Status.PASSED if compared else Status.INSUFFICIENT
    return CaseVerdict(
        case=case.name,
        entry=entry.name,
        status=status,
        blocks=run.blocks,
        companion_blocks=run.companion_blocks,
        reference="none" if reference is None else "file",
        tensors=tuple(tensors),
        evidence=run.evidence,
        messages=tuple(messages),
        notes=tuple(notes),
    )


def _overtaken(case: Case, run: CaseRun, title: str) -> list[str]:
    """Say of a failure that it is outside of what the contract accepts: a super kernel with more blocks than the kernel."""
    if not run.accepts or case.super_kernel_blocks <= run.blocks:
        return []
    return [
        f"{title}: the contract says sk.helper_block_num: accept, which is right only where no kernel of the super kernel has "
        f"more blocks; here a kernel of {run.blocks} ran in a super kernel of {case.super_kernel_blocks}. Without the decision "
        "helpers get SK twins, or a finding says where there is none"
    ]


def _judge_tensor(case: Case, name: str, tensor: TensorCase, plain: Array, sk: Array, expected: Array | None) -> TensorVerdict:
    has_sentinel = tensor.fill == "sentinel"
    padding = None if expected is None else np.ma.getmaskarray(expected)
    bits = compare_bits(plain, sk, has_sentinel, padding)
    differences = []
    if expected is not None and padding is not None:
        skip = unwritten_elements(plain, sk) | padding if has_sentinel else padding
        tolerance = case.tolerance or default_tolerance(tensor.dtype)
        # When the runs differ, both are compared: that tells which of them is wrong.
        for run, array in (("plain", plain), ("sk", sk)) if bits.mismatches else (("plain", plain),):
            differences.append(compare_numbers(array, np.ma.getdata(expected), tensor.dtype, tolerance, run, skip))
    return TensorVerdict(tensor=name, dtype=tensor.dtype, bits=bits, numbers=tuple(differences))


def _complaints(verdict: TensorVerdict, title: str, partial: bool) -> list[str]:
    bits = verdict.bits
    subject = f"{title}: '{verdict.tensor}'"
    messages = []
    if bits.unwritten and not partial:
        messages.append(
            f"{subject}: {bits.unwritten} of {bits.elements} elements are never written, first {_place(bits.unwritten_index)}; "
            "if that is meant, the case says 'partial: true'"
        )
    if bits.mismatches:
        lost = f"; {bits.sk_unwritten} of them the SK run never wrote" if bits.sk_unwritten else ""
        messages.append(
            f"{subject}: the SK run differs from the plain run in {bits.mismatches} of {bits.elements} elements "
            f"({bits.mismatching_bytes} bytes), first {_place(bits.index)}: plain {bits.plain}, SK {bits.sk}{lost}"
        )
    for part in verdict.numbers:
        if part.mismatches:
            run = "the SK run" if part.run == "sk" else "the plain run"
            messages.append(
                f"{subject}: {run} differs from the reference in {part.mismatches} of {part.elements} elements, "
                f"first {_place(part.index)}: {part.actual}, expected {part.expected} "
                f"(max abs err {part.max_abs_error:.3g}, max rel err {part.max_rel_error:.3g}, "
                f"rtol {part.rtol:g}, atol {part.atol:g})"
            )
    return messages


def _place(index: tuple[int, ...] | None) -> str:
    return f"[{', '.join(map(str, index or ()))}]"
