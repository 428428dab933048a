"""The specification's rules where the published tool, which searches text, tells too much or too little."""

from __future__ import annotations

import pytest

from skrules.source.kernels import read
from skrules.validate.registry import load_rules, rule_named
from skrules.validate.subject import Subject, SubjectFile, files_of

RULES = load_rules()
KERNEL = "__global__ __vector__ void k(GM_ADDR x, uint32_t n) { Run(x, n); }\n"
ARGS = "struct KArgs { GM_ADDR x; uint32_t n; };\n"
SK = "__sk__ __vector__ void k_sk(const KArgs *args) { Run(args->x, args->n); }\n"


def found(name: str, text: str, *headers: tuple[str, str], path: str = "k.asc"):
    read_headers = [read(data.encode(), header) for header, data in headers]
    unit = read(text.encode(), path, headers=read_headers)
    subject = Subject(files=files_of([(unit, read_headers)]))
    return [(finding.at.file, finding.at.line, finding.message) for finding in rule_named(name, RULES).check(subject)]


def lines(name: str, text: str, *headers: tuple[str, str]) -> list[int]:
    return [line for _, line, _ in found(name, text, *headers)]


@pytest.mark.parametrize(
    "include",
    [
        '#include "kernel_operator.h"',
        "#include <kernel_operator.h>",
        '#  include /* the API */ "kernel_operator.h"',
        '#include "../include/kernel_operator.h"',
        '#include "lib/matmul_intf.h"',
        '#include "common.h"',  # not found: it may include it
    ],
)
def test_the_include_in_any_spelling(include):
    assert found("includes.kernel-operator-h", f"{include}\n{KERNEL}") == []


def test_the_include_in_a_header_of_the_workspace():
    outer, inner = ("common.h", '#include "api.h"\n'), ("api.h", "#include <kernel_operator.h>\n")
    assert found("includes.kernel-operator-h", f'#include "common.h"\n{KERNEL}', outer, inner) == []
    assert lines("includes.kernel-operator-h", f'#include "common.h"\n{KERNEL}', ("common.h", "int a;\n")) == [2]


@pytest.mark.parametrize(
    "text",
    [
        f'// #include "kernel_operator.h"\n{KERNEL}',
        f'const char *t = "kernel_operator.h";\n{KERNEL}',
        f'#if 0\n#include "kernel_operator.h"\n#endif\n{KERNEL}',
    ],
)
def test_an_include_that_is_none(text):
    ((_, _, message),) = found("includes.kernel-operator-h", text)
    assert "kernel_operator.h" in message


@pytest.mark.parametrize("text", ["int main() { return 0; }\n", "// __global__\n", "__global__ void simt(int *x) { *x = 1; }\n"])
def test_a_file_that_needs_no_include(text):
    assert found("includes.kernel-operator-h", text) == []


@pytest.mark.parametrize(
    ("member", "is_wrong"),
    [
        ("int8_t v;", True),
        ("bool v;", True),
        ("half v;", True),
        ("bfloat16_t v;", True),
        ("unsigned short v;", True),
        ("std::uint16_t v;", True),
        ("const uint8_t v;", True),
        ("Small v;", True),  # enum class Small : int8_t
        ("Word v;", True),  # using Word = uint16_t
        ("uint8_t v = 3;", True),
        ("alignas(4) int8_t v;", False),
        ("alignas(8) bool v;", False),
        ("int32_t v;", False),
        ("float v;", False),
        ("uint8_t *v;", False),
        ("__gm__ int16_t *v;", False),
        ("uint8_t v[4];", False),
        ("Large v;", False),  # enum Large : int32_t
        ("Other v;", False),  # nobody says what it is
        ("PointInt8 v;", False),
        ("static constexpr bool v = true;", False),
        ("bool Get() const { return true; }", False),
        ("using v = bool;", False),
        ("// bool v;", False),
    ],
)
def test_members_by_what_they_are(member, is_wrong):
    types = "enum class Small : int8_t { A };\nenum Large : int32_t { B };\nusing Word = uint16_t;\n"
    text = f"{types}{KERNEL}struct KArgs {{\nGM_ADDR x;\n{member}\nuint32_t n;\n}};\n{SK}"
    assert lines("sk.args-struct-alignas", text) == ([7] if is_wrong else [])


def test_structs_that_no_sk_function_gets_are_none_of_its_business():
    host = "struct HostArgs { bool verbose; };\nstruct TilingArgs { uint8_t mode; };\n"
    assert found("sk.args-struct-alignas", host + KERNEL + ARGS + SK) == []


def test_an_args_struct_in_a_header_of_any_name():
    header = ("args.h", "namespace ops {\ntemplate <typename T> struct Packed final {\n    T *x;\n    int8_t a, b;\n};\n}\n")
    text = f'#include "args.h"\n{KERNEL}template <typename T>\n__sk__ __vector__ void k_sk(const ops::Packed<T> *args) {{}}\n'
    assert [(file, line) for file, line, _ in found("sk.args-struct-alignas", text, header)] == [("args.h", 4)] * 2


@pytest.mark.parametrize(
    ("parameters", "is_wrong"),
    [
        ("const KArgs *args", False),
        ("const KArgs* __restrict args", False),
        ("KArgs const *args", False),
        ("KArgs *args", False),
        ("const ops::KArgs<half, 3> *args, sk::SkSystemArgs *sysArgs", False),
        ("const struct KArgs *args", False),
        ("", False),
        ("void", False),
        ("sk::SkSystemArgs *sysArgs", False),
        ("sk::SkSystemArgs *sysArgs, const KArgs *args", True),
        ("GM_ADDR x", True),
        ("KArgs args", True),
        ("const KArgs &args", True),
        ("const KArgs **args", True),
        ("const uint32_t *args", True),
        ("__gm__ uint8_t *x, const KArgs *args", True),
        ("const void *args", True),
    ],
)
def test_the_first_parameter(parameters, is_wrong):
    text = KERNEL + ARGS + f"__sk__ __vector__ void k_sk({parameters}) {{}}\n"
    assert bool(found("sk.args-struct-required", text)) is is_wrong


@pytest.mark.parametrize(
    ("mask", "is_wrong"),
    [
        ("4", False),
        ("0x7", False),
        ("0b1111", False),
        ("8 | 4", False),
        ("0", False),
        ("16", True),
        ("0x10", True),
        ("0b1'0000", True),
        ("1 << 5", True),
        ("4 + 16u", True),
        ("-1", True),
        ("MASK", True),
        ("(MASK)", False),  # only a bare name is looked up
        ("kMask", False),
        ("Mask::kAll", False),
        ("FLAGS(9)", False),
    ],
)
def test_masks_that_are_literal_are_evaluated(mask, is_wrong):
    text = f"#define MASK (1 << 4)\n{KERNEL}{ARGS}{SK}SK_BIND(k, {mask}, k_sk);\n"
    assert lines("sk.bind-mask-known", text) == ([5] if is_wrong else [])


def test_a_mask_in_a_macro_that_binds():
    text = f"{KERNEL}{ARGS}{SK}#define BIND SK_BIND(k, 64, k_sk)\nBIND;\n"
    assert found("sk.bind-mask-known", text) == []  # what it means is known where it is used: not judged


@pytest.mark.parametrize(
    ("functions", "is_wrong"),
    [
        ("k_sk<0>", False),
        ("k_sk<0>, k_sk<1>, k_sk<2>, k_sk<3>", False),
        ("k_sk<half, 0>, k_sk<half, 1>, k_sk<half, 2>, k_sk<half, 3>", False),
        ("k_sk<0>, k_sk<1>, k_sk<2>, k_sk<3>, k_sk<4>", True),
        ("f(a, b), k_sk<1>, k_sk<2>, k_sk<3>", False),
    ],
)
def test_splits(functions, is_wrong):
    assert bool(found("sk.bind-max-splits", f"{KERNEL}{ARGS}{SK}SK_BIND(k, 4, {functions});\n")) is is_wrong


def test_no_split_at_all():
    assert lines("sk.bind-max-splits", f"{KERNEL}{ARGS}{SK}SK_BIND(k, 4);\n") == [4]


def test_a_kernel_in_another_file_or_a_header_is_preserved():
    assert lines("sk.global-preserved", ARGS + SK) == [2]
    assert found("sk.global-preserved", f'#include "kernel.h"\n{ARGS}{SK}', ("kernel.h", KERNEL)) == []
    assert found("sk.global-preserved", f'#include "elsewhere.h"\n{ARGS}{SK}') == []
    kernel, twin = (
        SubjectFile(unit=read(text.encode(), name), is_header=False) for name, text in (("k", KERNEL), ("s", ARGS + SK))
    )
    assert list(rule_named("sk.global-preserved", RULES).check(Subject(files=(kernel, twin)))) == []


@pytest.mark.parametrize(
    ("kernel", "twin", "is_wrong"),
    [
        ("__vector__", "__vector__", False),
        ("__vector__", "__cube__", True),
        ("__mix__(1, 2)", "__mix__(1,2)", False),
        ("__mix__(1, 2)", "__mix__(1, 1)", True),
        ("__mix__(1, 0)", "__cube__", False),
        ("__mix__(0, 1)", "__mix__(0, 1)", False),
        ("__mix__(0, 1)", "__cube__", True),
        ("[[bisheng::core_ratio(1, 2)]] __aicore__", "__mix__(1, 2)", False),
        ("__aicore__", "__vector__", False),  # the compiler finds out which cores the kernel needs
        ("__mix__(1, 2)", "", False),
    ],
)
def test_types_of_kernel_and_twin(kernel, twin, is_wrong):
    functions = f"__global__ {kernel} void k(GM_ADDR x) {{}}\n{ARGS}__sk__ {twin} void other(const KArgs *a) {{}}\n"
    text = functions + "SK_BIND(k, 4, other);\n"
    assert lines("sk.kernel-type-match", text) == ([3] if is_wrong else [])


def test_the_type_that_a_task_macro_gives():
    kernel = "__global__ __aicore__ void k(GM_ADDR x) { KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY); }\n"
    assert found("sk.kernel-type-match", kernel + ARGS + SK) == []
    assert lines("sk.kernel-type-match", kernel + ARGS + SK.replace("__vector__", "__cube__")) == [3]


def test_old_names_are_members_and_the_fix_knows_the_file():
    text = f"{KERNEL}{ARGS}int skBlockNum;\nvoid f(sk::SkSystemArgs *s) {{ s->skBlockNum; s->SkGetBlockNum(); s->skBlockNum; }}\n"
    assert lines("sk.sys-args-api-current", text) == [4, 4]
    file = SubjectFile(unit=read(text.encode(), "k.asc"), is_header=False)
    first, _ = rule_named("sk.sys-args-api-current", RULES).check(Subject(files=(file,)))
    assert (first.fix.kind, first.fix.old_value, first.fix.new_value) == ("rename-symbol", "skBlockNum", "skNumBlocks")
    assert first.fix.file == "k.asc"
    assert len(first.fix.digest) == 64
    assert "(2 times)" in first.message


def body(text: str) -> str:
    return f"{KERNEL}{ARGS}__sk__ __vector__ void k_sk(const KArgs *args) {{\n{text}\n}}\n"


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("TPipe p; p.DestroyWithoutPipeAll();", []),
        ("TPipe p;", [4]),
        ("AscendC::TPipe p;", [4]),
        ("TPipe p{};", [4]),
        ("TPipe p(1);", [4]),
        ("TPipe p = TPipe();", [4]),
        ("TPipe p{}; p.DestroyWithoutPipeAll();", []),
        ("TPipe p; p.Destroy();", []),
        ("TPipe p;\nif (args->n) { return; }\np.DestroyWithoutPipeAll();", [4]),
        ("TPipe p;\nif (args->n) { p.DestroyWithoutPipeAll(); return; }\np.DestroyWithoutPipeAll();", []),
        ("if (args->n) { TPipe p; Run(&p); p.DestroyWithoutPipeAll(); }", []),
        ("if (args->n) {\nTPipe p; Run(&p); }", [5]),
        ("TPipe a; Run(&a); a.DestroyWithoutPipeAll(); TPipe b; Run(&b);", [4]),
        ("TPipe a; Run(&a); TPipe b; Run(&b); b.DestroyWithoutPipeAll();", []),  # a's barrier is what b needs
        ("TPipe *p = Pipe();", []),
        ("Use(TPipeOf(args));", []),
        ("// TPipe p;", []),
    ],
)
def test_every_way_out_destroys(text, at):
    assert lines("sk.tpipe-destroy-without-pipe-all", body(text)) == at


def test_the_ways_out_are_named():
    ((_, _, message),) = found(
        "sk.tpipe-destroy-without-pipe-all", body("TPipe p;\nif (args->n) return;\nif (args->x) return;\nRun(&p);")
    )
    assert "'p' is left to its destructor on the way out in lines 5, 6, 8" in message


def test_a_kernel_keeps_its_destructor():
    assert found("sk.tpipe-destroy-without-pipe-all", "__global__ __vector__ void k(GM_ADDR x) { TPipe p; Run(&p, x); }\n") == []
