from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from skrules.adapt.flow import DESTROYERS
from skrules.adapt.pipes import is_pipe_declaration, plan_pipes
from skrules.findings import Finding, Severity
from skrules.source.code import Code
from skrules.validate.reach import Reach, Reached, sk_functions_of
from skrules.validate.rule import Rule
from skrules.validate.subject import Subject, SubjectFile

_DESTROY = "DestroyWithoutPipeAll"
_MISSING = re.compile(rf"(\w+)\.{_DESTROY}\(\)")


def check(subject: Subject) -> Iterator[Finding]:
    for file in subject.files:
        roots = [root for root in sk_functions_of(file) if "TPipe" in file.words]
        reach = Reach(subject, file)
        for root, function in zip(roots, file.sk_functions, strict=bool(roots)):
            yield from _check(file, function.name, function.body, _natural(reach.of(root)))


def _natural(reached: list[Reached]) -> str:
    """Return why all objects of a function must keep their destructor, or "": what it calls has another TPipe, or may use or
    destroy its own. The adaptation decides by the same."""
    for part in reached[1:]:
        for index in part.indices():
            text = part.code.texts[index]
            if text in DESTROYERS or text == "~" or is_pipe_declaration(part.code, index):
                return "code that it calls may need the barrier"
    return ""


def _check(file: SubjectFile, name: str, body: Code, natural: str) -> Iterator[Finding]:
    """What the adaptation would have to write is what is missing: the rules for both are the same."""
    plan = plan_pipes(body, file.unit.text, file.unit.newline, natural=natural)
    exits: dict[str, list[int]] = {}
    for edit in plan.edits:
        for pipe in _MISSING.findall(edit.text):
            exits.setdefault(pipe, []).append(file.unit.lines.position(edit.start)[0])
    for pipe, lines in exits.items():
        declared = next(index for index, text in enumerate(body.texts) if text == pipe and _declares(body, index))
        where = f"line{'s' if len(lines) > 1 else ''} {', '.join(map(str, sorted(set(lines))))}"
        yield RULE.finding(
            file.at(body.tokens[declared].start),
            f"{name}: the TPipe '{pipe}' is left to its destructor on the way out in {where}",
            f"{pipe}.{_DESTROY}(); before every way out of its scope",
        )
    for index, reason in plan.left if not natural else ():
        pipe = body.texts[index]
        if body.text(index - 1) != "TPipe" or any(_destroys(body, at, pipe) for at in range(len(body))):
            continue  # on the heap; or destroyed somewhere, and which paths lead there cannot be said
        message = f"{name}: nothing destroys the TPipe '{pipe}' ({reason})"
        # The destructor's barrier costs time and no more; that it can go is not known here.
        yield replace(
            RULE.finding(file.at(body.tokens[index].start), message, f"{pipe}.{_DESTROY}();"), severity=Severity.WARNING
        )


def _declares(body: Code, index: int) -> bool:
    before = body.text(index - 1)
    return before == "TPipe" or (before == "," and "TPipe" in body.texts[:index])


def _destroys(body: Code, index: int, pipe: str) -> bool:
    return body.text(index) == pipe and body.text(index + 1) in (".", "->") and body.text(index + 2) in DESTROYERS


RULE = Rule(
    id="sk.tpipe-destroy-without-pipe-all",
    severity=Severity.BLOCKER,
    category="spec",
    title="an SK function destroys its TPipe without the barrier, on every way out",
    explanation="The destructor of TPipe waits for all pipes, which keeps the next SK function from starting. An SK function "
    "calls DestroyWithoutPipeAll() before the object goes out of scope: before every return as well as at the end. However the "
    "object is constructed makes no difference. One that another TPipe follows, here or in what the function calls, keeps its "
    "destructor, whose barrier is needed.",
    source="asc-devkit, SuperKernel guide for kernels that are launched directly, rule 5: "
    "https://gitcode.com/cann/asc-devkit/blob/82b89a15f26329511fc7fbc807d5132a1f9b4ba7/docs/zh/guide/编程指南/高级编程/SuperKernel/核函数直调算子额外适配说明.md",
    bad="""#include "kernel_operator.h"
__global__ __vector__ void scale(GM_ADDR x, uint32_t n) { AscendC::TPipe pipe; Scale(&pipe, x, n); }
struct ScaleArgs { GM_ADDR x; uint32_t n; };
__sk__ __vector__ void scale_sk(const ScaleArgs *args) {
    AscendC::TPipe pipe{};
    if (args->n == 0) {
        return;
    }
    Scale(&pipe, args->x, args->n);
    pipe.DestroyWithoutPipeAll();
}
SK_BIND(scale, 4, scale_sk);
""",
    good="""#include "kernel_operator.h"
__global__ __vector__ void scale(GM_ADDR x, uint32_t n) { AscendC::TPipe pipe; Scale(&pipe, x, n); }
struct ScaleArgs { GM_ADDR x; uint32_t n; };
__sk__ __vector__ void scale_sk(const ScaleArgs *args) {
    if (args->n == 0) {
        return;
    }
    AscendC::TPipe pipe{};
    Scale(&pipe, args->x, args->n);
    pipe.DestroyWithoutPipeAll();
}
SK_BIND(scale, 4, scale_sk);
""",
    check=check,
)
