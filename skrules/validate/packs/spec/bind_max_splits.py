from __future__ import annotations

from collections.abc import Iterator

from skrules.findings import Finding, Severity
from skrules.validate.rule import Rule
from skrules.validate.subject import Subject

_MOST = 4


def check(subject: Subject) -> Iterator[Finding]:
    for file in subject.files:
        for binding in file.bindings:
            count = len(binding.functions)
            if not 1 <= count <= _MOST:
                yield RULE.finding(
                    file.at(binding.offset),
                    f"SK_BIND of {binding.target} has {count or 'no'} SK function{'' if count == 1 else 's'}",
                    f"1 to {_MOST} are allowed",
                )


RULE = Rule(
    id="sk.bind-max-splits",
    severity=Severity.BLOCKER,
    category="spec",
    title="SK_BIND has one to four SK functions",
    explanation="A kernel is bound to at most four SK functions, and to one at least.",
    source="asc-devkit, SK_BIND, constraints: "
    "https://gitcode.com/cann/asc-devkit/blob/82b89a15f26329511fc7fbc807d5132a1f9b4ba7/docs/zh/api/Utils-API/SuperKernel/SK_BIND.md",
    bad="""#include "kernel_operator.h"
__global__ __vector__ void scale(GM_ADDR x, uint32_t n) { Scale(x, n); }
struct ScaleArgs { GM_ADDR x; uint32_t n; };
template <uint32_t splitidx>
__sk__ __vector__ void scale_sk(const ScaleArgs *args) { Scale(args->x, args->n); }
SK_BIND(scale, 4, scale_sk<0>, scale_sk<1>, scale_sk<2>, scale_sk<3>, scale_sk<4>);
""",
    good="""#include "kernel_operator.h"
__global__ __vector__ void scale(GM_ADDR x, uint32_t n) { Scale(x, n); }
struct ScaleArgs { GM_ADDR x; uint32_t n; };
template <uint32_t splitidx>
__sk__ __vector__ void scale_sk(const ScaleArgs *args) { Scale(args->x, args->n); }
SK_BIND(scale, 4, scale_sk<0>, scale_sk<1>, scale_sk<2>, scale_sk<3>);
""",
    check=check,
)
