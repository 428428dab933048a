"""Kernel types under `#if`: the SK function has the type that its kernel has under the same condition."""

from __future__ import annotations

import pytest

from skrules.adapt import adapt
from skrules.contract.check import resolve
from skrules.findings import blockers
from skrules.source import read

VECTOR = "KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);"
MIX = "KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);"


def head(body: str) -> str:
    """Return what stands between `__sk__` and `void`, or the rule that stops the kernel."""
    unit = read(f'#include "kernel_operator.h"\n__global__ __aicore__ void k(GM_ADDR x) {{\n{body}\n}}\n'.encode(), "k.asc")
    source = adapt(unit, resolve(unit, None))
    if blockers(source.findings):
        return blockers(source.findings)[0].rule
    text = source.text().decode()
    assert "KERNEL_TASK_TYPE" not in text[text.index("__sk__") :]
    return text[text.index("__sk__") + 6 : text.index("void k_sk")]


def test_else_without_a_type_leaves_it_to_the_compiler() -> None:
    assert head(f"#if A\n{VECTOR}\n#endif") == "\n#if A\n__vector__\n#else\n__aicore__\n#endif\n"


def test_types_of_branches() -> None:
    assert head(f"#if A\n{VECTOR}\n#elif B\n{MIX}\n#else\nf();\n#endif") == (
        "\n#if A\n__vector__\n#elif B\n__mix__(1, 2)\n#else\n__aicore__\n#endif\n"
    )
    nested = head(f"#ifdef A\n#if B\n{MIX}\n#else\n{VECTOR}\n#endif\n#else\n{VECTOR}\n#endif")
    assert nested == "\n#ifdef A\n#if B\n__mix__(1, 2)\n#else\n__vector__\n#endif\n#else\n__vector__\n#endif\n"


def test_one_type_everywhere_is_no_matter_of_the_condition() -> None:
    assert head(f"{VECTOR}\n#if A\n{VECTOR}\n#endif") == " __vector__ "


@pytest.mark.parametrize(
    "body",
    [
        f"{VECTOR}\n#if A\n{MIX}\n#endif",
        f"#if A\n{VECTOR}\n#endif\n#if B\n{MIX}\n#endif",
        f"#define A 1\n#if A\n{VECTOR}\n#endif",
    ],
)
def test_unclear_conditions_are_a_finding(body: str) -> None:
    assert head(body) == "codegen.kernel-type-unresolved"
