from __future__ import annotations

from collections.abc import Iterator

from skrules.adapt.blocknum import is_api
from skrules.findings import Finding, Severity
from skrules.validate.reach import Reach, sk_functions_of
from skrules.validate.rule import Rule
from skrules.validate.subject import Subject


def check(subject: Subject) -> Iterator[Finding]:
    told: set[tuple[str, int]] = set()
    for file in subject.files:
        roots = list(sk_functions_of(file))
        reach = Reach(subject, file)
        for root in roots:
            for part in reach.of(root):
                api = part.file.api_names
                for index in part.indices():
                    place = (part.file.path, part.at(index))
                    if place in told or not is_api(part.code, index, api):
                        continue
                    told.add(place)
                    yield RULE.finding(
                        part.file.at(part.at(index)),
                        f"{part.code.texts[index]}(), which {root.name} comes to, is the number of blocks of the whole launch",
                        "sysArgs->skNumBlocks, with sk::SkSystemArgs *sysArgs as a parameter of the SK function",
                    )


RULE = Rule(
    id="sk.block-num-of-launch",
    severity=Severity.WARNING,
    category="sk",
    title="SK code takes the number of blocks from sk::SkSystemArgs",
    explanation="In an SK function GetBlockNum() is the number of blocks of the super kernel's launch. The number that the "
    "kernel itself would be launched with is sysArgs->skNumBlocks; with the other one work is left out or done twice.",
    source="asc-devkit, SuperKernel guide for kernels that are launched directly, rule 4: "
    "https://gitcode.com/cann/asc-devkit/blob/82b89a15f26329511fc7fbc807d5132a1f9b4ba7/docs/zh/guide/编程指南/高级编程/SuperKernel/核函数直调算子额外适配说明.md",
    bad="""#include "kernel_operator.h"
__global__ __vector__ void scale(GM_ADDR x) { Scale(x, AscendC::GetBlockNum()); }
struct ScaleArgs { GM_ADDR x; };
__sk__ __vector__ void scale_sk(const ScaleArgs *args) { Scale(args->x, AscendC::GetBlockNum()); }
SK_BIND(scale, 4, scale_sk);
""",
    good="""#include "kernel_operator.h"
__global__ __vector__ void scale(GM_ADDR x) { Scale(x, AscendC::GetBlockNum()); }
struct ScaleArgs { GM_ADDR x; };
__sk__ __vector__ void scale_sk(const ScaleArgs *args, sk::SkSystemArgs *sysArgs) { Scale(args->x, sysArgs->skNumBlocks); }
SK_BIND(scale, 4, scale_sk);
""",
    check=check,
)
