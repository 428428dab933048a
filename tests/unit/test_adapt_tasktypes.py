"""Kernel types under `#if`: the SK function has the type that its kernel has under the same condition."""

from __future__ import annotations

import pytest

from skrules.adapt.adaptation import AdaptedSource, adapt
from skrules.contract.check import resolve
from skrules.contract.load import load
from skrules.findings import blockers
from skrules.source.kernels import read

VECTOR = "KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);"
MIX = "KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);"


def adapted(body: str, kernel_type: str = "map", qualifier: str = "__aicore__ ") -> AdaptedSource:
    text = f'#include "kernel_operator.h"\n__global__ {qualifier}void k(GM_ADDR x) {{\n{body}\n}}\n'
    unit = read(text.encode(), "k.asc")
    contract = load(f'entries: {{k: {{outputs: [x], sk: {{kernel_type: "{kernel_type}"}}}}}}\n'.encode(), "c.yaml")
    return adapt(unit, resolve(unit, contract))


def head(body: str, kernel_type: str = "map", qualifier: str = "__aicore__ ") -> str:
    """Return what stands between `__sk__` and `void`, or the rules that stop the kernel."""
    source = adapted(body, kernel_type, qualifier)
    if blockers(source.findings):
        return ", ".join(finding.rule for finding in blockers(source.findings))
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
        "KERNEL_TASK_TYPE(1, KERNEL_TYPE_AIV_ONLY); KERNEL_TASK_TYPE(2, KERNEL_TYPE_AIC_ONLY);",
        "KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_SOMETHING_NEW);",
        "#if A\nKERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_SOMETHING_NEW);\n#endif",
    ],
)
def test_what_the_macros_leave_open_the_contract_settles(body: str) -> None:
    assert head(body) == "codegen.kernel-type-unresolved"
    assert head(body, "vector") == " __vector__ "
    assert head(body, "keep") == "codegen.kernel-type-unresolved"


def test_the_finding_stands_at_the_macro_and_shows_the_line_of_the_contract() -> None:
    (found,) = adapted("  KERNEL_TASK_TYPE(1, KERNEL_TYPE_NEW);").findings
    assert str(found.at) == "k.asc:3:3" and "KERNEL_TYPE_NEW" in found.message
    assert "sk:\n  kernel_type: mix(1, 2)" in found.hint


def test_equal_groups_are_one() -> None:
    group = f"#if A\n{MIX}\n#endif"
    assert head(f"{group}\nf();\n{group}") == "\n#if A\n__mix__(1, 2)\n#else\n__aicore__\n#endif\n"


@pytest.mark.parametrize(
    ("qualifier", "kernel_type", "expected"),
    [
        ("__aicore__ ", "vector", "__vector__"),
        ("__aicore__ ", "cube", "__cube__"),
        ("__aicore__ ", "mix(1,1)", "__mix__(1, 1)"),
        ("__aicore__ ", "mix(1, 2)", "__mix__(1, 2)"),
        ("__mix__(1, 0) ", "cube", "__cube__"),
        ("__mix__(0, 1) ", "vector", "__vector__"),
        ("__mix__(1, 2) ", "mix(1, 2)", "__mix__(1, 2)"),
        ("__mix__(C, V) ", "mix(1, 1)", "__mix__(1, 1)"),
        ("__mix__(C, V) ", "vector", "codegen.sk-kernel-type-conflict"),
        ("__mix__(1, 2) ", "mix(1, 1)", "codegen.sk-kernel-type-conflict"),
        ("__vector__ ", "cube", "codegen.sk-kernel-type-conflict"),
        ("", "vector", "codegen.kernel-type-missing"),
    ],
)
def test_a_type_of_the_contract(qualifier: str, kernel_type: str, expected: str) -> None:
    assert head("f();", kernel_type, qualifier).strip() == expected


@pytest.mark.parametrize(
    ("body", "kernel_type", "expected"),
    [
        (VECTOR, "cube", "codegen.sk-kernel-type-conflict"),
        (f"#if A\n{VECTOR}\n#endif", "vector", "__vector__"),
        (f"#if A\n{VECTOR}\n#endif", "cube", "codegen.sk-kernel-type-conflict"),
        (f"#if A\n{VECTOR}\n#else\n{MIX}\n#endif", "mix(1, 2)", "codegen.sk-kernel-type-conflict"),
    ],
)
def test_a_type_of_the_contract_and_task_macros(body: str, kernel_type: str, expected: str) -> None:
    assert head(body, kernel_type).strip() == expected


def test_a_conflict_names_both_types_at_the_line_of_the_contract() -> None:
    (found,) = adapted(VECTOR, "cube").findings
    assert (found.at.file, found.at.line) == ("c.yaml", 1) and "cube" in found.message and "vector" in found.message
    (found,) = adapted(f"#if A\n{VECTOR}\n#endif", "cube").findings
    assert found.at.file == "c.yaml" and "__cube__" in found.message and "__vector__" in found.message


def test_raw_block_variables_mean_what_the_decided_type_makes_of_them() -> None:
    assert head("use(block_idx);") == "codegen.raw-block-variable"
    assert head("use(block_idx);", "vector").strip() == "__vector__"
    assert head("use(block_idx);", "mix(1, 2)") == "codegen.raw-block-variable"
