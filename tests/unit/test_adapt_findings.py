"""Every doubt of the adaptation ends in a finding with its place; a blocker leaves no text."""

from __future__ import annotations

import pytest

from skrules.adapt.adaptation import AdaptedSource, adapt
from skrules.contract.check import resolve
from skrules.contract.entry import Resolution
from skrules.contract.load import load
from skrules.findings import Finding, Severity
from skrules.source.kernels import read
from skrules.source.model import SourceUnit

HEAD = '#include "kernel_operator.h"\n'
ONE = "entries:\n  k: {outputs: [x]}\n"
NEVER = "entries:\n  k: {outputs: [x], sk: {with_sys_args: never}}\n"  # so that no helper gets a twin


def run(source: str, contract: str = ONE, headers: tuple[SourceUnit, ...] = ()) -> AdaptedSource:
    unit = read((HEAD + source).encode("latin-1"), "ops/k/k.asc")
    return adapt(unit, resolve(unit, load(contract.encode(), "ops/k/contract.yaml")), headers)


def only(source: AdaptedSource, rule: str) -> Finding:
    found = [finding for finding in source.findings if finding.rule == rule]
    assert len(found) == 1, [str(finding) for finding in source.findings]
    return found[0]


def blocked(source: AdaptedSource, rule: str, place: str) -> Finding:
    found = only(source, rule)
    assert found.severity is Severity.BLOCKER
    assert str(found.at) == place
    assert source.status == "needs-human"
    assert source.entries == ()
    with pytest.raises(ValueError, match="no adapted text"):
        source.text()
    return found


def warned(source: AdaptedSource, rule: str, place: str) -> Finding:
    found = only(source, rule)
    assert found.severity is Severity.WARNING
    assert str(found.at) == place
    assert source.status == "completed"
    return found


def test_findings_of_reader_and_contract_are_passed_on() -> None:
    source = run("template <typename T>\n__global__ __vector__ void k(GM_ADDR x) {}\n")
    found = only(source, "codegen.template-bind-target-required")
    assert found.severity is Severity.BLOCKER
    assert source.status == "needs-human"


def test_block_num_in_helper_function() -> None:
    source = run(
        "__aicore__ inline int64_t Share(int64_t n)\n{\n    return n / AscendC::GetBlockNum();\n}\n"
        "__global__ __vector__ void k(GM_ADDR x, int64_t n) { n = Share(n); }\n",
        NEVER,
    )
    found = blocked(source, "codegen.block-num-in-helper", "ops/k/k.asc:4:25")
    assert "Share" in found.message
    assert "sk.helper_block_num: accept" in found.hint


def test_block_num_in_helper_is_accepted_by_the_contract() -> None:
    source = run(
        "__aicore__ inline int64_t Share(int64_t n) { return n / AscendC::GetBlockNum(); }\n"
        "__global__ __vector__ void k(GM_ADDR x, int64_t n) { n = Share(n); }\n",
        "entries:\n  k: {outputs: [x], sk: {helper_block_num: accept}}\n",
    )
    assert source.status == "completed"
    assert not source.entries[0].uses_sys_args


def test_block_num_in_a_member_function_counts_only_with_its_class() -> None:
    classes = (
        "class Uses { public: __aicore__ void Init() { n = GetBlockNum(); } int64_t n; };\n"
        "class Clean { public: __aicore__ void Init() {} };\n"
    )
    assert run(classes + "__global__ __vector__ void k(GM_ADDR x) { Clean op; op.Init(); }\n").status == "completed"
    assert run(classes + "__global__ __vector__ void k(GM_ADDR x) { Uses op; }\n").status == "completed"
    found = blocked(
        run(classes + "__global__ __vector__ void k(GM_ADDR x) { Uses op; op.Init(); }\n", NEVER),
        "codegen.block-num-in-helper",
        "ops/k/k.asc:2:51",
    )
    assert "Uses::Init" in found.message


def test_block_num_through_bases_aliases_macros_and_constructors() -> None:
    base = "template <typename T>\nclass Base { public: __aicore__ Base() { n = AscendC::GetBlockNum(); } int64_t n; };\n"
    for middle in (
        "using Op = Base<half>;\n",
        "typedef Base<half> Op;\n",
        "class Op : public Base<half> {};\n",
        "#define Op Base<half>\n",
    ):
        source = run(base + middle + "__global__ __vector__ void k(GM_ADDR x) { Op op; }\n")
        blocked(source, "codegen.block-num-in-helper", "ops/k/k.asc:3:55")


def test_block_num_in_members_outside_of_their_class() -> None:
    source = run(
        "template <typename T> class Op { public: __aicore__ void Run(); };\n"
        "template <typename T> __aicore__ void Op<T>::Run() { (void)AscendC::GetBlockNum(); }\n"
        "__global__ __vector__ void k(GM_ADDR x) { Op<half> op; op.Run(); }\n",
        NEVER,
    )
    blocked(source, "codegen.block-num-in-helper", "ops/k/k.asc:3:69")


def test_block_num_in_a_header() -> None:
    header = read(b"#pragma once\ninline int64_t Share() { return AscendC::GetBlockNum(); }\n", "ops/common/share.h")
    source = run("__global__ __vector__ void k(GM_ADDR x) { (void)Share(); }\n", headers=(header,))
    blocked(source, "codegen.block-num-in-helper", "ops/common/share.h:2:42")


def test_block_num_in_a_template_argument_of_the_bind_target() -> None:
    source = run(
        "struct Op { __aicore__ static void Run() { (void)AscendC::GetBlockNum(); } };\n"
        "template <typename T>\n__global__ __vector__ void k(GM_ADDR x) { T::Run(); }\n",
        "entries:\n  k: {bind_target: k<Op>, outputs: [x]}\n",
    )
    blocked(source, "codegen.block-num-in-helper", "ops/k/k.asc:2:59")


def test_block_num_in_a_macro_of_the_file_and_of_the_body() -> None:
    source = run("#define BLOCKS GetBlockNum()\n__global__ __vector__ void k(GM_ADDR x, int64_t n) { n = BLOCKS; }\n")
    blocked(source, "codegen.block-num-in-helper", "ops/k/k.asc:2:1")
    source = run("__global__ __vector__ void k(GM_ADDR x, int64_t n)\n{\n#define BLOCKS GetBlockNum()\n    n = BLOCKS;\n}\n")
    blocked(source, "codegen.block-num-in-helper", "ops/k/k.asc:4:1")


@pytest.mark.parametrize(
    "body",
    [
        "auto f = [] { return GetBlockNum(); };",
        "auto f = [n]() { return GetBlockNum() + n; };",
        "struct L { int64_t f() { return GetBlockNum(); } };",
        "auto f = &GetBlockNum;",
        "n = Other::GetBlockNum();",
    ],
)
def test_block_num_that_no_rewriting_reaches(body: str) -> None:
    line = f"__global__ __vector__ void k(GM_ADDR x, int n) {{ {body} }}"
    blocked(run(line + "\n"), "codegen.block-num-in-helper", f"ops/k/k.asc:2:{line.index('GetBlockNum') + 1}")


def test_unqualified_block_num_beside_a_function_of_that_name() -> None:
    source = run(
        "inline int GetBlockNum() { return 1; }\n__global__ __vector__ void k(GM_ADDR x, int n) { n = GetBlockNum(); }\n"
    )
    blocked(source, "codegen.block-num-in-helper", "ops/k/k.asc:3:54")


def test_members_called_get_block_num_are_not_the_api() -> None:
    source = run(
        "struct Tiling { int GetBlockNum() const { return 2; } };\n"
        "__global__ __vector__ void k(GM_ADDR x, int n) { Tiling t; n = t.GetBlockNum() + (&t)->GetBlockNum(); }\n"
    )
    assert source.status == "completed"
    assert b"sysArgs" not in source.text()


def test_block_num_of_the_c_api_and_of_simt_functions() -> None:
    source = run("__global__ __vector__ void k(GM_ADDR x, int64_t n) { n = asc_get_block_num(); }\n")
    assert b"n = static_cast<int64_t>(sysArgs->skNumBlocks);" in source.text()
    for spelling in ("asc_get_block_num()", "AscendC::Simt::GetBlockNum()", "Simt::GetBlockNum()"):
        source = run(
            f"inline int f() {{ return {spelling}; }}\n__global__ __vector__ void k(GM_ADDR x, int n) {{ n = f(); }}\n", NEVER
        )
        assert only(source, "codegen.block-num-in-helper").severity is Severity.BLOCKER


@pytest.mark.parametrize("word", ["get_block_num()", "block_num", "block_idx"])
def test_raw_block_variables(word: str) -> None:
    source = run(f"__global__ __aicore__ void k(GM_ADDR x, int n) {{ n = {word}; }}\n")
    blocked(source, "codegen.raw-block-variable", "ops/k/k.asc:2:54")
    source = run(f"__global__ __mix__(1, 2) void k(GM_ADDR x, int n) {{ n = {word}; }}\n")
    blocked(source, "codegen.raw-block-variable", "ops/k/k.asc:2:57")
    source = run(f"inline int f() {{ return {word}; }}\n__global__ __vector__ void k(GM_ADDR x, int n) {{ n = f(); }}\n")
    blocked(source, "codegen.raw-block-variable", "ops/k/k.asc:2:25")
    accepted = "entries:\n  k: {outputs: [x], sk: {helper_block_num: accept}}\n"
    source = run(f"__global__ __mix__(1, 2) void k(GM_ADDR x, int n) {{ n = {word}; }}\n", accepted)
    assert only(source, "codegen.raw-block-variable").severity is Severity.WARNING
    assert f"n = {word};".encode() in source.text()


@pytest.mark.parametrize("core", ["__vector__", "__cube__"])
def test_raw_block_variables_of_one_kind_of_core_are_those_of_the_api(core: str) -> None:
    source = run(f"__global__ {core} void k(GM_ADDR x, int n) {{ n = block_idx + block_num + get_block_num(); }}\n")
    number = "static_cast<int64_t>(sysArgs->skNumBlocks)"
    assert f"n = AscendC::GetBlockIdx() + {number} + {number};".encode() in source.text()


@pytest.mark.parametrize(
    "body",
    [
        "uint32_t block_num = AscendC::GetBlockNum(); n = block_num;",
        "n = t.block_num + p->block_idx;",
        "for (int block_idx = 0; block_idx < n; ++block_idx) {}",
        "// block_num\n",
    ],
)
def test_names_of_the_author_are_no_raw_block_variables(body: str) -> None:
    assert run(f"__global__ __vector__ void k(GM_ADDR x, int n) {{ {body} }}\n").status == "completed"


def test_kernel_without_a_type() -> None:
    source = run("__global__ void k(GM_ADDR x) {}\n")
    assert source.status == "needs-human"
    assert any(finding.rule == "codegen.kernel-type-missing" for finding in source.findings)


def test_kernel_in_a_conditional_extern_c() -> None:
    source = run('#ifdef C_NAMES\nextern "C" {\n#endif\n__global__ __vector__ void k(GM_ADDR x) {}\n#ifdef C_NAMES\n}\n#endif\n')
    blocked(source, "codegen.kernel-scope", "ops/k/k.asc:5:28")


def test_local_static() -> None:
    source = run(
        "__global__ __vector__ void k(GM_ADDR x, int n)\n{\n    static int calls = 0;\n"
        "    static constexpr int kStep = 2;\n    n = calls + kStep;\n}\n"
    )
    warned(source, "codegen.local-static", "ops/k/k.asc:4:5")


def test_block_num_in_a_mix_kernel() -> None:
    source = run("__global__ __mix__(1, 2) void k(GM_ADDR x, int64_t n) { n = AscendC::GetBlockNum(); }\n")
    warned(source, "codegen.block-num-in-mix", "ops/k/k.asc:2:61")


def test_sys_args_never() -> None:
    source = run(
        "__global__ __vector__ void k(GM_ADDR x, int64_t n) { n = AscendC::GetBlockNum(); }\n",
        "entries:\n  k: {outputs: [x], sk: {with_sys_args: never}}\n",
    )
    warned(source, "codegen.sys-args-never", "ops/k/k.asc:2:58")


def test_reference_parameter() -> None:
    source = run(
        "struct P { int n; };\n__global__ __vector__ void k(GM_ADDR x, const P &p) { (void)p.n; }\n",
        "entries:\n  k: {outputs: [x], parameters: {p: host_struct}}\n",
    )
    warned(source, "codegen.reference-parameter", "ops/k/k.asc:3:41")


def test_reference_to_a_pipe() -> None:
    source = run(
        "__global__ __vector__ void k(GM_ADDR x, AscendC::TPipe &pipe) {}\n",
        "entries:\n  k: {outputs: [x], parameters: {pipe: host_struct}}\n",
    )
    blocked(source, "codegen.parameter-unsupported", "ops/k/k.asc:2:41")


def test_names_that_are_taken() -> None:
    source = run("struct KArgs {};\n__global__ __vector__ void k(GM_ADDR x, int args) { args = 1; }\n")
    notes = [finding for finding in source.findings if finding.rule == "codegen.name-taken"]
    assert [finding.severity for finding in notes] == [Severity.NOTE] * 2
    assert source.entries[0].args_struct == "KArgs_2"
    assert b"const KArgs_2 *args_2" in source.text()


def test_decisions_of_one_kernel_must_agree() -> None:
    source = run(
        "template <typename T>\n__global__ __vector__ void k(GM_ADDR x) {}\n",
        "entries:\n  a: {bind_target: k<half>, outputs: [x]}\n"
        "  b: {bind_target: k<float>, outputs: [x], sk: {with_sys_args: always}}\n",
    )
    found = only(source, "codegen.sk-decisions-conflict")
    assert found.at.file == "ops/k/contract.yaml"
    assert source.status == "needs-human"


def test_bind_target_of_a_later_type() -> None:
    source = run(
        "template <typename T>\n__global__ __vector__ void k(GM_ADDR x) {}\nstruct Later {};\n",
        "entries:\n  k: {bind_target: k<Later>, outputs: [x]}\n",
    )
    blocked(source, "codegen.bind-target-declared-later", "ops/k/k.asc:4:8")


@pytest.mark.parametrize("later", ["__global__ __vector__ void l(GM_ADDR y, half n) {}", "void f(half n);", "half g(int n);"])
def test_bind_target_of_a_built_in_type_that_is_used_later(later: str) -> None:
    source = run(
        f"template <typename T>\n__global__ __vector__ void k(GM_ADDR x) {{}}\n{later}\n",
        "entries:\n  k: {bind_target: k<half>, outputs: [x]}\n  l: {outputs: [y]}\n"
        if "__global__" in later
        else "entries:\n  k: {bind_target: k<half>, outputs: [x]}\n",
    )
    assert source.status == "completed", source.findings


def test_partial_form() -> None:
    source = run(
        "__global__ __vector__ void k(GM_ADDR x) {}\n__global__ __vector__ void other(GM_ADDR x) {}\n"
        "struct KArgs { GM_ADDR x; };\n__sk__ __vector__ void k_sk(const KArgs *args) {}\nSK_BIND(k, 4, k_sk);\n",
        "entries:\n  k: {outputs: [x]}\n  other: {outputs: [x]}\n",
    )
    found = only(source, "codegen.unknown-sk-form")
    assert "other" in found.message
    assert source.status == "needs-human"


def test_file_without_a_kernel() -> None:
    unit = read(b"int f();\n", "ops/k/f.asc")
    source = adapt(unit, Resolution(entries=(), findings=()))
    found = only(source, "codegen.no-kernel")
    assert found.severity is Severity.BLOCKER
    assert "no kernel" in found.message and "SK" not in found.message + found.hint


@pytest.mark.parametrize(
    "text", ["", "// __global__\n", "#if 0\n__global__ __vector__ void k() {}\n#endif\n", "int main() { return 0; }\n"]
)
def test_host_files_have_no_kernel(text: str) -> None:
    source = adapt(read(text.encode(), "ops/k/f.cpp"), Resolution(entries=(), findings=()))
    assert source.status == "needs-human"
    assert [each.rule for each in source.findings] == ["codegen.no-kernel"]


def test_twins_without_their_kernel() -> None:
    unit = read(b"struct KArgs { GM_ADDR x; };\n__sk__ __vector__ void k_sk(const KArgs *args) {}\n", "ops/k/f.asc")
    source = adapt(unit, Resolution(entries=(), findings=()))
    assert only(source, "codegen.unknown-sk-form").at.line == 2


def test_all_findings_come_at_once() -> None:
    source = run(
        "__global__ __vector__ void k(GM_ADDR x, int n) { static int s; n = f([] { return block_num; }) + s; }\n"
        "__global__ void other(GM_ADDR x) {}\n",
        "entries:\n  k: {outputs: [x]}\n  other: {outputs: [x]}\n",
    )
    rules = {finding.rule for finding in source.findings}
    assert {"codegen.local-static", "codegen.raw-block-variable", "codegen.kernel-type-missing"} <= rules
    contract = "entries:\n  k: {outputs: [x]}\n  unknown: {outputs: [x]}\n"
    rules = {finding.rule for finding in run("__global__ void k(GM_ADDR x, int n) { n = block_num; }\n", contract).findings}
    assert {"codegen.raw-block-variable", "codegen.kernel-type-missing"} < rules


@pytest.mark.parametrize("inside", ["{ <% f(); %> }", "{ a<:0:> = 1; }", "{ f(N); }\n%:define N 3"])
def test_digraphs_are_not_read(inside: str) -> None:
    source = run(f"__global__ __vector__ void k(GM_ADDR x) {inside}\n")
    assert only(source, "source.digraph").severity is Severity.BLOCKER
    assert source.status == "needs-human"


def test_digraphs_of_headers_count() -> None:
    header = read(b"%:define N GetBlockNum()\n", "ops/k/n.h")
    blocked(run("__global__ __vector__ void k(GM_ADDR x) { f(N); }\n", headers=(header,)), "source.digraph", "ops/k/n.h:1:1")


def test_names_of_headers_are_taken() -> None:
    header = read(b"struct KArgs { int a; };\nint k_sk();\n#define args 3\n#define sysArgs 4\n", "ops/k/n.h")
    source = run("__global__ __vector__ void k(GM_ADDR x) { f(GetBlockNum()); }\n", headers=(header,))
    assert source.status == "completed"
    assert "k_sk_2(const KArgs_2 *args_2, sk::SkSystemArgs *sysArgs_2)" in source.text().decode()


@pytest.mark.parametrize("call", ["k(x);", "k<half>(x);", "again(x);"])
def test_a_kernel_that_another_one_calls_tells_the_block_number_too(call: str) -> None:
    text = "__global__ __vector__ void k(GM_ADDR x) { f(GetBlockNum()); }\ninline void again(GM_ADDR x) { k(x); }\n"
    text += f"__global__ __vector__ void l(GM_ADDR x) {{ {call} }}\n"
    found = only(run(text, ONE + "  l: {outputs: [x]}\n"), "codegen.block-num-in-helper")
    assert "through 'k'" in found.message
    text = text.replace("GetBlockNum()", "1")
    assert run(text, ONE + "  l: {outputs: [x]}\n").status == "completed"


@pytest.mark.parametrize(
    ("helper", "keeps"),
    [
        ("struct H { TPipe *p; ~H() { p->Reset(); } };", True),
        ("struct H { TPipe *p; ~H() noexcept { p->Reset(); } };", True),
        ("struct H { TPipe *p; ~H(); };\nH::~H() { p->Reset(); }", True),
        ("struct H { TPipe *p; ~H() {} };", False),
        ("struct H { TPipe *p; ~H() = default; };", False),
        ("struct H { TPipe *p; void f() { n = ~g(); } };", False),
        ("#define DO(p, a, b) p.a##b()\nstruct H { void f(TPipe &p) { DO(p, Des, troy); } };", True),
    ],
)
def test_a_destructor_that_runs_before_a_pipes_keeps_the_pipe_alive(helper: str, keeps: bool) -> None:
    source = run(f"{helper}\n__global__ __vector__ void k(GM_ADDR x) {{\n    TPipe pipe;\n    H h; h.f(pipe);\n}}\n")
    assert source.status == "completed"
    assert (b"DestroyWithoutPipeAll" not in source.text()) is keeps
    assert [finding.rule for finding in source.findings] == ["codegen.tpipe-not-local"] * keeps
