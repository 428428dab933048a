"""Macros of headers: kernels, aliases and lists that a header makes, and what must not be taken for its meaning."""

from __future__ import annotations

import pytest

from skrules.adapt.adaptation import adapt
from skrules.contract.check import resolve
from skrules.contract.load import load
from skrules.findings import blockers
from skrules.source.kernels import read, read_prototypes
from skrules.source.model import CoreType, SourceUnit

DEFINE = "#define DEFINE(T) \\\n    __global__ __vector__ void fill_##T(GM_ADDR y, T value) { run<T>(y, value); }\n"
EACH = "#pragma once\n#define EACH(F) \\\n    F(half) \\\n    F(float)\n"
KERNEL = "__global__ __vector__ void k(GM_ADDR y) {}\n"


def read_with(text: str, *headers: str) -> SourceUnit:
    """Read a text with headers that are called h0.h, h1.h and so on."""
    units = [read(header.encode(), f"h{number}.h") for number, header in enumerate(headers)]
    return read(text.encode(), "k.asc", headers=units)


def names(unit: SourceUnit) -> list[str]:
    assert not unit.findings, [str(finding) for finding in unit.findings]
    return [kernel.name for kernel in unit.kernels]


def problem(unit: SourceUnit) -> str:
    (finding,) = unit.findings
    return finding.message


def test_a_macro_of_a_header_makes_kernels_at_its_use() -> None:
    unit = read_with("// first\nDEFINE(half);\nDEFINE(int32_t)\n", DEFINE)
    assert names(unit) == ["fill_half", "fill_int32_t"]
    kernel = unit.kernels[1]
    assert (kernel.line, kernel.column, kernel.macro) == (3, 1, "DEFINE")
    assert unit.text[kernel.span.start : kernel.span.end] == "DEFINE(int32_t)"
    assert [(each.type, each.name) for each in kernel.parameters] == [("GM_ADDR", "y"), ("int32_t", "value")]


def test_without_the_header_the_same_text_has_no_kernel() -> None:
    assert names(read_with("DEFINE(half);\n")) == []


def test_a_macro_of_a_header_hands_types_to_a_macro_of_the_file() -> None:
    unit = read_with(f"{DEFINE}EACH(DEFINE)\n", EACH)
    assert names(unit) == ["fill_half", "fill_float"]
    assert problem(read_with(f"{DEFINE}EACH(DEFINE)\n")).endswith("'EACH' comes from another file, which is not found")


def test_macros_of_several_headers_work_together() -> None:
    assert names(read_with("ALL\n", DEFINE, EACH, "#define ALL EACH(DEFINE)\n")) == ["fill_half", "fill_float"]


def test_another_name_for_a_macro_is_that_macro() -> None:
    assert names(read_with(f"{DEFINE}LIST(DEFINE)\n", EACH, "#define LIST OTHER\n#define OTHER EACH\n")) == [
        "fill_half",
        "fill_float",
    ]


def test_names_that_stand_for_one_another_end() -> None:
    assert problem(read_with(f"{DEFINE}ONE(DEFINE)\n", "#define ONE TWO\n#define TWO ONE\n"))


def test_lines_of_the_body_are_those_of_the_header() -> None:
    header = (
        "#define DEFINE(T) \\\n    __global__ __vector__ void fill_##T(GM_ADDR y) \\\n    { \\\n        run<T>(y); \\\n    }\n"
    )
    (kernel,) = read_with("int a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p;\nDEFINE(half)\n", header).kernels
    assert kernel.expansion is not None
    assert kernel.expansion.text == "__global__ __vector__ void fill_half(GM_ADDR y)\n    {\n        run<half>(y);\n    }"


def test_such_a_kernel_is_bound_after_the_use() -> None:
    unit = read_with(f"{DEFINE}EACH(DEFINE)\nint last;\n", EACH)
    contract = load(b"entries:\n  fill_half: {outputs: [y]}\n  fill_float: {outputs: [y]}\n", "c.yaml")
    source = adapt(unit, resolve(unit, contract))
    assert not blockers(source.findings)
    text = source.text().decode()
    places = [text.index(part) for part in ("EACH(DEFINE)\n", "SK_BIND(fill_half,", "SK_BIND(fill_float,", "int last;")]
    assert places == sorted(places)
    assert "alignas(4) half value;" in text and "    float value;" in text


@pytest.mark.parametrize(
    ("header", "text"),
    [
        ("#define KERNEL __global__ __vector__\n", "KERNEL void k(GM_ADDR y) {}"),
        ("#define KERNEL ATTRIBUTES\n#define ATTRIBUTES __global__ __vector__\n", "KERNEL void k(GM_ADDR y) {}"),
        ("#define CORE __vector__\n", "__global__ CORE void k(GM_ADDR y) {}"),
        ("#define ATTRIBUTE __attribute__((used)) __vector__\n", "__global__ ATTRIBUTE void k(GM_ADDR y) {}"),
        ("#define LIST(T) GM_ADDR y\n", "__global__ __vector__ void k(LIST(char)) {}"),
        ("#define LIST GM_ADDR y\n", "__global__ __vector__ void k(LIST) {}"),
    ],
)
def test_macros_of_a_header_in_a_signature(header: str, text: str) -> None:
    unit = read_with(text, header)
    assert names(unit) == ["k"]
    assert unit.kernels[0].type.core is CoreType.VECTOR
    assert [(each.type, each.name) for each in unit.kernels[0].parameters] == [("GM_ADDR", "y")]


def test_a_template_list_of_a_header() -> None:
    unit = read_with("template <LIST>\n__global__ __vector__ void k(A x) {}", "#define LIST typename A, int N = 4\n")
    assert names(unit) == ["k"]
    assert [each.name for each in unit.kernels[0].template_parameters or ()] == ["A", "N"]
    assert not any(each.is_list for each in unit.kernels[0].template_parameters or ())


def test_headers_may_say_the_same() -> None:
    assert names(read_with(f"{DEFINE}EACH(DEFINE)\n", EACH, EACH, EACH.replace("\\\n   ", " "))) == ["fill_half", "fill_float"]


@pytest.mark.parametrize(
    ("own", "headers", "places"),
    [
        ("", [EACH, "\n#define EACH(F) F(int)\n"], "h0.h:2, h1.h:2"),
        ("#define EACH(F) F(int)\n", [EACH], "in this file, h0.h:2"),
        ("", ["#if A\n#define EACH(F) F(int)\n#else\n#define EACH(F) F(half)\n#endif\n"], "h0.h:2, h0.h:4"),
        ("", [EACH + "#undef EACH\n"], "h0.h:2, h0.h:5"),
        ("#undef EACH\n", [EACH], "in this file, h0.h:2"),
        ("", [EACH, "#if A\n# undef EACH // for good\n#endif\n"], "h0.h:2, h1.h:2"),
    ],
)
def test_what_is_defined_differently_has_no_single_meaning(own: str, headers: list[str], places: str) -> None:
    unit = read_with(f"{DEFINE}{own}EACH(DEFINE)\n", *headers)
    assert [finding.rule for finding in unit.findings] == ["source.macro-kernel"]
    assert problem(unit).endswith(f"has more than one meaning: {places}")
    assert not unit.kernels


def test_what_a_header_takes_away_and_gives_again_is_what_it_gives() -> None:
    assert names(read_with(f"{DEFINE}EACH(DEFINE)\n", f"#ifdef EACH\n#undef EACH\n#endif\n{EACH}")) == ["fill_half", "fill_float"]


def test_what_is_never_compiled_means_nothing() -> None:
    dead = "#if 0\n#define EACH(F) F(int)\n#undef EACH\n#endif\n"
    assert names(read_with(f"{DEFINE}{dead}EACH(DEFINE)\n", EACH + dead)) == ["fill_half", "fill_float"]


def test_differing_qualifiers_and_lists_are_findings() -> None:
    both = ["#define M __vector__\n", "#define M __cube__\n"]
    assert "h0.h:1, h1.h:1" in problem(read_with("__global__ M void k(GM_ADDR y) {}", *both))
    assert "h0.h:1, h1.h:1" in problem(read_with("__global__ __vector__ void k(M) {}", "#define M int a\n", "#define M int b\n"))


def test_kernels_of_a_header_are_not_those_of_the_file() -> None:
    assert names(read_with(KERNEL, KERNEL.replace("k(", "other("))) == ["k"]
    # Nor is a macro's use there, or a macro that the file does not use.
    assert names(read_with(KERNEL, f"{DEFINE}DEFINE(half)\n")) == ["k"]


def test_findings_about_an_expansion_stand_at_the_use() -> None:
    unit = read_with("\n  BROKEN(half)\n", "#define BROKEN(T) __global__ __vector__ int k(T *y) { }\n")
    (finding,) = unit.findings
    assert (finding.rule, finding.at.file, finding.at.line, finding.at.column) == ("source.kernel-not-read", "k.asc", 2, 3)


def test_declarations_by_macros_of_a_header_are_known() -> None:
    unit = read(b"KERNEL void k(LIST);\n", "k.asc")
    header = read(b"#define KERNEL __global__ __vector__\n#define LIST int a, int b\n", "h.h")
    assert [len(each.parameters or ()) for each in read_prototypes(unit, [header])] == [2]


def test_macros_that_double_one_another_end() -> None:
    steps = "".join(f"#define STEP{n}(T) STEP{n + 1}(T) STEP{n + 1}(T)\n" for n in range(40))
    assert problem(read_with("STEP0(half)\n", f"{steps}#define STEP40(T) __global__ void k_##T() {{}}\n"))
