from __future__ import annotations

from collections.abc import Iterator

from skrules.arch import Chip
from skrules.findings import Finding, Severity
from skrules.source.evaluation import literal_value
from skrules.source.model import CoreType, KernelType
from skrules.validate.reach import Reach, Reached, Root, kernels_of
from skrules.validate.rule import Rule
from skrules.validate.subject import Subject, SubjectFile

_SYNC = "SyncAll"
_WITH_COUNT = 3  # arguments of the form that is told how many cores wait


def check(subject: Subject) -> Iterator[Finding]:
    chips = {target.name: target.cores for target in subject.targets if target.cores}
    if not chips or not any(_SYNC in file.words for file in subject.files):
        return
    for file in subject.files:
        reach = Reach(subject, file)
        for root in kernels_of(file):
            block_dim = _block_dim(subject, file, root)
            short = [chip for cores in chips.values() for chip in cores if 0 < block_dim < _cores(root.type, chip)]
            if not short:
                continue
            for part, index in _full_syncs(reach.of(root)):
                few = short[0]
                yield RULE.finding(
                    part.file.at(part.at(index)),
                    f"{_SYNC} waits for all cores, and {root.name} is launched on {block_dim} of the "
                    f"{_cores(root.type, few)} of {few.name}",
                    "launch it on all cores, or let SyncAll wait for a number of cores that it is told",
                )
                break


def _block_dim(subject: Subject, file: SubjectFile, root: Root) -> int:
    """Return the number of blocks that the contract records, or the file launches the kernel with; 0: not known."""
    decision = subject.decision(root.kernel)
    if decision is not None:
        return decision.block_dim or 0
    code = file.live
    for index, text in enumerate(code.texts):
        if text != root.name or not code.is_identifier(index):
            continue
        launch = code.pairs.get(index + 1, index) + 1 if code.text(index + 1) == "<" else index + 1
        if code.text(launch) == "<<<" and code.text(launch + 2) == ",":
            return literal_value(code.tokens[launch + 1 : launch + 2]) or 0
    return 0


def _cores(kind: KernelType, chip: Chip) -> int:
    """Return how many blocks fill a chip; 0 for a kernel whose type does not say which cores it runs on."""
    if kind.core is CoreType.VECTOR:
        return chip.aiv
    return chip.aic if kind.core in (CoreType.CUBE, CoreType.MIX) else 0


def _full_syncs(reached: list[Reached]) -> Iterator[tuple[Reached, int]]:
    for part in reached:
        code = part.code
        for index in part.indices():
            if code.texts[index] != _SYNC or not code.is_identifier(index):
                continue
            opening = code.pairs.get(index + 1, index) + 1 if code.text(index + 1) == "<" else index + 1
            closing = code.pairs.get(opening, -1) if code.text(opening) == "(" else -1
            if closing > 0 and code.texts[opening:closing].count(",") < _WITH_COUNT - 1:
                yield part, index


RULE = Rule(
    id="sk.sync-all-partial-cores",
    severity=Severity.WARNING,
    category="sk",
    title="a kernel with SyncAll is launched on all cores",
    explanation="In a super kernel SyncAll waits for every core that the super kernel runs on, which are those of its largest "
    "kernel. A kernel on fewer cores never comes to the end of the wait. The number of blocks is that of the contract, or that "
    "of a launch in the file.",
    source="asc-devkit, SuperKernel: adapting operators, synchronisation of all cores: "
    "https://gitcode.com/cann/asc-devkit/blob/82b89a15f26329511fc7fbc807d5132a1f9b4ba7/docs/zh/guide/编程指南/高级编程/SuperKernel/算子适配说明.md",
    bad="""#include "kernel_operator.h"
__global__ __vector__ void total(GM_ADDR x, uint32_t n) {
    Part(x, n);
    AscendC::SyncAll();
    Sum(x, n);
}
void launch(GM_ADDR x, uint32_t n, void *stream) { total<<<8, nullptr, stream>>>(x, n); }
""",
    good="""#include "kernel_operator.h"
__global__ __vector__ void total(GM_ADDR x, uint32_t n) {
    Part(x, n);
    AscendC::SyncAll();
    Sum(x, n);
}
void launch(GM_ADDR x, uint32_t n, void *stream) { total<<<48, nullptr, stream>>>(x, n); }
""",
    check=check,
)
