from __future__ import annotations

from collections.abc import Iterator

from skrules.findings import Finding, Severity
from skrules.source.model import CoreType
from skrules.validate.reach import Reach, Reached, kernels_of, sk_functions_of, words_of
from skrules.validate.rule import Rule
from skrules.validate.subject import Subject

_OBJECTS = frozenset({"REGIST_MATMUL_OBJ", "REGIST_MATMUL_OBJ_STATIC"})
_TYPES = frozenset({"Matmul", "MatmulImpl"})
# Words of code that knows which of the vector cores it is on, or that runs on cube cores alone.
_AWARE = frozenset({"GetSubBlockIdx", "GetSubBlockNum", "get_subblockid", "sub_block_idx", "ASCENDC_CUBE_ONLY"})


def check(subject: Subject) -> Iterator[Finding]:
    if not any((_OBJECTS | _TYPES) & file.words for file in subject.files):
        return
    for file in subject.files:
        roots = [each for each in (*kernels_of(file), *sk_functions_of(file)) if each.type.core is CoreType.MIX]
        roots = [each for each in roots if (each.type.aic, each.type.aiv) == ("1", "1")]
        reach = Reach(subject, file)
        if any("ASCENDC_CUBE_ONLY" in token.text for each in subject.reached(file) for token in each.unit.tokens if roots):
            continue
        for root in roots:
            reached = reach.of(root)
            place = next(_uses(reached), None)
            if place is not None and _AWARE.isdisjoint(words_of(reached)):
                part, index = place
                yield RULE.finding(
                    part.file.at(part.at(index)),
                    f"{root.name} is a mix of 1 to 1, and calls Matmul on every vector core that it is started on",
                    "let only the first vector core call it: if (AscendC::GetSubBlockIdx() == 0)",
                )


def _uses(reached: list[Reached]) -> Iterator[tuple[Reached, int]]:
    for part in reached:
        code = part.code
        for index in part.indices():
            text = code.texts[index]
            is_type = text in _TYPES and code.text(index + 1) == "<"
            if (text in _OBJECTS or is_type) and code.is_identifier(index):
                yield part, index


RULE = Rule(
    id="sk.mix11-matmul",
    severity=Severity.WARNING,
    category="sk",
    title="in a mix of 1 to 1 only the first vector core calls the high-level Matmul",
    explanation="A super kernel may start a kernel of the type __mix__(1, 1) with two vector cores beside each cube core. The "
    "high-level Matmul sends its messages to the cube core from the first one; those of the second are received by nobody, and "
    "it waits for ever.",
    source="asc-devkit, SuperKernel: adapting operators, ratio of cores in MIX 1:1: "
    "https://gitcode.com/cann/asc-devkit/blob/82b89a15f26329511fc7fbc807d5132a1f9b4ba7/docs/zh/guide/编程指南/高级编程/SuperKernel/算子适配说明.md",
    bad="""#include "kernel_operator.h"
__global__ __mix__(1, 1) void product(GM_ADDR a, GM_ADDR workspace) {
    AscendC::TPipe pipe;
    ProductMatmul mm;
    REGIST_MATMUL_OBJ(&pipe, workspace, mm, &TilingOf(a));
    mm.IterateAll(a);
}
""",
    good="""#include "kernel_operator.h"
__global__ __mix__(1, 1) void product(GM_ADDR a, GM_ADDR workspace) {
    AscendC::TPipe pipe;
    ProductMatmul mm;
    REGIST_MATMUL_OBJ(&pipe, workspace, mm, &TilingOf(a));
    if (AscendC::GetSubBlockIdx() == 0) {
        mm.IterateAll(a);
    }
}
""",
    check=check,
)
