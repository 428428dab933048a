from __future__ import annotations

from collections.abc import Iterator

from skrules.contract.model import SuperKernelDecision
from skrules.findings import Finding, Severity
from skrules.validate.reach import Reach, kernels_of, sk_functions_of, words_of
from skrules.validate.rule import Rule
from skrules.validate.subject import Subject, SubjectFile

_BITS = {"SetNextTaskStart": 2, "WaitPreTaskEnd": 1}


def check(subject: Subject) -> Iterator[Finding]:
    for file in subject.files:
        yield from _bound(subject, file)
        if not file.bindings:
            yield from _unbound(subject, file)


def _bound(subject: Subject, file: SubjectFile) -> Iterator[Finding]:
    reach = Reach(subject, file)
    roots = {root.name: root for root in sk_functions_of(file)}
    for binding in file.bindings:
        functions = list(dict.fromkeys(binding.functions))
        if binding.mask is None or not functions or any(name not in roots for name in functions):
            continue
        words = frozenset().union(*(words_of(reach.of(roots[name])) for name in functions))
        for api, bit in _BITS.items():
            if api in words and not binding.mask & bit:
                message = f"the SK functions of {binding.target} call {api}, and the mask {binding.mask} has not its bit {bit}"
                yield RULE.finding(file.at(binding.mask_offset), message, f"mask {binding.mask | bit}")
            elif binding.mask & bit and api not in words and not file.missing:
                message = f"the mask {binding.mask} has the bit {bit}, and no SK function of {binding.target} calls {api}"
                yield RULE.finding(file.at(binding.mask_offset), message, f"mask {binding.mask & ~bit}, or a call of {api}")


def _unbound(subject: Subject, file: SubjectFile) -> Iterator[Finding]:
    """Kernels that adaptation binds: with the mask of their contract, or its default."""
    roots = list(kernels_of(file))
    if not roots or not any(_BITS.keys() & each.words for each in subject.reached(file)):
        return
    reach = Reach(subject, file)
    for root in roots:
        decision = subject.decision(root.kernel)
        if decision is None:  # nobody has said that it is bound at all
            continue
        mask = SuperKernelDecision().mask if decision.mask is None else decision.mask
        words = words_of(reach.of(root))
        for api, bit in _BITS.items():
            if api in words and not mask & bit:
                message = f"{root.name} calls {api}, and is bound with the mask {mask}, which has not its bit {bit}"
                yield RULE.finding(file.at(root.offset), message, f"sk: {{mask: {mask | bit}}} in the contract")


RULE = Rule(
    id="sk.early-start-capability",
    severity=Severity.WARNING,
    category="sk",
    title="early start is called for and switched on together",
    explanation="SetNextTaskStart lets the next kernel begin early, WaitPreTaskEnd waits for the one before. Both work only with "
    "their bit in the mask of SK_BIND, 2 and 1; a bit without the call promises what the kernel does not do.",
    source="asc-devkit, SuperKernel: adapting operators, synchronisation between tasks: "
    "https://gitcode.com/cann/asc-devkit/blob/82b89a15f26329511fc7fbc807d5132a1f9b4ba7/docs/zh/guide/编程指南/高级编程/SuperKernel/算子适配说明.md",
    bad="""#include "kernel_operator.h"
__global__ __vector__ void scale(GM_ADDR x) { Scale(x); AscendC::SetNextTaskStart(); }
struct ScaleArgs { GM_ADDR x; };
__sk__ __vector__ void scale_sk(const ScaleArgs *args) { Scale(args->x); AscendC::SetNextTaskStart(); }
SK_BIND(scale, 4, scale_sk);
""",
    good="""#include "kernel_operator.h"
__global__ __vector__ void scale(GM_ADDR x) { Scale(x); AscendC::SetNextTaskStart(); }
struct ScaleArgs { GM_ADDR x; };
__sk__ __vector__ void scale_sk(const ScaleArgs *args) { Scale(args->x); AscendC::SetNextTaskStart(); }
SK_BIND(scale, 6, scale_sk);
""",
    check=check,
)
