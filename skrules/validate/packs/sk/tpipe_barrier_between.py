from __future__ import annotations

from collections.abc import Iterator

from skrules.adapt.pipes import is_pipe_declaration
from skrules.adapt.statements import Kind, Statement, UnreadableError, read_block
from skrules.findings import Finding, Severity
from skrules.source.code import Code
from skrules.source.matching import exclusive
from skrules.validate.rule import Rule
from skrules.validate.subject import Subject

_DESTROY = "DestroyWithoutPipeAll"
_BARRIERS = frozenset({"PipeBarrier", "pipe_barrier", "SyncAll"})


def check(subject: Subject) -> Iterator[Finding]:
    for file in subject.files:
        for function in file.sk_functions:
            body = function.body
            declared = [index + 1 for index in range(len(body)) if is_pipe_declaration(body, index)]
            names = {body.texts[index] for index in declared}
            tree = _tree(body) if len(declared) > 1 else None
            for destroyed in range(len(body)):
                if not (
                    body.texts[destroyed] in names and body.text(destroyed + 1) == "." and body.text(destroyed + 2) == _DESTROY
                ):
                    continue
                after = next((index for index in declared if index > destroyed and _follows(body, tree, destroyed, index)), -1)
                if after > 0 and _BARRIERS.isdisjoint(body.texts[destroyed:after]):
                    yield RULE.finding(
                        file.at(body.tokens[after].start),
                        f"{function.name}: '{body.texts[after]}' begins where '{body.texts[destroyed]}' was destroyed without a "
                        "barrier between them",
                        "AscendC::PipeBarrier<PIPE_ALL>(); before it",
                    )


def _follows(body: Code, tree: Statement | None, destroyed: int, declared: int) -> bool:
    """Whether the code at `declared` can run after that at `destroyed`: not in another branch or arm, nor behind a return."""
    if exclusive(body.branches(destroyed), body.branches(declared)):
        return False
    statement = tree
    while statement is not None:
        first = next((each for each in statement.children if each.first <= destroyed <= each.last), None)
        second = next((each for each in statement.children if each.first <= declared <= each.last), None)
        if first is not second:
            return statement.kind is not Kind.IF and not _leaves(first, destroyed)
        statement = first
    return True


def _leaves(statement: Statement | None, destroyed: int) -> bool:
    """Whether a return stands behind `destroyed` in the innermost block of it: then nothing of the function comes after."""
    while statement is not None:
        if statement.kind is Kind.BLOCK and any(
            each.kind is Kind.RETURN and each.first > destroyed for each in statement.children
        ):
            return True
        statement = next((each for each in statement.children if each.first <= destroyed <= each.last), None)
    return False


def _tree(body: Code) -> Statement | None:
    try:
        return read_block(body, 0)
    except UnreadableError:
        return None


RULE = Rule(
    id="sk.tpipe-barrier-between",
    severity=Severity.WARNING,
    category="sk",
    title="between two TPipe objects of an SK function stands a barrier",
    explanation="DestroyWithoutPipeAll() waits for nothing. The buffers of the next TPipe are those of the one before: while its "
    "pipes still work, they are overwritten.",
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
