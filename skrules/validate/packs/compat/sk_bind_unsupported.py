from __future__ import annotations

from collections.abc import Iterator

from skrules.findings import Finding, Severity
from skrules.validate.compat import SK_BIND
from skrules.validate.rule import Rule
from skrules.validate.subject import Subject, SubjectFile


def check(subject: Subject) -> Iterator[Finding]:
    for target in subject.targets:
        fact = subject.compat.excludes(SK_BIND, target)
        if fact is None:
            continue
        for file in subject.files:
            offset = _place(subject, file)
            if offset >= 0:
                yield RULE.finding(
                    file.at(offset),
                    f"SK_BIND is documented as not supported on {target.name}: kernels run there one by one",
                    f"see {fact.sources[0]}",
                )


def _place(subject: Subject, file: SubjectFile) -> int:
    """Return where the file binds a kernel first, or where a kernel is that the build binds; -1 for neither."""
    if file.bindings:
        return file.bindings[0].offset
    return next((kernel.name_span.start for kernel in file.unit.kernels if subject.decision(kernel.qualified_name)), -1)


RULE = Rule(
    id="compat.sk-bind-unsupported",
    severity=Severity.NOTE,
    category="compat",
    title="super kernels are for products that the documentation lists for SK_BIND",
    explanation="A module for another product is built all the same: its kernels are launched one by one. Nothing is wrong with "
    "the operator, so this is a note.",
    source="asc-devkit, SK_BIND, supported products: "
    "https://gitcode.com/cann/asc-devkit/blob/82b89a15f26329511fc7fbc807d5132a1f9b4ba7/docs/zh/api/Utils-API/SuperKernel/SK_BIND.md",
    bad="""#include "kernel_operator.h"
__global__ __vector__ void scale(GM_ADDR x, uint32_t n) { Scale(x, n); }
struct ScaleArgs { GM_ADDR x; uint32_t n; };
__sk__ __vector__ void scale_sk(const ScaleArgs *args) { Scale(args->x, args->n); }
SK_BIND(scale, 4, scale_sk);
""",
    good="""#include "kernel_operator.h"
__global__ __vector__ void scale(GM_ADDR x, uint32_t n) { Scale(x, n); }
""",
    check=check,
)
