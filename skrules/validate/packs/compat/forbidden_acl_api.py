from __future__ import annotations

from collections.abc import Iterator

from skrules.findings import Finding, Severity
from skrules.source.code import Code
from skrules.validate.rule import Rule
from skrules.validate.subject import Subject

_BEFORE_VALUES = frozenset({"return", "else", "case", "do", "co_return", "co_yield"})


def check(subject: Subject) -> Iterator[Finding]:
    functions = {feature for feature, _ in subject.compat.facts if feature.startswith("acl")}
    for file in subject.files:
        for name in sorted(file.words & functions):
            uses = [(code, index) for code, index in file.uses(name) if _is_use(code, index)]
            for target in subject.targets:
                fact = subject.compat.excludes(name, target)
                if fact is None or not uses:
                    continue
                code, index = uses[0]
                yield RULE.finding(
                    file.at(code.tokens[index].start),
                    f"{name} is not supported on {target.name} (CANN {', '.join(fact.cann)})",
                    f"see {fact.sources[0]}",
                )


def _is_use(code: Code, index: int) -> bool:
    """Whether the function is meant and used: not a member of that name, and not its declaration, which has a type before it."""
    before = code.text(index - 1)
    return before not in (".", "->", "*") and (not code.is_identifier(index - 1) or before in _BEFORE_VALUES)


RULE = Rule(
    id="compat.forbidden-acl-api",
    severity=Severity.BLOCKER,
    category="compat",
    title="ACL functions are used only where the product has them",
    explanation="The pages of the ACL reference say for each function which products support it. A call of one that the "
    "target does not support compiles, and fails when it runs. Asked about are the products that the operator is meant for: "
    "the archs that it declares, or --target-chip.",
    source="toolchains/compat.yaml has the page for each function, of the ACL reference: "
    "https://gitcode.com/cann/runtime/tree/681ef7610df13c8128982901142a2c869ddbb53e/docs/zh/api_ref",
    bad="""#include "acl/acl.h"
int choose(int32_t group) { return aclrtSetGroup(group); }
""",
    good="""#include "acl/acl.h"
int choose(int32_t device) { return aclrtSetDevice(device); }
""",
    check=check,
)
