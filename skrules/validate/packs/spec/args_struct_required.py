from __future__ import annotations

from collections.abc import Iterator

from skrules.contract.ctype import scalar_dtype
from skrules.findings import Finding, Severity
from skrules.source.code import join
from skrules.validate.bindings import SkFunction
from skrules.validate.rule import Rule
from skrules.validate.subject import Subject

_SYSTEM = "SkSystemArgs"
_QUALIFIERS = frozenset({"const", "volatile", "struct", "class", "typename", "::"})


def check(subject: Subject) -> Iterator[Finding]:
    for file in subject.files:
        for function in file.sk_functions:
            if not function.parameters or _is_right(function):
                continue
            start, end = function.parameters[0]
            yield RULE.finding(
                file.at(function.head.tokens[start].start),
                f"the first parameter of {function.name} is '{join(function.head, start, end)}', and no pointer to its arguments",
                f"__sk__ ... void {function.name}(const SomeArgs *args): one struct with the kernel's parameters in their order",
            )


def _is_right(function: SkFunction) -> bool:
    """Whether the first parameter is a pointer to a named type; a kernel without parameters may have the system's arguments
    alone. The pointee may be written without const: what is passed is the same."""
    head, (start, end) = function.head, function.parameters[0]
    texts = head.texts[start:end]
    stars = texts.count("*")
    if stars != 1:
        return False
    before = texts[: texts.index("*")]
    if _SYSTEM in before:
        return len(function.parameters) == 1
    words = [text for text in before if text not in _QUALIFIERS]
    is_builtin = "__gm__" in words or scalar_dtype(" ".join(words)) != "" or words in (["void"], ["GM_ADDR"])
    return bool(words) and not is_builtin and "&" not in texts


RULE = Rule(
    id="sk.args-struct-required",
    severity=Severity.BLOCKER,
    category="spec",
    title="an SK function gets its arguments as one pointer to a struct",
    explanation="A super kernel calls its functions with the address of their arguments. The first parameter is a pointer to "
    "a struct that has the kernel's parameters in their order; sk::SkSystemArgs may follow. A kernel without parameters "
    "needs none.",
    source="asc-devkit, SuperKernel guide for kernels that are launched directly, rules 1 and 3: "
    "https://gitcode.com/cann/asc-devkit/blob/82b89a15f26329511fc7fbc807d5132a1f9b4ba7/docs/zh/guide/编程指南/高级编程/SuperKernel/核函数直调算子额外适配说明.md",
    bad="""#include "kernel_operator.h"
__global__ __vector__ void scale(GM_ADDR x, uint32_t n) { Scale(x, n); }
__sk__ __vector__ void scale_sk(GM_ADDR x, uint32_t n) { Scale(x, n); }
SK_BIND(scale, 4, scale_sk);
""",
    good="""#include "kernel_operator.h"
__global__ __vector__ void scale(GM_ADDR x, uint32_t n) { Scale(x, n); }
struct ScaleArgs { GM_ADDR x; uint32_t n; };
__sk__ __vector__ void scale_sk(const ScaleArgs *args, sk::SkSystemArgs *sysArgs) { Scale(args->x, args->n); }
SK_BIND(scale, 4, scale_sk);
""",
    check=check,
)
