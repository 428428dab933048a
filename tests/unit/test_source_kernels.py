from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skrules.findings import Severity
from skrules.source.code import code_of
from skrules.source.kernels import read
from skrules.source.macros import expansion_text, macros_of
from skrules.source.model import CoreType, Kernel, SourceUnit, TokenKind
from skrules.source.tokens import tokenize


def one(text: str) -> Kernel:
    unit = read(text.encode("latin-1"), "k.asc")
    assert unit.findings == ()
    assert len(unit.kernels) == 1
    return unit.kernels[0]


def rules(unit: SourceUnit) -> list[str]:
    return [finding.rule for finding in unit.findings]


def read_text(text: str) -> SourceUnit:
    return read(text.encode("latin-1"), "k.asc")


def typed_names(kernel: Kernel) -> list[tuple[str, str]]:
    return [(parameter.type, parameter.name) for parameter in kernel.parameters]


@pytest.mark.parametrize(
    ("head", "core", "aic", "aiv"),
    [
        ("__global__ __vector__ void", CoreType.VECTOR, "", ""),
        ("__cube__ __global__ void", CoreType.CUBE, "", ""),
        ("__global__ __mix__(1, 2) void", CoreType.MIX, "1", "2"),
        ("__global__ __mix__ ( 1 , RATIO ) void", CoreType.MIX, "1", "RATIO"),
        ("__global__ __aicore__ void", CoreType.BARE, "", ""),
        ("__global__ [aicore] void", CoreType.BARE, "", ""),
        ("__global__[aicore] void", CoreType.BARE, "", ""),
        ("__global__ void", CoreType.NONE, "", ""),
        ("void __global__ __vector__", CoreType.VECTOR, "", ""),
        ("inline __global__ void __vector__", CoreType.VECTOR, "", ""),
        ("static __attribute__((aligned(512))) __global__ __vector__ void", CoreType.VECTOR, "", ""),
        ("__global__ __launch_bounds__(64 * 2) __vector__ void", CoreType.VECTOR, "", ""),
        ("[[bisheng::core_ratio(0, 1)]] __global__ __aicore__ void", CoreType.MIX, "0", "1"),
        ("[[maybe_unused]] __global__ __vector__ void", CoreType.VECTOR, "", ""),
        ("__global__ __vector__ UNKNOWN_ATTRIBUTE(3) void", CoreType.VECTOR, "", ""),
    ],
)
def test_qualifiers_in_any_order(head: str, core: CoreType, aic: str, aiv: str) -> None:
    text = f"int before;\n{head} scale(GM_ADDR x) {{ use(x); }}\nint after;"
    kernel = one(text)
    assert (kernel.name, kernel.type.core, kernel.type.aic, kernel.type.aiv) == ("scale", core, aic, aiv)
    assert text[kernel.span.start : kernel.span.end] == f"{head} scale(GM_ADDR x) {{ use(x); }}"
    assert text[kernel.name_span.start : kernel.name_span.end] == "scale"
    assert text[kernel.parameter_span.start : kernel.parameter_span.end] == "(GM_ADDR x)"
    assert text[kernel.body.start : kernel.body.end] == "{ use(x); }"
    assert (kernel.line, kernel.column) == (2, head.index("__global__") + 1)


@pytest.mark.parametrize(
    ("body", "core", "aiv"),
    [
        ("KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);", CoreType.VECTOR, ""),
        ("KERNEL_TASK_TYPE(2, KERNEL_TYPE_MIX_AIC_1_2);", CoreType.MIX, "2"),
        ("KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_0);", CoreType.CUBE, ""),
        ("// KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);\n", CoreType.BARE, ""),
    ],
)
def test_task_macro_gives_the_type_of_a_bare_kernel(body: str, core: CoreType, aiv: str) -> None:
    kernel = one(f"__global__ __aicore__ void k() {{ {body} }}")
    assert (kernel.type.core, kernel.type.aiv) == (core, aiv)


@pytest.mark.parametrize(
    "body",
    [
        "KERNEL_TASK_TYPE(1, KERNEL_TYPE_AIV_ONLY); KERNEL_TASK_TYPE(2, KERNEL_TYPE_AIC_ONLY);",
        "KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_SOMETHING_NEW);",
        "\n#if A\nKERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_NEW);\n#endif\n",
    ],
)
def test_task_macros_that_do_not_settle_the_type(body: str) -> None:
    kernel = one(f"__global__ __aicore__ void k() {{ {body} }}")
    assert (kernel.type.core, kernel.type.source) == (CoreType.BARE, "unsettled-task-macro")


def test_task_macros_under_a_condition() -> None:
    one_type = "KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);"
    assert one(f"__global__ __aicore__ void k() {{\n#if A\n{one_type}\n#endif\n}}").type.source == "conditional-task-macro"
    both = one(f"__global__ __aicore__ void k() {{\n{one_type}\n#if A\n{one_type}\n#endif\n}}")
    assert (both.type.core, both.type.source) == (CoreType.VECTOR, "task-macro")


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ("", []),
        ("void", []),
        ("GM_ADDR x, GM_ADDR /* in ) */ y // (last\n", [("GM_ADDR", "x"), ("GM_ADDR", "y")]),
        (
            "__gm__ uint8_t *x, const __gm__ half* __restrict__ y",
            [("__gm__ uint8_t*", "x"), ("const __gm__ half* __restrict__", "y")],
        ),
        ("const ns::Tiling<half, (4 > 2)> &t", [("const ns::Tiling<half, (4 > 2)>&", "t")]),
        ("unsigned int n, unsigned m, long long", [("unsigned int", "n"), ("unsigned", "m"), ("long long", "")]),
        ("MyTiling, GM_ADDR", [("MyTiling", ""), ("GM_ADDR", "")]),
        ("const Tiling, struct Args, struct Args a", [("const Tiling", ""), ("struct Args", ""), ("struct Args", "a")]),
        ("decltype(size) n", [("decltype(size)", "n")]),
        ("std::array<std::array<int, 2>, 3> a, int b", [("std::array<std::array<int, 2>, 3>", "a"), ("int", "b")]),
        ("a::b, c::d e", [("a::b", ""), ("c::d", "e")]),
    ],
)
def test_parameters(parameters: str, expected: list[tuple[str, str]]) -> None:
    assert typed_names(one(f"__global__ __vector__ void k({parameters}) {{}}")) == expected


def test_arrays_and_defaults() -> None:
    kernel = one("__global__ __vector__ void k(const uint32_t (dims)[4] = {}, int b = 1) {}".replace("(dims)", "dims"))
    assert [(p.type, p.name, p.array, p.default) for p in kernel.parameters] == [
        ("const uint32_t", "dims", "[4]", "{}"),
        ("int", "b", "", "1"),
    ]
    kernel = one("__global__ __vector__ void k(int a[2][N], float f = g(1, 2), T t = T<1, 2>{3, 4}) {}")
    assert [(p.name, p.array, p.default) for p in kernel.parameters] == [
        ("a", "[2][N]", None),
        ("f", "", "g(1, 2)"),
        ("t", "", "T<1, 2>{3, 4}"),
    ]


@pytest.mark.parametrize(
    ("parameters", "word"),
    [
        ("void (*f)(int)", "pointer"),
        ("int a, ...", "variable number"),
        ("KERNEL_ARGS", "macro from another file"),
        ("ARGS_OF(half), int n", "not defined in this file"),
        ("int a,, int b", "empty"),
        ("a < b", "does not read"),
    ],
)
def test_parameters_that_cannot_be_known_are_findings(parameters: str, word: str) -> None:
    unit = read_text(f"\n__global__ __vector__ void k({parameters}) {{}}\n__global__ __vector__ void ok() {{}}")
    assert [kernel.name for kernel in unit.kernels] == ["ok"]
    (finding,) = unit.findings
    assert (finding.rule, finding.severity, finding.at.line, finding.at.column) == (
        "source.kernel-not-read",
        Severity.BLOCKER,
        2,
        1,
    )
    assert word in finding.message


def test_parameter_list_macros_of_the_file_are_expanded() -> None:
    text = """
#define HALF_PARAMS GM_ADDR x, \\
    GM_ADDR y
#define PARAMS(T) HALF_PARAMS, T n
__global__ __vector__ void k(PARAMS(uint32_t), bool last) {}
"""
    kernel = one(text)
    assert typed_names(kernel) == [("GM_ADDR", "x"), ("GM_ADDR", "y"), ("uint32_t", "n"), ("bool", "last")]
    assert text[kernel.parameters[2].span.start : kernel.parameters[2].span.end] == "PARAMS(uint32_t)"


def test_macros_with_two_meanings_are_not_expanded() -> None:
    text = "#if A\n#define P int a\n#else\n#define P int b\n#endif\n__global__ __vector__ void k(P) {}"
    assert rules(read_text(text)) == ["source.kernel-not-read"]


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("template <typename T>", [("typename T", "T", None, False, True)]),
        ("template<class T, int N = (1 > 0)>", [("class T", "T", None, False, True), ("int N", "N", "(1 > 0)", False, False)]),
        ("template <typename... Rest>", [("typename... Rest", "Rest", None, True, True)]),
        ("template <template <class> class C>", [("template<class> class C", "C", None, False, False)]),
        ("template <typename T = std::pair<int, int>>", [("typename T", "T", "std::pair<int, int>", False, True)]),
        ("template <typename, bool>", [("typename", "", None, False, True), ("bool", "", None, False, False)]),
        ("template <typename T::type N>", [("typename T::type N", "N", None, False, False)]),
        ("template <const auto &Policy>", [("const auto& Policy", "Policy", None, False, False)]),
        ("template <>", []),
    ],
)
def test_template_heads(head: str, expected: list[tuple[object, ...]]) -> None:
    kernel = one(f"int x;\n{head}\n__global__ __vector__ void k(GM_ADDR x) {{}}")
    assert kernel.span.start == len("int x;\n")
    parameters = kernel.template_parameters
    assert parameters is not None
    assert [(p.declaration, p.name, p.default, p.is_pack, p.is_type) for p in parameters] == expected


def test_requires_clause_and_specialisation() -> None:
    kernel = one("template <typename T> requires (sizeof(T) > 1) && Small<T> __global__ __vector__ void k(T x) {}")
    assert kernel.span.start == 0
    assert kernel.template_parameters is not None
    kernel = one("template <> __global__ __vector__ void k<half, 2>(GM_ADDR x) {}")
    assert (kernel.name, kernel.specialisation, kernel.template_parameters) == ("k", "<half, 2>", ())


def test_no_template_is_none() -> None:
    assert one("__global__ __vector__ void k() {}").template_parameters is None


def test_template_list_macro_of_another_file() -> None:
    """Its parameters are not known, so a type of the signature could be one of them."""
    unit = read_text("template <TPL_ARGS, int N> __global__ __vector__ void k(Unknown x) {}")
    assert rules(unit) == ["source.template-list-macro"]
    kernel = one("template <TPL_ARGS, int N> __global__ __vector__ void k(GM_ADDR x, const uint32_t n) {}")
    assert [(each.declaration, each.is_list) for each in kernel.template_parameters or ()] == [
        ("TPL_ARGS", True),
        ("int N", False),
    ]


def test_scopes() -> None:
    text = """
namespace a::b { inline namespace c { namespace {
__global__ __vector__ void inner() {}
} } }
extern "C" {
void other();
__global__ __vector__ void block() {}
}
extern "C" __global__ __vector__ void prefix() {}
__global__ __vector__ void ns::outside() {}
struct S { int x; } s = { 1 };
__global__ __vector__ void plain() {}
"""
    unit = read_text(text)
    assert unit.findings == ()
    inner, block, prefix, outside, plain = unit.kernels
    assert (inner.namespaces, inner.qualified_name) == (("a", "b", "c", ""), "a::b::c::inner")
    assert block.extern_c == "block"
    assert prefix.extern_c == "prefix"
    assert text[prefix.span.start :].startswith('extern "C"')
    assert (outside.name, outside.namespaces) == ("outside", ("ns",))
    assert (plain.namespaces, plain.extern_c) == ((), "")


def test_extern_c_block_behind_a_condition() -> None:
    unit = read_text(
        '#ifdef __cplusplus\nextern "C" {\n#endif\n__global__ __vector__ void k() {}\n#ifdef __cplusplus\n}\n#endif\n'
        "__global__ __vector__ void after() {}"
    )
    assert [(kernel.name, kernel.extern_c, kernel.conditions) for kernel in unit.kernels] == [
        ("k", "block", ()),
        ("after", "", ()),
    ]


def test_scopes_that_a_condition_opens() -> None:
    text = "#if 0\nnamespace a {\n#else\nnamespace b {\n#endif\n__global__ __vector__ void k() {}\n}\n"
    assert one(text).namespaces == ("b",)
    assert read_text("__global__\n#if 0\n#else\nnamespace a {").kernels == ()


def test_twins_in_branches_keep_their_conditions() -> None:
    unit = read_text(
        "#ifdef A\n#if  B // x\n__global__ __vector__ void k(int a) {}\n#elif C\n__global__ __cube__ void k(int b) {}\n#else\n"
        "__global__ __aicore__ void k(int c) {}\n#endif\n#endif"
    )
    assert [kernel.conditions for kernel in unit.kernels] == [
        ("#ifdef A", "#if B"),
        ("#ifdef A", "#if B / #elif C"),
        ("#ifdef A", "#if B / #elif C / #else"),
    ]
    assert not any(kernel.signature_has_conditions for kernel in unit.kernels)
    assert unit.findings == ()


@pytest.mark.parametrize(
    "text",
    [
        "__global__ __vector__ void k(int a,\n#if A\n int b,\n#endif\n int c) {}",
        "__global__ __vector__ void k(int a\n#if A\n, int b)\n#else\n)\n#endif\n{}",
        "#if A\n__global__ __vector__ void k(int a)\n#else\n__global__ __cube__ void k(int a)\n#endif\n{ x(); }",
        "#if A\n__global__ __vector__ void k(int a) {\n#else\n__global__ __cube__ void k(int a) {\n#endif\n x(); }",
        "#if A\ntemplate <int N>\n#else\ntemplate <bool N>\n#endif\n__global__ __vector__ void k(int a) {}",
        "#if A\n__global__ __vector__ void k(\n#else\ntemplate <int N> __global__ __vector__ void k(\n#endif\nint a) {}",
        "__global__\n#if A\n__vector__\n#else\n__cube__\n#endif\nvoid k(int a) {}",
    ],
)
def test_signature_split_by_conditions(text: str) -> None:
    unit = read_text(text + "\n__global__ __vector__ void next() {}")
    assert rules(unit) == ["source.conditional-signature"]
    split, after = unit.kernels
    assert split.signature_has_conditions
    assert "b" not in [parameter.name for parameter in split.parameters]
    assert (after.name, after.signature_has_conditions) == ("next", False)


@pytest.mark.parametrize(
    ("text", "qualifiers"),
    [
        ("__global__\n#if A\n__vector__\n#else\n__cube__\n#endif\nvoid k() {}", "__global__ __vector__ __cube__"),
        (
            "#if A\n__global__ __vector__\n#elif B\n__global__ __cube__\n#else\n__global__ __mix__(1, 2)\n#endif\nvoid k() {}",
            "__global__ __vector__ __cube__ __mix__(1,2)",
        ),
        (
            "template <int N>\n#ifdef A\n__global__ __cube__\n#else\n#if B\n__global__ __vector__\n#endif\n#endif\nvoid k() {}",
            "__global__ __cube__ __vector__",
        ),
        ("#if 0\n__global__ __cube__\n#else\n__global__ __vector__\n#endif\nvoid k() {}", "__global__ __vector__"),
        ("#if A\n__global__ __cube__ void k()\n#else\n__global__ __vector__ void k()\n#endif\n{}", "__global__ __cube__"),
    ],
)
def test_qualifiers_of_all_branches_before_the_name(text: str, qualifiers: str) -> None:
    (kernel,) = read_text(text).kernels
    assert [each.replace(" ", "") for each in kernel.qualifiers] == qualifiers.split()
    assert kernel.signature_has_conditions and kernel.span.end == len(text)


def test_deeply_nested_branches_of_a_head_end() -> None:
    depth = 2000
    text = "__global__ __vector__\n" + "#if A\n#else\n" * depth + "__cube__\n" + "#endif\n" * depth + "void k() {}"
    (kernel,) = read_text(text).kernels
    assert kernel.name == "k"


def test_braces_unbalanced_by_conditions_in_a_body() -> None:
    text = "__global__ __vector__ void k(int a) {\n#if A\nif (a) {\n#else\nif (!a) {\n#endif\nx(); }\n}\nint after;"
    kernel = one(text)
    assert text[kernel.body.end :] == "\nint after;"
    text = "__global__ __vector__ void k(int a) {\nif (a) {\n#if A\n} else if (b) {\n#else\n} else {\n#endif\n}\n}\nint after;"
    kernel = one(text)
    assert text[kernel.body.end :] == "\nint after;"


def test_braces_that_are_not_code() -> None:
    text = (
        '__global__ __vector__ void k() { /* } */ // }\n "}"; \'}\'; R"(}")"; 1\'000;\n#define CLOSE }\n#if 0\n}\n#endif\n'
        "if ASCEND_IS_AIV { x(); } }\nint after;"
    )
    assert text[one(text).body.end :] == "\nint after;"


def test_what_is_hidden_is_no_kernel() -> None:
    unit = read_text(
        '// __global__ void a() {}\n/* __global__ void b() {} */\nchar *s = "__global__ void c() {}";\n'
        "#if 0\n__global__ void d() {}\n#else\n__global__ __vector__ void e() {}\n#endif\n"
        "#if 1\n#else\n__global__ void f() {}\n#endif\n"
    )
    assert [kernel.name for kernel in unit.kernels] == ["e"]
    assert unit.findings == ()


@pytest.mark.parametrize(
    "text",
    [
        "__global__ __vector__ void k(GM_ADDR x);",
        'extern "C" __global__ __aicore__ void k(GM_ADDR x, GM_ADDR);',
        "template __global__ void k<half>(GM_ADDR x);",
        "struct S { friend __global__ void k(GM_ADDR x); };",
        "#define __global__",
        "#ifdef __global__\n#undef __global__\n#endif",
        "#define KERNEL __global__ __vector__",
        "#define DECLARE(name) __global__ __vector__ void name(GM_ADDR x);",
    ],
)
def test_declarations_and_definitions_of_the_word_are_nothing(text: str) -> None:
    unit = read_text(text)
    assert (unit.kernels, unit.findings) == ((), ())


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("__global__ __vector__ int k() { return 0; }", "returns void"),
        ("struct S { static __global__ __vector__ void k() {} };", "inside the class"),
        ("void f() { __global__ __vector__ void k() {} }", "inside the braces"),
        ("__global__ __vector__ void k() { ", "not closed"),
        ("__global__ __vector__ void k(", "not closed"),
        ("__global__ __vector__ void k() -> x", "between the parameter list and the body"),
        ("using F = __global__ void (*)(GM_ADDR);", "not expected"),
        ("__global__ __vector__ void CAT(a, b)(GM_ADDR x) {}", "CAT"),
        ("__global__", "does not end"),
    ],
)
def test_other_uses_are_findings(text: str, word: str) -> None:
    unit = read_text(text)
    assert unit.kernels == ()
    assert rules(unit) == ["source.kernel-not-read"]
    assert word in unit.findings[0].message


def test_kernel_in_a_macro() -> None:
    unit = read_text("#define DEF(T) \\\n  __global__ __vector__ void scale(GM_ADDR x, T f) { run<T>(x, f); }\nDEF(half)\n")
    (kernel,) = unit.kernels
    assert (kernel.name, kernel.macro, kernel.line) == ("scale", "DEF", 3)
    assert [(each.type, each.name) for each in kernel.parameters] == [("GM_ADDR", "x"), ("half", "f")]
    assert unit.text[kernel.span.start : kernel.span.end] == "DEF(half)"
    assert kernel.expansion is not None
    assert kernel.definition is not None
    body = kernel.definition.body
    assert kernel.expansion.text[body.start : body.end] == "{ run<half>(x, f); }"
    assert unit.findings == ()


@pytest.mark.parametrize(
    ("name", "made"), [("name", "a"), ("name##_k", "a_k"), ("k_##T", "k_b"), ("k_ ## T ## _v", "k_b_v"), ("ns::k_##T", "k_b")]
)
def test_names_made_by_a_macro(name: str, made: str) -> None:
    unit = read_text(f"#define DEF(name, T) __global__ __vector__ void {name}(GM_ADDR x) {{}}\nnamespace n {{ DEF(a, b); }}\n")
    assert [kernel.name for kernel in unit.kernels] == [made]
    assert [(each.name, each.macro, each.line) for each in unit.macro_kernels] == [("".join(name.split()), "DEF", 1)]
    assert unit.kernels[0].namespaces[0] == "n"
    assert unit.findings == ()


def test_macros_that_hand_kernel_macros_on() -> None:
    unit = read_text(
        "#define DEF(T) __global__ __vector__ void k_##T(GM_ADDR x) { T v; }\n"
        "#define BOTH DEF(half) DEF(float)\n#define EACH(F) F(int8_t) F(int16_t)\n"
        'extern "C" {\nBOTH\nEACH(DEF)\n}\n'
    )
    assert [kernel.name for kernel in unit.kernels] == ["k_half", "k_float", "k_int8_t", "k_int16_t"]
    assert {kernel.extern_c for kernel in unit.kernels} == {"block"}
    assert [kernel.line for kernel in unit.kernels] == [5, 5, 6, 6]


@pytest.mark.parametrize(
    "text",
    [
        "",  # no use
        "OTHER(DEF)",  # a macro of another file
        "DEF()DEF(a, b)",  # does not fit
        "#define T2 half\n#define TWICE(T) DEF(T)\nTWICE(T2)",  # pasted before or after it is replaced?
        "#define LOOP DEF(LOOP) LOOP\nLOOP",
        "#define BAD(T) __global__ int k_##T(GM_ADDR x) {}\nBAD(a)\nDEF(a)",
    ],
)
def test_macro_kernels_that_are_not_understood(text: str) -> None:
    unit = read_text(f"#define DEF(T) __global__ __vector__ void k_##T(GM_ADDR x) {{}}\n{text}\n")
    assert set(rules(unit)) & {"source.macro-kernel", "source.kernel-not-read"}


@pytest.mark.parametrize(
    ("replacement", "use", "text"),
    [
        ("DEF(...) k(__VA_ARGS__)", "DEF(a, b)", "k ( a , b )"),
        ("DEF(f, ...) f(1, ##__VA_ARGS__)", "DEF(g)", "g ( 1  )"),
        ("DEF(s) k(#s)", 'DEF(a "x\\n")', 'k ( "a \\"x\\\\n\\"" )'),
        ("DEF(a, b) a##b##_c", "DEF(x, )", "x_c"),
    ],
)
def test_expansion(replacement: str, use: str, text: str) -> None:
    macros = macros_of(tokenize(f"#define {replacement}\n"))
    assert expansion_text(macros["DEF"][0], code_of(tokenize(use)), 0) == text


def test_qualifier_macros() -> None:
    kernel = one('#define KERNEL __global__ __mix__(1, 2)\n#define C_NAME extern "C"\nC_NAME KERNEL void k() {}')
    assert (kernel.type.core, kernel.type.aiv, kernel.extern_c) == (CoreType.MIX, "2", "prefix")
    assert kernel.qualifiers == ("__global__", "__mix__(1, 2)")
    unit = read(b"MY_KERNEL __vector__ void k() {}", "k.asc", global_aliases=("MY_KERNEL",))
    assert [kernel.name for kernel in unit.kernels] == ["k"]
    assert read(b"MY_KERNEL __vector__ void k() {}", "k.asc").kernels == ()


def test_qualifier_macro_with_two_types_is_a_finding() -> None:
    unit = read_text("#if A\n#define T __vector__\n#else\n#define T __cube__\n#endif\n__global__ T void k() {}")
    assert rules(unit) == ["source.kernel-not-read"]
    unit = read_text("#if A\n#define T static\n#else\n#define T\n#endif\nT __global__ __vector__ void k() {}")
    assert rules(unit) == []


def test_statement_macros_before_a_kernel_are_not_part_of_it() -> None:
    text = "REGISTER(Tiling)\n__global__ __vector__ void k() {}"
    assert one(text).span.start == text.index("__global__")


def test_bytes_and_line_ends_survive() -> None:
    data = b"\xef\xbb\xbf// \xb2\xe2\r\n__global__ __vector__ \\\r\nvoid k(GM_ADDR x /* \xff */)\r\n{\r\n}\r\n"
    unit = read(data, "k.asc")
    assert "".join(token.text for token in unit.tokens).encode("latin-1") == data
    assert (unit.newline, unit.kernels[0].line, unit.kernels[0].column) == ("\r\n", 2, 1)
    assert read(b"a\rb\rc", "k.asc").newline == "\r"
    assert read(b"", "k.asc").newline == "\n"


SHAPES = (
    "template <typename T, int N = 2>\n__global__ __mix__(1, 2) void scale(GM_ADDR x, const Tiling<T, N> &t, int dims[4]) "
    '{ if (x) { run("}"); } }\nnamespace ns { extern "C" __global__ __vector__ void plain(GM_ADDR x, uint32_t n = 16) { } }\n'
)


def facts(text: str) -> list[tuple[object, ...]]:
    unit = read(text.encode("latin-1"), "k.asc")
    assert unit.findings == ()
    return [
        (
            *(k.name, k.namespaces, k.qualifiers, k.type, k.template_parameters, k.extern_c, k.conditions),
            *((p.type, p.name, p.array, p.default) for p in k.parameters),
        )
        for k in unit.kernels
    ]


@settings(max_examples=200)
@given(st.data())
def test_layout_never_changes_what_is_read(data: st.DataObject) -> None:
    tokens = tokenize(SHAPES)
    fillers = st.sampled_from(["", " ", "\n", "\t", " \\\n ", "/* ) } */", "// { (\n", "\r\n", " /* \\ */ "])
    places = data.draw(st.dictionaries(st.integers(0, len(tokens) - 1), fillers, max_size=12))
    text = "".join(
        # What is glued to a literal or a word could become part of it.
        (f" {places[place]} " if token.kind is TokenKind.BLANK else places[place]) + token.text if place in places else token.text
        for place, token in enumerate(tokens)
    )
    assert facts(text) == facts(SHAPES)


WORDS = [
    *("(", ")", "{", "}", "[", "]", "<", ">", ",", ";", "=", "*", "&", "::", "...", "##", "#", "<<<"),
    *("__global__", "__vector__", "__mix__", "void", "template", "typename", "class", "namespace", "extern", '"C"', "inline"),
    *("requires", "k", "x", "int", "M", "N", "\n#if A\n", "\n#else\n", "\n#endif\n", "\n#if 0\n", "\n#define M(x) "),
    *("\n#define N ", "\\\n", "\n"),
]


@settings(max_examples=400)
@given(st.lists(st.sampled_from(WORDS), max_size=60))
def test_garbage_never_crashes_and_every_global_is_accounted_for(words: list[str]) -> None:
    text = " ".join(words)
    unit = read(text.encode("latin-1"), "k.asc")
    assert "".join(token.text for token in unit.tokens) == text
    for kernel in unit.kernels:
        assert text[kernel.body.start] == "{"
        assert text[kernel.body.end - 1] == "}"
        assert kernel.span.start <= kernel.name_span.start < kernel.parameter_span.start < kernel.body.start < kernel.span.end
    spans = sorted(kernel.span for kernel in unit.kernels)
    assert all(left.end <= right.start for left, right in pairwise(spans))


@given(st.binary(max_size=120))
def test_bytes_never_crash(data: bytes) -> None:
    assert read(b"__global__ " + data, "k.asc").text.encode("latin-1") == b"__global__ " + data


@pytest.mark.parametrize(
    "text",
    [
        "__global__ __vector__ void k() {" * 3000,
        "#if A\n__global__ __vector__ void k() {}\n" * 1000,
        "__global__ void k() " * 5000,
        "__global__ " + "a::" * 50000,
        "__global__ void k(" + "a<" * 50000 + "){}",
        "".join(f"#define A{i} A{i + 1} A{i + 1}\n" for i in range(60)) + "__global__ A0 void k(){}",
        "".join(f"#define A{i} A{i + 1}, A{i + 1}\n" for i in range(60)) + "__global__ void k(A0){}",
        "{__global__ __vector__ void k() {}\n" * 3000,
    ],
)
def test_hostile_text_comes_to_an_end(text: str) -> None:
    unit = read(text.encode(), "k.asc")
    assert unit.kernels or unit.findings
