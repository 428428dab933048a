from __future__ import annotations

from collections.abc import Iterator

from skrules.findings import Finding, Fix, Severity
from skrules.validate.rule import Rule
from skrules.validate.subject import Subject

_RENAMED = {"skBlockNum": "skNumBlocks", "SkGetBlockNum": "SkGetNumBlocks"}


def check(subject: Subject) -> Iterator[Finding]:
    for file in subject.files:
        for old, new in _RENAMED.items():
            # A member of something: a variable of the author's own may have any name.
            uses = [(code, index) for code, index in file.uses(old) if code.text(index - 1) in ("->", ".")]
            if not uses:
                continue
            code, index = uses[0]
            count = f" ({len(uses)} times)" if len(uses) > 1 else ""
            yield RULE.finding(
                file.at(code.tokens[index].start),
                f"'{old}' is called '{new}' now{count}",
                f"rename '{old}' to '{new}'",
                Fix(kind="rename-symbol", file=file.path, old_value=old, new_value=new, digest=file.digest),
            )


RULE = Rule(
    id="sk.sys-args-api-current",
    severity=Severity.BLOCKER,
    category="spec",
    title="members of sk::SkSystemArgs have their current names",
    explanation="The number of blocks is skNumBlocks or SkGetNumBlocks(). Its names of before, skBlockNum and SkGetBlockNum, "
    "are gone from the toolkit. A build renames them in the text that it compiles, and the finding is a warning there; in a "
    "header it stays a blocker.",
    source="asc-devkit, SuperKernel guide for kernels that are launched directly, rule 4: "
    "https://gitcode.com/cann/asc-devkit/blob/82b89a15f26329511fc7fbc807d5132a1f9b4ba7/docs/zh/guide/编程指南/高级编程/SuperKernel/核函数直调算子额外适配说明.md",
    bad="""#include "kernel_operator.h"
__global__ __vector__ void scale(GM_ADDR x) { Scale(x, AscendC::GetBlockNum()); }
struct ScaleArgs { GM_ADDR x; };
__sk__ __vector__ void scale_sk(const ScaleArgs *args, sk::SkSystemArgs *sysArgs) { Scale(args->x, sysArgs->skBlockNum); }
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
