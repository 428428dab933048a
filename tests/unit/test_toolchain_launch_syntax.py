from __future__ import annotations

from pathlib import Path

import pytest

from skrules.errors import BuildError, ToolchainError
from skrules.source.includes import local_headers
from skrules.toolchain.launch_syntax import rewrite_launches

VECTOR = "__global__ __vector__ void add(GM_ADDR x, int n) {}\n"


def rewritten(text: str, **headers: str) -> str:
    encoded = {name: header.encode() for name, header in headers.items()}
    first, _, rest = rewrite_launches(text.encode(), 'a/"b".asc', 2201, headers=encoded).decode().partition("\n")
    assert first == '#line 1 "a/\\"b\\".asc"'
    return rest


def launch(text: str, **headers: str) -> str:
    return rewritten(text, **headers).splitlines()[-1]


@pytest.mark.parametrize(
    ("kernel", "call", "expected"),
    [
        (VECTOR, "add<<<8, nullptr, s>>>(x, 5);", '::skhost::launch({8, nullptr, s}, {"add", 0, 1, 2201}, &add, x, 5);'),
        ("__global__ __cube__ void k() {}\n", "k<<<1>>>();", '::skhost::launch({1}, {"k", 1, 0, 2201}, &k);'),
        (
            "__global__ __mix__(1, RATIO) void k(int n) {}\n",
            "::ops::k<<<n << 1, 0, s>>>(n > 2 ? 1 : 2);",
            '::skhost::launch({n << 1, 0, s}, {"k", 1, RATIO, 2201}, &::ops::k, n > 2 ? 1 : 2);',
        ),
        (
            "template <typename T, int N = 2> __global__ __vector__ void k(T *x) {}\n",
            "k<half><<<1, 0, s>>>(x);",
            '::skhost::launch({1, 0, s}, {"k", 0, 1, 2201}, &k<half>, x);',
        ),
        (
            "template <typename T, int N> __global__ __vector__ void k(T *x) {}\n",
            "k<std::pair<int, Foo<2>>, 4><<<1, 0, s>>>(x);",
            '::skhost::launch({1, 0, s}, {"k", 0, 1, 2201}, &k<std::pair<int, Foo<2>>, 4>, x);',
        ),
        (
            "template <typename T> __global__ __vector__ void k(T *x) {}\n",
            "k<<<1, 0, s>>>(x);",
            '::skhost::launchDeduced({1, 0, s}, {"k", 0, 1, 2201}, [](auto... skhost_p) { k(skhost_p...); }, x);',
        ),
        (
            "__global__ __vector__ void k(int a, int b = 2) {}\n",
            "k<<<1, 0, s>>>(1);",
            '::skhost::launchDeduced({1, 0, s}, {"k", 0, 1, 2201}, [](auto... skhost_p) { k(skhost_p...); }, 1);',
        ),
        (
            VECTOR,
            "if (n) add<<<(a < b) ? 1 : 2, 0, get(s)>>>(f(x, 1), 5); else other();",
            'if (n) ::skhost::launch({(a < b) ? 1 : 2, 0, get(s)}, {"add", 0, 1, 2201}, &add, f(x, 1), 5); else other();',
        ),
        (VECTOR, "CHECK(add<<<1, 0, s>>>(x, 5));", 'CHECK(::skhost::launch({1, 0, s}, {"add", 0, 1, 2201}, &add, x, 5));'),
    ],
)
def test_forms(kernel: str, call: str, expected: str) -> None:
    assert launch(kernel + call) == expected


def test_overloads_are_launched_by_a_call_and_twins_by_address() -> None:
    overloads = VECTOR + "__global__ __vector__ void add(GM_ADDR x) {}\n"
    assert "launchDeduced" in launch(overloads + "add<<<1, 0, s>>>(x);")
    twins = f"#if A\n{VECTOR}#else\n{VECTOR}#endif\n"
    assert "&add," in launch(twins + "add<<<1, 0, s>>>(x, 1);")


@pytest.mark.parametrize(
    ("body", "cores"),
    [
        ("KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_1);", "1, 1"),
        ("AscendC::Add(z, x, y);", "0, 1"),
        ("op.Init();", "0, 1"),
        ("Mmad(c, a, b); Fixpipe(d, c);", "1, 0"),
        ("Mmad(c, a, b); Add(z, x, y);", "1, 2"),
        ("if ASCEND_IS_AIC { go(); }", "1, 2"),
        ("Helper();", "1, 0"),
        ("KernelMatmul op; op.Process();", "1, 2"),
        ("CUBE_STEP(a);", "1, 0"),
        ("// Mmad(c, a, b)\n", "0, 1"),
    ],
)
def test_type_of_a_bare_kernel(body: str, cores: str) -> None:
    text = (
        "void Helper() { Mmad(c, a, b); }\nclass KernelMatmul { void Process() { REGIST_MATMUL_OBJ(p, w, m); } };\n"
        f"#define CUBE_STEP(a) LoadData(a)\n__global__ __aicore__ void k() {{ {body} }}\nk<<<1, 0, s>>>();"
    )
    assert f'{{"k", {cores}, 2201}}' in launch(text)


@pytest.mark.parametrize(
    ("twin", "bind", "cores"),
    [
        ("__vector__ void k_sk(", "k, 4, k_sk<0>, k_sk<1>", "0, 1"),
        ("__mix__(1, 1) void k_sk(", "static_cast<void (*)(int)>(ns::k), 4, ns::k_sk<0>", "1, 1"),
        ("__aicore__ void k_sk(", "k, 4, k_sk<0>", "1, 0"),
        ("\n#if A\n__vector__\n#else\n__mix__(1, 2)\n#endif\nvoid k_sk(", "k, 4, k_sk<0>", "1, 0"),
        ("__vector__ void k_sk(", "other, 4, k_sk<0>", "1, 0"),
        ("__vector__ void k_sk(", "k", "1, 0"),
        ("__vector__ void k_sk(", "", "1, 0"),
    ],
)
def test_a_bare_kernel_runs_as_its_sk_function_does(twin: str, bind: str, cores: str) -> None:
    kernel = "__global__ __aicore__ void k(int n) { Mmad(); }\n"
    text = f"{kernel}template <uint32_t s>\n__sk__ {twin}const A *a) {{}}\nSK_BIND({bind});\nvoid f() {{ k<<<1, 0, s>>>(1); }}\n"
    assert f'{{"k", {cores}, 2201}}' in rewritten(text)


def test_lines_keep_their_numbers_and_comments_stay() -> None:
    text = VECTOR + "ops::\n  add\n <<< 8, // blocks\n nullptr,\n s>>>\n (x,\n\n 5 /* n */); int after; // add<<<1>>>()\n"
    result = rewritten(text)
    assert result.count("\n") == text.count("\n")
    assert [line for line in result.split("\n") if "after" in line] == [
        result.split("\n")[text[: text.index("after")].count("\n")]
    ]
    assert "// blocks" in result
    assert "// add<<<1>>>()" in result


def test_text_without_launches_is_unchanged() -> None:
    text = 'const char *s = "k<<<1>>>()"; // k<<<1>>>()\nauto &o = operator<<<int>(a);\n#if 0\nk<<<1>>>();\n#endif\n#error <<<\n'
    assert rewritten(text) == text
    assert rewrite_launches(b"\xef\xbb\xbfint x;\r\n", "a.asc", 2201) == b'#line 1 "a.asc"\nint x;\r\n'


def test_launches_in_macros() -> None:
    text = VECTOR + "#define RUN(n) add<<<n, 0, \\\n    s>>>(x, 1)\nRUN(2);\n"
    assert '#define RUN(n) ::skhost::launch({n, 0, \\\n    s}, {"add", 0, 1, 2201}, &add, x, 1)\n' in rewritten(text)
    named = VECTOR + "__global__ __cube__ void mul() {}\n#define RUN(k) k<<<1, 0, s>>>(x, 1)\nRUN(add);"
    assert "{#k, 0, 1, 2201}, &k, x, 1)" in rewritten(named)
    with pytest.raises(BuildError, match="differ"):
        rewritten(named + "RUN(mul);")
    pasted = "#define DEF(T) __global__ __cube__ void k_##T() {}\nDEF(half)\n#define RUN(T) k_##T<<<1, 0, s>>>()\nRUN(half);"
    assert '{"k_" #T, 1, 0, 2201}, &k_##T)' in rewritten(pasted)
    assert '{"k_half", 1, 0, 2201}, &k_half)' in rewritten(pasted + "k_half<<<1, 0, s>>>();")


def test_kernels_of_headers_and_declarations() -> None:
    assert '{"add", 0, 1, 2201}' in launch("add<<<1, 0, s>>>(x, 1);", **{"add.h": VECTOR})
    assert '{"k", 1, 2, 2201}' in launch("__global__ __mix__(1, 2) void k(int n);\nk<<<1, 0, s>>>(1);")


@pytest.mark.parametrize(
    ("text", "message", "column"),
    [
        ("add<<<1, 0, s>>(x, 1);", "no '>>>'", 4),
        ("add<<<1, 0, s> >>(x, 1);", "no '>>>'", 4),
        ("add<<<1, 0, s>>>;", "no '(...)'", 4),
        ("add<<<>>>(x, 1);", "how many blocks", 4),
        ("(*f)<<<1, 0, s>>>(x);", "no kernel's name", 5),
        ("add<<<1, 0, s>>>(add<<<1, 0, s>>>(x, 1), 1);", "inside of another", 21),
        ("a.add<<<1, 0, s>>>(x);", "no member", 6),
    ],
)
def test_what_cannot_be_read_is_an_error_at_its_place(text: str, message: str, column: int) -> None:
    with pytest.raises(BuildError) as caught:
        rewrite_launches((VECTOR + text).encode(), "k.asc", 2201)
    assert message in caught.value.message
    assert str(caught.value.at) == f"k.asc:2:{column}"


def test_unknown_kernels_and_types() -> None:
    with pytest.raises(BuildError, match="'k' is no kernel"):
        rewritten("k<<<1, 0, s>>>();")
    with pytest.raises(BuildError, match="only declared here"):
        rewritten("__global__ __aicore__ void k();\nk<<<1, 0, s>>>();")
    with pytest.raises(BuildError, match="differ"):
        rewritten("__global__ __cube__ void k(int a) {}\n__global__ __vector__ void k() {}\nk<<<1, 0, s>>>();")
    pointer = launch(VECTOR + "pointer<<<1, 0, s>>>(x, 1);")
    assert pointer == '::skhost::launch({1, 0, s}, {"pointer", 0, 1, 2201}, pointer, x, 1);'


@pytest.mark.parametrize("text", ["__global__ void k() {}\nk<<<1, 0, s>>>();", VECTOR + "add<<<grid, block, 0, s>>>(x, 1);"])
def test_simt_kernels_are_not_emulated(text: str) -> None:
    with pytest.raises(ToolchainError, match="SIMT"):
        rewritten(text)


def test_kernels_that_a_macro_of_a_header_makes_can_be_launched() -> None:
    header = "#define KERNEL __global__ __vector__\n#define MAKE(T) KERNEL void fill_##T(T *x, int n) {}\n"
    text = "MAKE(half)\nfill_half<<<8, 0, s>>>(x, 1);"
    assert launch(text, **{"h.h": header}) == '::skhost::launch({8, 0, s}, {"fill_half", 0, 1, 2201}, &fill_half, x, 1);'
    declared = "KERNEL void fill(int n);\nfill<<<8, 0, s>>>(1);"
    assert launch(declared, **{"h.h": header}) == '::skhost::launch({8, 0, s}, {"fill", 0, 1, 2201}, &fill, 1);'
    with pytest.raises(BuildError, match="no kernel that this file or its headers declare"):
        launch(text)


def test_local_headers_are_found_beside_the_file_and_in_folders(tmp_path: Path) -> None:
    (tmp_path / "inc").mkdir()
    (tmp_path / "k.asc").write_text('#include "a.h"\n#include <b.h>\n#include "none.h"\n')
    (tmp_path / "a.h").write_text('#include "c.h"\n#include "k.asc"\n')
    (tmp_path / "b.h").write_text("")
    (tmp_path / "inc" / "c.h").write_text('#include "../a.h"\n')
    found = local_headers(str(tmp_path / "k.asc"), [tmp_path / "inc"])
    assert {Path(name).name for name in found} == {"a.h", "c.h"}
