"""Bodies that would be other code in the SK function, which stands behind the kernel."""

from __future__ import annotations

import pytest

from skrules.adapt.adaptation import AdaptedSource, adapt
from skrules.adapt.copies import unlike_in_copy
from skrules.contract.check import resolve
from skrules.findings import Severity
from skrules.source.kernels import read

RULE = "codegen.body-not-repeatable"


def adapted(body: str, headers: dict[str, str] | None = None) -> AdaptedSource:
    units = [read(text.encode(), name) for name, text in (headers or {}).items()]
    text = f'#include "kernel_operator.h"\n__global__ __vector__ void k(GM_ADDR x) {{\n{body}\n}}\n'
    unit = read(text.encode(), "k.asc", headers=units)
    return adapt(unit, resolve(unit, None), units)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("#ifndef ONCE\n#define ONCE\nf();\n#else\ng();\n#endif\n", ["ONCE"]),
        ("int v = N;\n#undef N\n#define N 4\n", ["N", "N"]),
        ("#define A N\n#undef N\n", ["N"]),
        ("#define N 4\nf(N);\n#undef N\n#define N 5\ng(N);\n", ["N"]),
        ("#define N 4\nf(N);\n#undef N\n#define N 5\ng(N);\n#undef N\n", []),
        ("#define N 4\nf(N);\n", []),
        ("#ifdef N\nf();\n#endif\n", []),
        ("f(__COUNTER__);", ["__COUNTER__"]),
    ],
)
def test_what_a_copy_finds_defined(text: str, found: list[str]) -> None:
    code = read(text.encode(), "k.asc").code
    assert [reason.split("'")[1] for _, reason in unlike_in_copy(code, range(len(code)))] == found


def test_a_body_that_defines_what_it_asks_for_needs_a_human() -> None:
    source = adapted("#ifndef ONCE\n#define ONCE\nf(1);\n#else\nf(2);\n#endif")
    assert [(finding.rule, finding.at.line) for finding in source.findings] == [(RULE, 4)]
    assert source.status == "needs-human"


@pytest.mark.parametrize(
    ("header", "why"),
    [
        ("#pragma once\nf();\n", "lets itself in only once"),
        ("#ifndef A_H\n#define A_H\nf();\n#endif\n", "lets itself in only once"),
        ("#define N 3\nf(N);\n", "defines macros"),
        (None, "is not found"),
        ("f();\n", ""),
    ],
)
def test_included_text_must_be_there_a_second_time(header: str | None, why: str) -> None:
    source = adapted('#include "part/a.inc"', {} if header is None else {"part/a.inc": header})
    assert [finding.message.partition("'part/a.inc' ")[2].startswith(why) for finding in source.findings] == [True] * bool(why)
    assert source.status == ("needs-human" if why else "completed")


@pytest.mark.parametrize("word", ["__LINE__", "__func__", "__FILE__"])
def test_a_place_is_told_as_a_warning(word: str) -> None:
    source = adapted(f"log({word});")
    assert [(finding.rule, finding.severity) for finding in source.findings] == [("codegen.place-in-body", Severity.WARNING)]
    assert source.status == "completed"
