"""What the adapted text says of stated macros: copies are clear of dead text, and the compiler verifies every statement."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from skrules.adapt.adaptation import AdaptedSource, adapt
from skrules.contract.check import resolve
from skrules.contract.load import load
from skrules.findings import blockers
from skrules.source.kernels import read

GXX = shutil.which("g++")
KERNEL = """#include "kernel_operator.h"
#ifdef TEST
extern "C" __global__ __cube__ void k(
#else
template <typename T>
__global__ __vector__ void k(
#endif
    GM_ADDR x
#if WIDE >= 1
    , GM_ADDR more
#endif
) {
#if WIDE == 1
    f(x);
#else
    g(x, more);
#endif
}
"""
MACROS = "macros: {TEST: undefined, WIDE: 1}"
CONTRACT = "entries: {k: {inputs: [more], outputs: [x], pybind_return_tensor: x, bind_target: k<half>}}\n"
# What the host compiler knows of a kernel, and of SK_BIND, as far as a preprocessor needs it.
FLAGS = ("-E", "-P", "-w", "-xc++", "-")


def run(text: str, contract: str, headers: tuple[str, ...] = ()) -> AdaptedSource:
    decided = load(contract.encode(), "ops/k/contract.yaml")
    included = [read(each.encode(), f"ops/k/{index}.h", macros=decided.macros) for index, each in enumerate(headers)]
    unit = read(text.encode(), "ops/k/k.asc", headers=included, macros=decided.macros)
    return adapt(unit, resolve(unit, decided), included)


def adapted(text: str, contract: str, headers: tuple[str, ...] = ()) -> str:
    made = run(text, contract, headers)
    assert made.status == "completed", [str(finding) for finding in made.findings]
    return made.text().decode()


def preprocessed(text: str, *flags: str) -> subprocess.CompletedProcess[str]:
    assert GXX is not None
    source = "".join(line for line in text.splitlines(keepends=True) if not line.startswith("#include"))
    return subprocess.run([GXX, *FLAGS, *flags], input=source, capture_output=True, text=True, check=False)


def test_args_and_body_come_from_what_is_compiled() -> None:
    text = adapted(KERNEL, CONTRACT + MACROS)
    block = text.partition("// skrules: SuperKernel binding of k")[2]
    assert "    GM_ADDR x;\n    GM_ADDR more;\n" in block
    assert "__sk__ __vector__ void k_sk(const KArgs *args)\n{\n" in block
    assert block.partition("more = args->more;\n")[2].startswith("    f(x);\n}\n")


@pytest.mark.skipif(GXX is None, reason="needs g++")
@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (("-DWIDE=1",), ()),
        (("-DWIDE=1+0",), ()),
        (("-DWIDE=2",), ("WIDE is stated as 1",)),
        (("-DWIDE=",), ("WIDE is stated as 1",)),
        ((), ("WIDE is stated as 1",)),
        (("-DWIDE=1", "-DTEST"), ("TEST is stated as undefined",)),
        (("-DTEST",), ("TEST is stated as undefined", "WIDE is stated as 1")),
    ],
)
def test_the_compiler_verifies_the_statement(flags: tuple[str, ...], told: tuple[str, ...]) -> None:
    result = preprocessed(adapted(KERNEL, CONTRACT + MACROS), *flags)
    assert bool(result.returncode) is bool(told)
    assert all(f'#error "ops/k/contract.yaml: macros: {each}' in result.stderr for each in told), result.stderr


@pytest.mark.skipif(GXX is None, reason="needs g++")
def test_a_condition_counts_as_it_is_written() -> None:
    """An unbracketed sum has the stated value, and the condition another one."""
    text = '#include "kernel_operator.h"\n#if N * 2 == 4\n__global__ __vector__ void k(GM_ADDR x) {}\n#endif\n'
    made = adapted(text, "entries: {k: {outputs: [x]}}\nmacros: {N: 2}")
    assert preprocessed(made, "-DN=2").returncode == 0
    assert "N is stated as 2" in preprocessed(made, "-DN=1+1").stderr


def test_one_block_of_one_branch() -> None:
    twin = "__global__ __{}__ void k(GM_ADDR x) {{}}\n"
    text = f'#include "kernel_operator.h"\n#if A\n{twin.format("cube")}#else\n{twin.format("vector")}#endif\n'
    made = adapted(text, "entries: {k: {outputs: [x]}}\nmacros: {A: 0}")
    assert made.count("SK_BIND") == 1
    assert made.index("#else") < made.index("SK_BIND") < made.rindex("#endif")
    assert adapted(text, "entries: {k: {outputs: [x]}}").count("SK_BIND") == 2


def test_nothing_is_added_where_no_statement_decides() -> None:
    text = '#include "kernel_operator.h"\n#if U\nint a;\n#endif\n__global__ __vector__ void k(GM_ADDR x) {}\n'
    contract = "entries: {k: {outputs: [x]}}\n"
    assert adapted(text, contract + "macros: {A: 1}") == adapted(text, contract)
    assert "#error" not in adapted(text, contract)


def test_what_a_header_decides_is_verified_in_the_block() -> None:
    text = '#include "kernel_operator.h"\n#include "0.h"\n__global__ __vector__ void k(GM_ADDR x) { f(x); }\n'
    asking = "inline int64_t f(GM_ADDR x) { return AscendC::GetBlockNum(); }\n"
    header = f"#ifdef A\n{asking}#else\ninline int f(GM_ADDR x) {{ return 1; }}\n#endif\n"
    made = adapted(text, "entries: {k: {outputs: [x]}}\nmacros: {A: undefined}", (header,))
    assert made.index("binding of k") < made.index("#if defined(A)\n#error") < made.index("struct KArgs")


def test_a_header_that_redefines_a_stated_macro_stops_the_file() -> None:
    text = '#include "kernel_operator.h"\n#include "0.h"\n__global__ __vector__ void k(GM_ADDR x) {}\n'
    made = run(text, "entries: {k: {outputs: [x]}}\nmacros: {A: 1}", ("#define A 2\n",))
    assert [str(finding.at) for finding in blockers(made.findings)] == ["ops/k/0.h:1:1"]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_line_ends_and_comments_around_directives(newline: str) -> None:
    text = (
        '#include "kernel_operator.h"\n/* a\n */ #if A // why\n__global__ __vector__ void k(GM_ADDR x) {\n'
        "#if A\n\tf();\n#endif\n}\n#endif\n"
    )
    made = adapted(text.replace("\n", newline), "entries: {k: {outputs: [x]}}\nmacros: {A: 1}")
    if newline != "\r":
        assert "\r" not in made.replace(newline, "")
    lines = made.replace("\r\n", "\n").replace("\r", "\n").splitlines()
    first = lines.index(" */ ")
    assert lines[first + 1 : first + 3] == ["#if A // why", "#else"]
    assert "".join(lines).count("#if A") == 4
    if GXX is not None:
        unix = "\n".join(lines) + "\n"
        assert preprocessed(unix, "-DA=1").returncode == 0
        assert "A is stated as 1" in preprocessed(unix, "-DA=0").stderr


@pytest.mark.skipif(GXX is None, reason="needs g++")
def test_a_body_that_begins_inside_of_a_branch() -> None:
    text = (
        '#include "kernel_operator.h"\n#if A\n__global__ __vector__ void k(GM_ADDR x) {\n    f(x);\n#else\n'
        "__global__ __vector__ void k(GM_ADDR x, GM_ADDR y) {\n    g(x);\n#endif\n    h(x);\n}\n"
    )
    made = adapted(text, "entries: {k: {outputs: [x]}}\nmacros: {A: 1}")
    twin = made.partition("__sk__")[2]
    assert "    f(x);\n    h(x);\n}" in twin
    assert preprocessed(made, "-DA=1").returncode == 0


def test_twins_of_helpers_leave_dead_text_out() -> None:
    text = (
        '#include "kernel_operator.h"\n#if A\n__aicore__ inline int64_t share(int64_t n) {\n#else\n'
        "__aicore__ inline int64_t share(int64_t n, int64_t m) {\n#endif\n    return n / AscendC::GetBlockNum();\n}\n"
        "__global__ __vector__ void k(GM_ADDR x) { share(4); }\n"
    )
    made = adapted(text, "entries: {k: {outputs: [x]}}\nmacros: {A: 1}")
    twin = made.partition("share_sk(")[2].partition("}\n")[0]
    assert "#" not in twin
    assert "int64_t m" not in twin


def test_a_file_that_is_bound_by_hand_is_verified_too() -> None:
    text = (
        '#include "kernel_operator.h"\n#if A\n__global__ __vector__ void k(GM_ADDR x) {}\nstruct KArgs { GM_ADDR x; };\n'
        "template <uint32_t s> __sk__ __vector__ void k_sk(const KArgs *a) {}\n"
        "SK_BIND(k, 4, k_sk<0>, k_sk<1>, k_sk<2>, k_sk<3>);\n#endif\n"
    )
    contract = "entries: {k: {outputs: [x]}}\n"
    assert run(text, contract).status == "already-current"
    made = adapted(text, contract + "macros: {A: 1}")
    assert "#if !defined(A) || (A + 0) != 1\n#error" in made
    assert made.count("SK_BIND") == 1
