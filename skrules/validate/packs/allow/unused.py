from __future__ import annotations

from skrules.findings import Severity
from skrules.validate.packs.allow import nothing
from skrules.validate.rule import Rule

RULE = Rule(
    id="allow.unused",
    severity=Severity.NOTE,
    category="sk",
    title="a comment that allows something is needed",
    explanation="Where nothing is against the rule any more, the comment misleads, and would hide the next mistake on its line.",
    source="this project's page on validation (docs/validation.md)",
    bad="""#include "kernel_operator.h"
__global__ __vector__ void scale(GM_ADDR x, uint32_t n) { Scale(x, n); }
struct ScaleArgs { GM_ADDR x; uint32_t n; };
__sk__ __vector__ void scale_sk(const ScaleArgs *args) { Scale(args->x, args->n); }
SK_BIND(scale, 4, scale_sk);  // skrules: allow(sk.bind-mask-known) the mask was another one once
""",
    good="""#include "kernel_operator.h"
__global__ __vector__ void scale(GM_ADDR x, uint32_t n) { Scale(x, n); }
struct ScaleArgs { GM_ADDR x; uint32_t n; };
__sk__ __vector__ void scale_sk(const ScaleArgs *args) { Scale(args->x, args->n); }
SK_BIND(scale, 16, scale_sk);  // skrules: allow(sk.bind-mask-known) a bit of a toolkit that is not released yet
""",
    check=nothing,
)
