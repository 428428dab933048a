from __future__ import annotations

import re
from collections.abc import Iterator

from skrules.findings import Finding, Fix, Severity
from skrules.source.model import Token, TokenKind
from skrules.validate.rule import Rule
from skrules.validate.subject import Subject, SubjectFile

_ALIAS = re.compile(r"//+[ \t]*sk-arch:[ \t]*(?P<alias>[^\s]+)")


def check(subject: Subject) -> Iterator[Finding]:
    archs = list(dict.fromkeys(target.arch for target in subject.targets))
    if not archs:
        return
    for file in subject.files:
        found = _first(file)
        if found is None or found[1].lower().replace("_", "-") in archs:
            continue
        token, alias = found
        # With one arch there is one right word; with several the author must say which is meant.
        fix = Fix(
            kind="replace-pattern",
            file=file.path,
            old_value=rf"sk-arch:[ \t]*{re.escape(alias)}(?!\S)",
            new_value=f"sk-arch: {archs[0]}",
            digest=file.digest,
        )
        yield RULE.finding(
            file.at(token.start),
            f"the file says that it is for {alias}, and the operator is for {', '.join(archs)}",
            f"// sk-arch: {archs[0]}",
            fix if len(archs) == 1 else None,
        )


def _first(file: SubjectFile) -> tuple[Token, str] | None:
    if "sk-arch:" not in file.unit.text:
        return None
    for token in file.unit.tokens:
        match = _ALIAS.match(token.text) if token.kind is TokenKind.COMMENT else None
        if match and not file.is_dead(token.start):
            return token, match["alias"]
    return None


RULE = Rule(
    id="compat.arch-alias-mismatch",
    severity=Severity.WARNING,
    category="compat",
    title="the arch that a file names is one that the operator is built for",
    explanation="A comment `// sk-arch: dav-2201` says which arch a file was written for. Another one than the operator is "
    "built for is a mistake of one of the two. Only the first such comment counts.",
    source="asc-devkit, __NPU_ARCH__ of the products: "
    "https://gitcode.com/cann/asc-devkit/blob/82b89a15f26329511fc7fbc807d5132a1f9b4ba7/docs/zh/guide/编程指南/语言扩展层/SIMD-BuiltIn关键字.md",
    bad="""// sk-arch: dav-3510
#include "kernel_operator.h"
__global__ __vector__ void scale(GM_ADDR x, uint32_t n) { Scale(x, n); }
""",
    good="""// sk-arch: dav-2201
#include "kernel_operator.h"
__global__ __vector__ void scale(GM_ADDR x, uint32_t n) { Scale(x, n); }
""",
    check=check,
)
