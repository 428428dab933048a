from __future__ import annotations

from collections.abc import Iterator

from skrules.adapt.pipes import is_pipe_declaration
from skrules.findings import Finding, Severity
from skrules.source.code import Code
from skrules.source.matching import exclusive
from skrules.validate.rule import Rule
from skrules.validate.subject import Subject

_DESTROYERS = frozenset({"Destroy", "DestroyWithoutPipeAll"})
_BARRIERS = frozenset({"PipeBarrier", "pipe_barrier", "SyncAll"})


def check(subject: Subject) -> Iterator[Finding]:
    for file in subject.files:
        for function in file.sk_functions:
            body = function.body
            declared = [index + 1 for index in range(len(body)) if is_pipe_declaration(body, index)]
            names = {body.texts[index] for index in declared}
            for destroyed in range(len(body)):
                if not (
                    body.texts[destroyed] in names and body.text(destroyed + 1) == "." and body.text(destroyed + 2) in _DESTROYERS
                ):
                    continue
                after = next((index for index in declared if index > destroyed and _follows(body, destroyed, index)), -1)
                if after > 0 and _BARRIERS.isdisjoint(body.texts[destroyed:after]):
                    yield RULE.finding(
                        file.at(body.tokens[after].start),
                        f"{function.name}: '{body.texts[after]}' begins where '{body.texts[destroyed]}' was destroyed without a "
                        "barrier between them",
                        "AscendC::PipeBarrier<PIPE_ALL>(); before it",
                    )


def _follows(body: Code, destroyed: int, declared: int) -> bool:
    """Whether the code at `declared` can run after that at `destroyed`: no other branch, no return between in that block."""
    if exclusive(body.branches(destroyed), body.branches(declared)):
        return False
    closing, depth = destroyed, 0
    while closing < declared:
        text = body.texts[closing]
        depth += (text == "{") - (text == "}")
        if text == "return" and depth <= 0:
            return False
        if depth < 0:
            depth = 0
        closing += 1
    return True


RULE = Rule(
    id="sk.tpipe-barrier-between",
    severity=Severity.WARNING,
    category="sk",
    title="between two TPipe objects of an SK function stands a barrier",
    explanation="DestroyWithoutPipeAll() waits for nothing, and in a super kernel Destroy() does not either. The buffers of the "
    "next TPipe are those of the one before: while its pipes still work, they are overwritten.",
    source="asc-devkit, SuperKernel: adapting operators, destruction of TPipe: "
    "https://gitcode.com/cann/asc-devkit/blob/82b89a15f26329511fc7fbc807d5132a1f9b4ba7/docs/zh/guide/编程指南/高级编程/SuperKernel/算子适配说明.md",
    bad="""#include "kernel_operator.h"
__global__ __vector__ void twice(GM_ADDR x) { Twice(x); }
struct TwiceArgs { GM_ADDR x; };
__sk__ __vector__ void twice_sk(const TwiceArgs *args) {
    AscendC::TPipe first;
    Once(&first, args->x);
    first.DestroyWithoutPipeAll();
    AscendC::TPipe second;
    Once(&second, args->x);
    second.DestroyWithoutPipeAll();
}
SK_BIND(twice, 4, twice_sk);
""",
    good="""#include "kernel_operator.h"
__global__ __vector__ void twice(GM_ADDR x) { Twice(x); }
struct TwiceArgs { GM_ADDR x; };
__sk__ __vector__ void twice_sk(const TwiceArgs *args) {
    AscendC::TPipe first;
    Once(&first, args->x);
    first.DestroyWithoutPipeAll();
    AscendC::PipeBarrier<PIPE_ALL>();
    AscendC::TPipe second;
    Once(&second, args->x);
    second.DestroyWithoutPipeAll();
}
SK_BIND(twice, 4, twice_sk);
""",
    check=check,
)
