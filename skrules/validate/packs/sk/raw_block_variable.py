from __future__ import annotations

from collections.abc import Iterator

from skrules.adapt.blocknum import RAW_WORDS, is_declared, is_raw
from skrules.findings import Finding, Severity
from skrules.source.code import Code
from skrules.validate.reach import Reach, sk_functions_of
from skrules.validate.rule import Rule
from skrules.validate.subject import Subject


def check(subject: Subject) -> Iterator[Finding]:
    told: set[tuple[str, int]] = set()
    for file in subject.files:
        roots = list(sk_functions_of(file))
        # What the files declare is a variable of the author's own.
        own = frozenset(word for each in subject.reached(file) for word in _declared(each.live)) if roots else frozenset()
        reach = Reach(subject, file)
        for root in roots:
            for part in reach.of(root):
                for index in part.indices():
                    word = part.code.texts[index]
                    place = (part.file.path, part.at(index))
                    if word not in RAW_WORDS or word in own or place in told or not is_raw(part.code, index):
                        continue
                    told.add(place)
                    yield RULE.finding(
                        part.file.at(part.at(index)),
                        f"'{word}', which {root.name} comes to, is a variable of the whole launch",
                        "AscendC::GetBlockIdx() for the index; sysArgs->skNumBlocks for the number of blocks",
                    )


def _declared(code: Code) -> Iterator[str]:
    for index, text in enumerate(code.texts):
        if text in RAW_WORDS and is_declared(code, index, text):
            yield text


RULE = Rule(
    id="sk.raw-block-variable",
    severity=Severity.WARNING,
    category="sk",
    title="SK code asks the API for blocks, not the built-in variables",
    explanation="block_idx, block_num and get_block_num() are those of the super kernel's launch, not of the kernel that the "
    "function stands for: results are wrong as soon as another kernel of the super kernel has more blocks.",
    source="asc-devkit, SuperKernel: adapting operators, asking for the number of cores: "
    "https://gitcode.com/cann/asc-devkit/blob/82b89a15f26329511fc7fbc807d5132a1f9b4ba7/docs/zh/guide/编程指南/高级编程/SuperKernel/算子适配说明.md",
    bad="""#include "kernel_operator.h"
__global__ __vector__ void scale(GM_ADDR x) { Scale(x, AscendC::GetBlockIdx()); }
struct ScaleArgs { GM_ADDR x; };
__sk__ __vector__ void scale_sk(const ScaleArgs *args) { Scale(args->x, block_idx); }
SK_BIND(scale, 4, scale_sk);
""",
    good="""#include "kernel_operator.h"
__global__ __vector__ void scale(GM_ADDR x) { Scale(x, AscendC::GetBlockIdx()); }
struct ScaleArgs { GM_ADDR x; };
__sk__ __vector__ void scale_sk(const ScaleArgs *args) { Scale(args->x, AscendC::GetBlockIdx()); }
SK_BIND(scale, 4, scale_sk);
""",
    check=check,
)
