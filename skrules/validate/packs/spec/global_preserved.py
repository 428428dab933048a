from __future__ import annotations

from collections.abc import Iterator

from skrules.findings import Finding, Severity
from skrules.validate.rule import Rule
from skrules.validate.subject import Subject, SubjectFile


def check(subject: Subject) -> Iterator[Finding]:
    if any(_has_kernel(file) for file in subject.files if not file.is_header):
        return
    for file in subject.files:
        # A file that was not found could have the kernel.
        if file.is_header or file.missing or any(_has_kernel(each) for each in subject.reached(file)):
            continue
        first = next(file.uses("__sk__", "SK_BIND"), None)
        if first is not None:
            code, index = first
            yield RULE.finding(
                file.at(code.tokens[index].start),
                f"there is SK code, introduced by {code.texts[index]}, and no __global__ kernel that it stands for",
                "keep the original kernel: it is what runs outside of super kernels",
            )


def _has_kernel(file: SubjectFile) -> bool:
    return bool(file.unit.kernels) or "__global__" in file.words


RULE = Rule(
    id="sk.global-preserved",
    severity=Severity.BLOCKER,
    category="spec",
    title="the original kernel stays beside its SK functions",
    explanation="SK functions are bound to a __global__ kernel, which also runs when there is no super kernel. The kernel may "
    "stand in another file of the operator or in a header of it.",
    source="asc-devkit, SuperKernel guide for kernels that are launched directly, step 1 and question 6: "
    "https://gitcode.com/cann/asc-devkit/blob/82b89a15f26329511fc7fbc807d5132a1f9b4ba7/docs/zh/guide/编程指南/高级编程/SuperKernel/核函数直调算子额外适配说明.md",
    bad="""#include "kernel_operator.h"
struct ScaleArgs { GM_ADDR x; uint32_t n; };
__sk__ __vector__ void scale_sk(const ScaleArgs *args) { Scale(args->x, args->n); }
SK_BIND(scale, 4, scale_sk);
""",
    good="""#include "kernel_operator.h"
__global__ __vector__ void scale(GM_ADDR x, uint32_t n) { Scale(x, n); }
struct ScaleArgs { GM_ADDR x; uint32_t n; };
__sk__ __vector__ void scale_sk(const ScaleArgs *args) { Scale(args->x, args->n); }
SK_BIND(scale, 4, scale_sk);
""",
    check=check,
)
