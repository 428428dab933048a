from __future__ import annotations

from collections.abc import Iterator

from skrules.findings import Finding, Severity
from skrules.source.model import CoreType, KernelType
from skrules.validate.compat import MIX
from skrules.validate.rule import Rule
from skrules.validate.subject import Subject, SubjectFile


def check(subject: Subject) -> Iterator[Finding]:
    for target in subject.targets:
        fact = subject.compat.excludes(MIX, target)
        if fact is None:
            continue
        for file in subject.files:
            for name, kind, offset in _functions(file):
                if _is_mixed(kind):
                    yield RULE.finding(
                        file.at(offset),
                        f"{name} runs on cube and vector cores at once, which {target.name} does not support",
                        f"see {fact.sources[0]}",
                    )


def _functions(file: SubjectFile) -> Iterator[tuple[str, KernelType, int]]:
    for kernel in file.unit.kernels:
        yield kernel.name, kernel.type, kernel.name_span.start
    for function in file.sk_functions:
        yield function.name, function.type, function.offset


def _is_mixed(kind: KernelType) -> bool:
    """Whether both numbers are known to be of cores; what a template or a macro decides is not known."""
    return kind.core is CoreType.MIX and all(text.isdecimal() and int(text) > 0 for text in (kind.aic, kind.aiv))


RULE = Rule(
    id="compat.mix-aic-aiv-unsupported",
    severity=Severity.BLOCKER,
    category="compat",
    title="kernels on cube and vector cores at once are for products that have both apart",
    explanation="__mix__(c, v), and the kernel types that mean the same, start cube and vector cores together. Products whose "
    "cores have both units in one do not know them.",
    source="asc-devkit, setting the kernel type, constraints: "
    "https://gitcode.com/cann/asc-devkit/blob/82b89a15f26329511fc7fbc807d5132a1f9b4ba7/docs/zh/api/SIMD-API/基础API/Kernel-Tiling/设置Kernel类型.md",
    bad="""#include "kernel_operator.h"
__global__ __mix__(1, 2) void fused(GM_ADDR x, uint32_t n) { Fused(x, n); }
""",
    good="""#include "kernel_operator.h"
__global__ __aicore__ void fused(GM_ADDR x, uint32_t n) { Fused(x, n); }
""",
    check=check,
)
