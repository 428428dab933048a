from __future__ import annotations

from collections.abc import Iterator

from skrules.findings import Finding, Severity
from skrules.source.code import Code
from skrules.validate.rule import Rule
from skrules.validate.subject import Subject, SubjectFile

_TENSOR = "GlobalTensor"
_CLEAN = frozenset({"DataCacheCleanAndInvalid", "dcci"})
_WRITES = frozenset({"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "++", "--"})


def check(subject: Subject) -> Iterator[Finding]:
    for file in subject.files:
        if _TENSOR not in file.words:
            continue
        names = _tensors(file.live)
        writes = list(_writes(file.live, names)) if names else []
        if not writes:
            continue
        for index in writes:
            offset = file.live.tokens[index].start
            if not _is_cleaned(file, offset):
                yield RULE.finding(
                    file.at(offset),
                    f"'{file.live.texts[index]}(...)' is written like a variable, and nothing around it cleans the data cache",
                    "DataCacheCleanAndInvalid after the write, or SetValue",
                )


def _tensors(code: Code) -> frozenset[str]:
    """Return the names of variables and members that are a GlobalTensor, or an array of them."""
    found: set[str] = set()
    for index, text in enumerate(code.texts):
        if text != _TENSOR or code.text(index + 1) != "<":
            continue
        name = code.pairs.get(index + 1, len(code)) + 1
        while code.text(name) in ("&", "*"):
            name += 1
        while code.is_identifier(name) and code.text(name + 1) in (";", ",", "=", "[", ")", "{"):
            found.add(code.texts[name])
            after = code.pairs.get(name + 1, name + 1) + 1 if code.text(name + 1) == "[" else name + 1
            name = after + 1 if code.text(after) == "," else -1
    return frozenset(found)


def _writes(code: Code, names: frozenset[str]) -> Iterator[int]:
    for index, text in enumerate(code.texts):
        if text not in names or not code.is_identifier(index) or code.text(index - 1) == ">":
            continue
        opening = code.pairs.get(index + 1, index) + 1 if code.text(index + 1) == "[" else index + 1
        closing = code.pairs.get(opening, -1) if code.text(opening) == "(" else -1
        if closing > opening + 1 and code.text(closing + 1) in _WRITES:
            yield index


def _is_cleaned(file: SubjectFile, offset: int) -> bool:
    """Whether the function around a write, or the class that it is a member of, cleans the cache anywhere."""
    code = file.live
    around = [each.body for each, _ in file.functions if each.body.start <= offset < each.body.end]
    return any(
        text in _CLEAN and any(span.start <= token.start < span.end for span in around)
        for token, text in zip(code.tokens, code.texts, strict=True)
    )


RULE = Rule(
    id="sk.scalar-write-cache",
    severity=Severity.WARNING,
    category="sk",
    title="a value that is written into a GlobalTensor with () is followed by a clean of the data cache",
    explanation="xGm(i) = v goes into the data cache of the core. Alone, the end of the kernel writes the cache back; in a super "
    "kernel it does not, and the next kernel reads what was there before.",
    source="asc-devkit, SuperKernel: adapting operators, scalar accesses and the cache: "
    "https://gitcode.com/cann/asc-devkit/blob/82b89a15f26329511fc7fbc807d5132a1f9b4ba7/docs/zh/guide/编程指南/高级编程/SuperKernel/算子适配说明.md",
    bad="""#include "kernel_operator.h"
__global__ __vector__ void mark(GM_ADDR x) {
    AscendC::GlobalTensor<float> xGm;
    xGm.SetGlobalBuffer((__gm__ float *)x, 8);
    xGm(0) = 1.0f;
}
""",
    good="""#include "kernel_operator.h"
__global__ __vector__ void mark(GM_ADDR x) {
    AscendC::GlobalTensor<float> xGm;
    xGm.SetGlobalBuffer((__gm__ float *)x, 8);
    xGm(0) = 1.0f;
    AscendC::DataCacheCleanAndInvalid<float, AscendC::CacheLine::SINGLE_CACHE_LINE>(xGm);
}
""",
    check=check,
)
