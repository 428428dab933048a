from __future__ import annotations

from collections.abc import Iterator

from skrules.contract.ctype import explain
from skrules.contract.dtypes import DTYPES
from skrules.contract.model import ParameterKind
from skrules.findings import Finding, Severity
from skrules.source.code import join
from skrules.validate.bindings import SkFunction
from skrules.validate.rule import Rule
from skrules.validate.structs import definitions_of, members_of
from skrules.validate.subject import Subject

_LEAST = 4  # bytes that a kernel argument takes at least


def check(subject: Subject) -> Iterator[Finding]:
    told: set[tuple[str, int]] = set()
    for file in subject.files:
        names = {name for function in file.sk_functions if (name := _struct_of(function))}
        if not names:
            continue
        reached = subject.reached(file)
        definitions = definitions_of(each.unit for each in reached)
        for place in reached:
            for name in sorted(names & place.words):
                for member in members_of(place.live, name):
                    meaning = explain(member.type, definitions)
                    size = DTYPES.get(meaning.dtype, _LEAST) if meaning.kind is ParameterKind.SCALAR else _LEAST
                    key = (place.path, member.offset)
                    if size >= _LEAST or member.is_aligned or member.is_indirect or key in told:
                        continue
                    told.add(key)
                    yield RULE.finding(
                        place.at(member.offset),
                        f"'{member.name}' of {name} is {member.type}, {size} byte{'' if size == 1 else 's'}, and not aligned to "
                        f"{_LEAST}",
                        f"alignas({_LEAST}) {member.type} {member.name};",
                    )


def _struct_of(function: SkFunction) -> str:
    """Return the plain name of the struct that the first parameter points to, or ""."""
    if not function.parameters:
        return ""
    head, (start, end) = function.head, function.parameters[0]
    star = next((index for index in range(start, end) if head.texts[index] == "*"), -1)
    words = join(head, start, star).removeprefix("const ").removesuffix(" const").partition("<")[0] if star >= 0 else ""
    return words.rpartition("::")[2].rpartition(" ")[2]


RULE = Rule(
    id="sk.args-struct-alignas",
    severity=Severity.BLOCKER,
    category="spec",
    title="members of an Args struct that are smaller than four bytes are aligned to four",
    explanation="The runtime packs kernel arguments with at least four bytes each. A smaller member of the struct that an SK "
    "function gets must say alignas(4), or every member behind it is read from the wrong place. Looked at are the structs that "
    "SK functions really get, and types by what they are: an enum of int8_t, an alias of half.",
    source="asc-devkit, SuperKernel guide for kernels that are launched directly, rule 3: "
    "https://gitcode.com/cann/asc-devkit/blob/82b89a15f26329511fc7fbc807d5132a1f9b4ba7/docs/zh/guide/编程指南/高级编程/SuperKernel/核函数直调算子额外适配说明.md",
    bad="""#include "kernel_operator.h"
__global__ __vector__ void clip(GM_ADDR x, int16_t low, uint32_t n) { Clip(x, low, n); }
struct ClipArgs {
    GM_ADDR x;
    int16_t low;
    uint32_t n;
};
__sk__ __vector__ void clip_sk(const ClipArgs *args) { Clip(args->x, args->low, args->n); }
SK_BIND(clip, 4, clip_sk);
""",
    good="""#include "kernel_operator.h"
struct HostArgs { bool verbose; };
__global__ __vector__ void clip(GM_ADDR x, int16_t low, uint32_t n) { Clip(x, low, n); }
struct ClipArgs {
    GM_ADDR x;
    alignas(4) int16_t low;
    uint32_t n;
};
__sk__ __vector__ void clip_sk(const ClipArgs *args) { Clip(args->x, args->low, args->n); }
SK_BIND(clip, 4, clip_sk);
""",
    check=check,
)
