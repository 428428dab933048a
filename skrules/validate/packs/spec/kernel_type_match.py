from __future__ import annotations

from collections.abc import Iterator

from skrules.contract.kerneltype import spelling
from skrules.findings import Finding, Severity
from skrules.source.model import CoreType, Kernel, KernelType
from skrules.source.types import CONDITIONAL, UNSETTLED
from skrules.validate.bindings import SkFunction
from skrules.validate.rule import Rule
from skrules.validate.subject import Subject, SubjectFile


def check(subject: Subject) -> Iterator[Finding]:
    for file in subject.files:
        for kernel, function in _pairs(subject, file):
            if not _is_said(kernel.type) or not _is_said(function.type) or _plain(kernel.type) == _plain(function.type):
                continue
            yield RULE.finding(
                file.at(function.offset),
                f"{function.name} is {spelling(function.type)}, and its kernel {kernel.name} in line {kernel.line} is "
                f"{spelling(kernel.type)}",
                "an SK function has the type of its kernel",
            )


def _pairs(subject: Subject, file: SubjectFile) -> Iterator[tuple[Kernel, SkFunction]]:
    """Yield each SK function of a file with the kernel that it is bound to, or else with the one that it is called after."""
    kernels: dict[str, list[Kernel]] = {}
    for each in subject.reached(file):
        for kernel in each.unit.kernels:
            kernels.setdefault(kernel.name, []).append(kernel)
    bound = {name: binding.target.rpartition("::")[2] for binding in file.bindings for name in binding.functions}
    for function in file.sk_functions:
        named = kernels.get(bound.get(function.name, function.name.removesuffix("_sk")), [])
        if len({_plain(kernel.type) for kernel in named}) == 1:  # overloads and branches may differ: which is meant?
            yield named[0], function


def _is_said(kind: KernelType) -> bool:
    """Whether the source says which cores a function runs on; where it does not, the compiler finds out."""
    return kind.core not in (CoreType.NONE, CoreType.BARE) and kind.source not in (CONDITIONAL, UNSETTLED)


def _plain(kind: KernelType) -> tuple[CoreType, str, str]:
    """Return a type so that equal ones compare equal: a mix with cores of one kind is a type of that kind."""
    if kind.core is CoreType.MIX and kind.aiv == "0":
        return CoreType.CUBE, "", ""
    if kind.core is CoreType.MIX and kind.aic == "0":
        return CoreType.VECTOR, "", ""
    return kind.core, "".join(kind.aic.split()), "".join(kind.aiv.split())


RULE = Rule(
    id="sk.kernel-type-match",
    severity=Severity.WARNING,
    category="spec",
    title="an SK function has the type of its kernel",
    explanation="__vector__, __cube__ or __mix__(c, v) of the SK function must be that of the kernel, or it runs on other cores "
    "than it was written for. The type that a KERNEL_TASK_TYPE macro or a core_ratio attribute gives the kernel counts; where "
    "one of the two says none, the compiler finds it out. __mix__(1, 0) is the same as __cube__, and __mix__(0, 1) as "
    "__vector__.",
    source="asc-devkit, SuperKernel guide for kernels that are launched directly, rule 2: "
    "https://gitcode.com/cann/asc-devkit/blob/82b89a15f26329511fc7fbc807d5132a1f9b4ba7/docs/zh/guide/编程指南/高级编程/SuperKernel/核函数直调算子额外适配说明.md",
    bad="""#include "kernel_operator.h"
__global__ __mix__(1, 2) void fused(GM_ADDR x, uint32_t n) { Fused(x, n); }
struct FusedArgs { GM_ADDR x; uint32_t n; };
__sk__ __mix__(1, 1) void fused_sk(const FusedArgs *args) { Fused(args->x, args->n); }
SK_BIND(fused, 4, fused_sk);
""",
    good="""#include "kernel_operator.h"
__global__ __mix__(1, 0) void product(GM_ADDR x, uint32_t n) { Product(x, n); }
struct ProductArgs { GM_ADDR x; uint32_t n; };
__sk__ __cube__ void product_sk(const ProductArgs *args) { Product(args->x, args->n); }
SK_BIND(product, 4, product_sk);
""",
    check=check,
)
