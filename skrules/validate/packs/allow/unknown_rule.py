from __future__ import annotations

from skrules.findings import Severity
from skrules.validate.packs.allow import nothing
from skrules.validate.rule import Rule

RULE = Rule(
    id="allow.unknown-rule",
    severity=Severity.WARNING,
    category="sk",
    title="a comment that allows something names a rule",
    explanation="A misspelt id allows nothing, and looks as if it did.",
    source="this project's page on validation (docs/validation.md)",
    bad="""#include "kernel_operator.h"
// skrules: allow(sk.bind-mask-knwon) a bit of a toolkit that is not released yet
__global__ __vector__ void scale(GM_ADDR x, uint32_t n) { Scale(x, n); }
""",
    good="""#include "kernel_operator.h"
__global__ __vector__ void scale(GM_ADDR x, uint32_t n) { Scale(x, n); }
struct ScaleArgs { GM_ADDR x; uint32_t n; };
__sk__ __vector__ void scale_sk(const ScaleArgs *args) { Scale(args->x, args->n); }
// skrules: allow(sk.bind-mask-known) a bit of a toolkit that is not released yet
SK_BIND(scale, 16, scale_sk);
""",
    check=nothing,
)
