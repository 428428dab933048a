"""Where generated text goes, and what `#line` says around it."""

from __future__ import annotations

import pytest

from skrules.adapt.adaptation import AdaptedSource, adapt
from skrules.contract.check import resolve
from skrules.contract.load import load
from skrules.source.kernels import read

KERNEL = "__global__ __vector__ void k(GM_ADDR x) {}"
INCLUDE = '#include "kernel_operator.h"  // added by skrules\n'


def run(source: str, contract: str = "entries: {k: {outputs: [x]}}") -> AdaptedSource:
    unit = read(source.encode("latin-1"), "ops/k.asc")
    made = adapt(unit, resolve(unit, load(contract.encode(), "k.yaml")))
    assert made.status == "completed", [str(finding) for finding in made.findings]
    return made


@pytest.mark.parametrize(
    "include",
    [
        '#include "kernel_operator.h"',
        "#include <kernel_operator.h>",
        '#  include "../api/kernel_operator.h" // x',
        '#include /**/ "kernel_operator.h"',
    ],
)
def test_any_spelling_of_the_include_counts(include: str) -> None:
    assert INCLUDE.encode() not in run(f"{include}\n{KERNEL}\n").text()


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("", INCLUDE),
        ("// licence\n\n", "// licence\n\n" + INCLUDE),
        ("#include <cstdint>\n#include <a.h>\nint f();\n", "#include <cstdint>\n#include <a.h>\n" + INCLUDE + "int f();\n"),
        ("#ifdef A\n#include <a.h>\n#endif\n", INCLUDE + "#ifdef A\n#include <a.h>\n#endif\n"),
        ('/* #include "kernel_operator.h" */\n', '/* #include "kernel_operator.h" */\n' + INCLUDE),
        ('#if 0\n#include "kernel_operator.h"\n#endif\n', INCLUDE + '#if 0\n#include "kernel_operator.h"\n#endif\n'),
        ("\xef\xbb\xbf", "\xef\xbb\xbf" + INCLUDE),
        ("#include <a.h> /* more\n*/\n", "#include <a.h> /* more\n*/\n" + INCLUDE),
    ],
)
def test_the_include_is_added_where_it_is_always_active(before: str, expected: str) -> None:
    text = run(f"{before}{KERNEL}\n#include <late.h>\n").text().decode("latin-1")
    assert text.startswith(expected + KERNEL)


def test_an_include_guard_around_all_kernels_is_no_condition() -> None:
    text = run(f'#ifndef K_H\n#define K_H\n#include "kernel_operator.h"\n{KERNEL}\n#endif\n').text()
    assert INCLUDE.encode() not in text


def test_the_block_follows_the_comment_of_the_last_line() -> None:
    text = run(f'#include "kernel_operator.h"\n{KERNEL}  // k\nint after;\n').text().decode()
    assert f"{KERNEL}  // k\n\n// skrules: SuperKernel binding of k" in text
    assert text.endswith("// skrules: end of k\nint after;\n")


def test_the_block_splits_a_line_that_goes_on() -> None:
    text = run(f'#include "kernel_operator.h"\n{KERNEL} int after; /* a\nb */\n').text().decode()
    assert f"{KERNEL}\n// skrules: SuperKernel binding of k" in text
    assert text.endswith("// skrules: end of k\n int after; /* a\nb */\n")


def test_extern_c_is_left_and_entered_again() -> None:
    text = run(f'#include "kernel_operator.h"\nextern "C" {{\n{KERNEL}\n}}\n').text().decode()
    block = text[text.index("// skrules: S") : text.index("// skrules: end")]
    assert block.splitlines()[1] == '}  // extern "C"'
    assert block.splitlines()[-1] == 'extern "C" {'


def test_an_overloaded_name_is_bound_by_its_type() -> None:
    text = run(f'#include "kernel_operator.h"\n__aicore__ inline void k(int a, GM_ADDR *b) {{}}\n{KERNEL}\n').text()
    assert b"SK_BIND(static_cast<void (*)(GM_ADDR)>(k), 4, " in text
    text = run(f'#include "kernel_operator.h"\n__global__ __vector__ void k(GM_ADDR x);\n{KERNEL}\n').text()
    assert b"SK_BIND(k, 4, " in text


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("{}", b"SK_BIND(static_cast<void (*)(GM_ADDR)>(abs), 4, "),
        ("namespace mine {{ {} }}", b"SK_BIND(mine::abs, 4, "),
    ],
)
def test_a_name_that_the_c_library_has_too_is_bound_by_its_type(text: str, bound: bytes) -> None:
    kernel = KERNEL.replace(" k(", " abs(")
    name = "mine::abs" if "mine" in text else "abs"
    unit = read(f'#include "kernel_operator.h"\n{text.format(kernel)}\n'.encode(), "k.asc")
    source = adapt(unit, resolve(unit, load(f"entries: {{k: {{source_entry_name: '{name}', outputs: [x]}}}}".encode(), "k.yaml")))
    assert bound in source.text()


def test_quotes_of_a_path_are_escaped_in_markers() -> None:
    unit = read(f'#include "kernel_operator.h"\n{KERNEL}\n'.encode(), 'o"p\\s.asc')
    source = adapt(unit, resolve(unit, load(b"entries: {k: {outputs: [x]}}", "k.yaml")))
    assert source.text(line_markers=True, generated="g.asc").startswith(b'#line 1 "o\\"p\\\\s.asc"\n')


def test_an_absolute_contract_path_is_not_written() -> None:
    unit = read(f'#include "kernel_operator.h"\n{KERNEL}\n'.encode(), "k.asc")
    source = adapt(unit, resolve(unit, load(b"entries: {k: {outputs: [x]}}", "/home/somebody/k.yaml")))
    assert b"generated from k.yaml; do not edit" in source.text()


def test_several_names_of_one_template_share_a_twin() -> None:
    contract = "entries: {a: {bind_target: k<half>, outputs: [x]}, b: {bind_target: k<float>, outputs: [x], sk: {num_splits: 1}}}"
    source = run(
        '#include "kernel_operator.h"\ntemplate <typename T>\n__global__ __vector__ void k(GM_ADDR x, T s) {}\n', contract
    )
    assert [entry.args_struct for entry in source.entries] == ["KArgs<half>", "KArgs<float>"]
    assert source.entries[1].bind_line == "SK_BIND(k<float>, 4, k_sk<float, 0>);"
    assert source.text().count(b"struct KArgs") == 1


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_a_file_that_begins_with_its_kernel(mark: bytes) -> None:
    unit = read(mark + b"__global__ __vector__ void k() {}\nint more;\n", "k.asc")
    text = adapt(unit, resolve(unit, None)).text(line_markers=True, generated="gen/k.asc")
    assert text.startswith(mark + b'#line 1 "k.asc"\n#line 3 "gen/k.asc"\n' + INCLUDE.encode())
    assert b'#line 1 "k.asc"\n__global__ __vector__ void k() {}\n' in text
