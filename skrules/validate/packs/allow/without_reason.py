from __future__ import annotations

from skrules.findings import Severity
from skrules.validate.packs.allow import nothing
from skrules.validate.rule import Rule

RULE = Rule(
    id="allow.without-reason",
    severity=Severity.WARNING,
    category="sk",
    title="a comment that allows something says why",
    explanation="The next reader must be able to tell whether the exception is still right. A comment without a reason allows "
    "nothing: what it was meant for is told as well.",
    source="this project's page on validation (docs/validation.md)",
    bad="""#include "kernel_operator.h"
__global__ __vector__ void scale(GM_ADDR x, uint32_t n) { Scale(x, n); }
struct ScaleArgs { GM_ADDR x; uint32_t n; };
__sk__ __vector__ void scale_sk(const ScaleArgs *args) { Scale(args->x, args->n); }
SK_BIND(scale, 16, scale_sk);  // skrules: allow(sk.bind-mask-known)
""",
    good="""#include "kernel_operator.h"
__global__ __vector__ void scale(GM_ADDR x, uint32_t n) { Scale(x, n); }
struct ScaleArgs { GM_ADDR x; uint32_t n; };
__sk__ __vector__ void scale_sk(const ScaleArgs *args) { Scale(args->x, args->n); }
SK_BIND(scale, 16, scale_sk);  // skrules: allow(sk.bind-mask-known) a bit of a toolkit that is not released yet
""",
    check=nothing,
)
