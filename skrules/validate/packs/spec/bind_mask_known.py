from __future__ import annotations

from collections.abc import Iterator

from skrules.contract.keys import CAPABILITIES
from skrules.findings import Finding, Severity
from skrules.validate.rule import Rule
from skrules.validate.subject import Subject


def check(subject: Subject) -> Iterator[Finding]:
    allowed = sum(CAPABILITIES.values())
    for file in subject.files:
        for binding in file.bindings:
            if binding.mask is not None and not 0 <= binding.mask <= allowed:
                written = f" ({binding.mask_text})" if binding.mask_text != str(binding.mask) else ""
                bits = ", ".join(f"{value} {name}" for name, value in CAPABILITIES.items())
                yield RULE.finding(
                    file.at(binding.mask_offset),
                    f"the mask {binding.mask}{written} of SK_BIND has bits that mean nothing",
                    f"the bits are {bits}",
                )


RULE = Rule(
    id="sk.bind-mask-known",
    severity=Severity.WARNING,
    category="spec",
    title="the mask of SK_BIND has known bits only",
    explanation="The second argument of SK_BIND switches features of the super kernel on or off, one bit each. A bit that no "
    "version documents does nothing today, and something unknown tomorrow. Hexadecimal numbers, expressions of literals and "
    "macros that stand for one are evaluated; what only the compiler knows is not judged.",
    source="asc-devkit, SuperKernel guide for kernels that are launched directly, rule 7: "
    "https://gitcode.com/cann/asc-devkit/blob/82b89a15f26329511fc7fbc807d5132a1f9b4ba7/docs/zh/guide/编程指南/高级编程/SuperKernel/核函数直调算子额外适配说明.md",
    bad="""#include "kernel_operator.h"
#define EARLY (1 << 4)
__global__ __vector__ void scale(GM_ADDR x, uint32_t n) { Scale(x, n); }
struct ScaleArgs { GM_ADDR x; uint32_t n; };
__sk__ __vector__ void scale_sk(const ScaleArgs *args) { Scale(args->x, args->n); }
SK_BIND(scale, EARLY, scale_sk);
""",
    good="""#include "kernel_operator.h"
__global__ __vector__ void scale(GM_ADDR x, uint32_t n) { Scale(x, n); }
struct ScaleArgs { GM_ADDR x; uint32_t n; };
__sk__ __vector__ void scale_sk(const ScaleArgs *args) { Scale(args->x, args->n); }
SK_BIND(scale, 0x4, scale_sk);
""",
    check=check,
)
