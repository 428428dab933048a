"""Kernels that lack what the operator build of CANN would generate for them."""

from __future__ import annotations

import pytest

from skrules.findings import Severity
from skrules.source.kernels import read
from skrules.source.model import SourceUnit
from skrules.source.operator_build import RULE, operator_build_findings

HEAD = '#include "kernel_operator.h"\n'
KERNEL = 'extern "C" __global__ __vector__ void k(GM_ADDR x, GM_ADDR out, GM_ADDR tiling) { %s }\n'
TYPED = HEAD + KERNEL % "AscendC::GlobalTensor<DTYPE_X> a; AscendC::GlobalTensor<DTYPE_OUT> b;"
TILED = HEAD + KERNEL % "GET_TILING_DATA(data, tiling);"


def unit(text: str, path: str = "ops/k.cpp") -> SourceUnit:
    return read(text.encode(), path)


def test_types_and_tiling_are_told_at_once() -> None:
    (found,) = operator_build_findings(unit(HEAD + KERNEL % "GET_TILING_DATA(data, tiling); DTYPE_X a; DTYPE_OUT b; DTYPE_X c;"))
    assert (found.rule, found.severity, found.at.line, found.at.column) == (RULE, Severity.BLOCKER, 2, 83)
    assert "generates DTYPE_OUT, DTYPE_X and the struct of GET_TILING_DATA" in found.message
    first, second = found.hint.splitlines()
    assert "compile: {defines: [DTYPE_OUT=half]}" in first and "REGISTER_TILING_DEFAULT(Struct)" in second


def test_a_header_is_looked_at_too() -> None:
    header = unit("struct Part { AscendC::GlobalTensor<DTYPE_X> x; };\n", "ops/part.h")
    (found,) = operator_build_findings(unit(HEAD + '#include "part.h"\n' + KERNEL % "Part part;"), [header])
    assert (found.at.file, found.at.line) == ("ops/part.h", 1)


@pytest.mark.parametrize("name", ["DTYPE_X", "ORIG_DTYPE_X", "FORMAT_X", "DTYPE_OUT"])
def test_every_generated_macro(name: str) -> None:
    assert name in operator_build_findings(unit(HEAD + KERNEL % f"if ({name} == 1) {{ }}"))[0].message


@pytest.mark.parametrize(
    "text",
    [
        HEAD + KERNEL % "",
        "#define DTYPE_X half\n#define DTYPE_OUT half\n" + TYPED,
        "using DTYPE_X = half;\ntypedef float DTYPE_OUT;\n" + TYPED,
        HEAD + "template <typename DTYPE_X, class DTYPE_OUT> " + KERNEL.removeprefix('extern "C" ') % "DTYPE_X a; DTYPE_OUT b;",
        HEAD + KERNEL % "constexpr int DTYPE_X = 3; if (DTYPE_X) {}",
        "#ifndef DTYPE_X\n#error none\n#endif\n#if !defined(DTYPE_OUT)\n#endif\n" + TYPED,
        "#if 0\n" + KERNEL % "DTYPE_X a;" + "#endif\n" + HEAD + KERNEL % "",
        HEAD + KERNEL % '/* DTYPE_X */ const char *s = "GET_TILING_DATA(a, b)";',
        HEAD + KERNEL % "DTYPE_QUERY a; MY_DTYPE_X b; DTYPE_ c;",  # nobody's parameter: another name of the author
        "struct T { int n; };\nREGISTER_TILING_DEFAULT(T);\n" + TILED,
        "#define GET_TILING_DATA(name, from) T name = Read(from)\n" + TILED,
        HEAD + KERNEL % "GET_TILING_DATA_WITH_STRUCT(T, data, tiling);",
        '#include "elsewhere/types.h"\n' + TYPED,  # it could define them
        "",
        "int f() { return DTYPE_X; }\n",
    ],
)
def test_what_a_direct_launch_has(text: str) -> None:
    assert operator_build_findings(unit(text)) == ()


def test_what_the_build_defines_is_there() -> None:
    assert operator_build_findings(unit(TYPED), (), ["DTYPE_X"])[0].message.endswith("generates DTYPE_OUT")
    assert operator_build_findings(unit(TYPED), (), ["DTYPE_X", "DTYPE_OUT"]) == ()


def test_a_header_may_define_it() -> None:
    header = unit("#define DTYPE_X half\n#define DTYPE_OUT half\n", "ops/k/types.h")
    assert operator_build_findings(unit('#include "types.h"\n' + TYPED), [header]) == ()
