from __future__ import annotations

from collections.abc import Iterator

from skrules.findings import Finding, Severity
from skrules.source.code import Code
from skrules.source.model import CoreType
from skrules.validate.reach import Reach, Reached, kernels_of, sk_functions_of
from skrules.validate.rule import Rule
from skrules.validate.subject import Subject

FLAGS = frozenset({"CrossCoreSetFlag", "CrossCoreWaitFlag"})
_SUB_BLOCK = frozenset({"GetSubBlockIdx", "get_subblockid", "sub_block_idx"})


def check(subject: Subject) -> Iterator[Finding]:
    if not any(FLAGS & file.words for file in subject.files):
        return
    told: set[tuple[str, int]] = set()
    for file in subject.files:
        roots = [each for each in (*kernels_of(file), *sk_functions_of(file)) if each.type.core is CoreType.MIX]
        roots = [each for each in roots if (each.type.aic, each.type.aiv) == ("1", "1")]
        reach = Reach(subject, file)
        for root in roots:
            for part, index in _guarded(reach.of(root)):
                place = (part.file.path, part.at(index))
                if place not in told:
                    told.add(place)
                    yield RULE.finding(
                        part.file.at(part.at(index)),
                        f"{part.code.texts[index]} is called on one of the vector cores only, and {root.name} is a mix of 1 to "
                        "1, which a super kernel may start as 1 to 2",
                        "let every vector core call it",
                    )


def _guarded(reached: list[Reached]) -> Iterator[tuple[Reached, int]]:
    """Yield the calls of flags that stand under an `if` of the sub block, and not in its other arm as well."""
    for part in reached:
        code = part.code
        for index in part.indices():
            closing = code.pairs.get(index + 1, -1) if code.texts[index] == "if" else -1
            if closing < 0 or _SUB_BLOCK.isdisjoint(code.texts[index + 1 : closing]):
                continue
            end = _statement_end(code, closing + 1)
            otherwise = _statement_end(code, end + 2) if code.text(end + 1) == "else" else end
            inside = [at for at in range(closing + 1, end + 1) if code.texts[at] in FLAGS]
            outside = [at for at in range(end + 1, otherwise + 1) if code.texts[at] in FLAGS]
            if len(inside) != len(outside):
                yield part, (inside or outside)[0]


def _statement_end(code: Code, index: int) -> int:
    """Return the last token of the statement at `index`."""
    if code.text(index) == "{":
        return code.pairs.get(index, index)
    while index < len(code) and code.texts[index] != ";":
        index = code.pairs.get(index, index) if code.texts[index] in ("(", "{", "[") else index
        index += 1
    return min(index, len(code) - 1)


RULE = Rule(
    id="sk.mix11-cross-core-flag",
    severity=Severity.WARNING,
    category="sk",
    title="in a mix of 1 to 1 every vector core sets and waits for cross-core flags",
    explanation="A super kernel may start a kernel of the type __mix__(1, 1) with two vector cores beside each cube core. Flags "
    "between the cores are counted: when only one of the vector cores takes part, the numbers do not match, and the cores wait "
    "for ever.",
    source="asc-devkit, SuperKernel: adapting operators, ratio of cores in MIX 1:1: "
    "https://gitcode.com/cann/asc-devkit/blob/82b89a15f26329511fc7fbc807d5132a1f9b4ba7/docs/zh/guide/编程指南/高级编程/SuperKernel/算子适配说明.md",
    bad="""#include "kernel_operator.h"
__global__ __mix__(1, 1) void fused(GM_ADDR x) {
    if (AscendC::GetSubBlockIdx() == 0) {
        AscendC::CrossCoreWaitFlag(3);
    }
    Fused(x);
}
""",
    good="""#include "kernel_operator.h"
__global__ __mix__(1, 1) void fused(GM_ADDR x) {
    AscendC::CrossCoreWaitFlag(3);
    if (AscendC::GetSubBlockIdx() == 0) {
        Fused(x);
    }
}
""",
    check=check,
)
