"""Launchers as text: what is generated, in which scope, and what generated launches cannot serve."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from skrules.binding import templates
from skrules.binding.launcher import host_type, render_launchers
from skrules.contract.entry import Entry, EntryParameter
from skrules.contract.model import EntryContract, ParameterKind, Role
from skrules.errors import Location, NeedsHuman, UsageError
from skrules.source.model import CoreType, Kernel, KernelType, Span

GOLDEN = Path(__file__).parents[1] / "golden" / "binding"
NOWHERE = Span(start=0, end=0)
AT = Location(file="contract.yaml", line=3, column=5)
VECTOR = KernelType(core=CoreType.VECTOR)

LANGUAGE = """
#define __gm__
#define GM_ADDR uint8_t *
#include <cstdint>
struct half { uint16_t bits; };
struct bfloat16_t { uint16_t bits; };
"""


def parameter(name: str, c_type: str, kind: ParameterKind = ParameterKind.TENSOR, **more: object) -> EntryParameter:
    return EntryParameter(name=name, c_type=c_type, kind=kind, **more)  # type: ignore[arg-type]


def entry(name: str, *parameters: EntryParameter, spaces: tuple[str, ...] = (), target: str = "", returns: str = "") -> Entry:
    kernel = Kernel(
        name=name, namespaces=spaces, qualifiers=(), type=VECTOR, parameters=(), template_parameters=None, span=NOWHERE,
        name_span=NOWHERE, parameter_span=NOWHERE, body=NOWHERE, line=1, column=1,
    )  # fmt: skip
    return Entry(
        name=name,
        kernel=kernel,
        contract=EntryContract(name=name, at=AT),
        parameters=parameters,
        bind_target=target or kernel.qualified_name,
        return_parameter=returns,
    )


def scale() -> Entry:
    return entry(
        "scale",
        parameter("x", "GM_ADDR", roles=(Role.INPUT,), dtype="float16", rank=2),
        parameter("y", "__gm__ half *__restrict__", roles=(Role.INPUT, Role.OUTPUT), nullable=True),
        parameter("scratch", "GM_ADDR", roles=(Role.WORKSPACE,)),
        parameter("factor", "half", ParameterKind.SCALAR),
        parameter("tiling", "Tiling", ParameterKind.HOST_STRUCT),
        spaces=("math", "", "v2"),
        target="math::v2::scale<half>",
        returns="y",
    )


def check_golden(name: str, text: str) -> None:
    """Compare with a golden file; `SKRULES_WRITE_GOLDEN=1` writes it instead."""
    path = GOLDEN / name
    if os.environ.get("SKRULES_WRITE_GOLDEN") == "1":
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def test_launchers_as_a_whole() -> None:
    check_golden("launchers.asc", render_launchers([scale(), entry("nothing")]))


def test_no_entries_no_text() -> None:
    assert render_launchers([]) == ""


@pytest.mark.parametrize(
    ("written", "host"),
    [
        ("GM_ADDR", "uint8_t *"),
        ("const GM_ADDR", "const uint8_t *"),
        ("__gm__ half*", "half*"),
        ("__gm__   float  *__restrict__", "float *__restrict__"),
        ("const __gm__ ns::T<__gm__ int *> *", "const ns::T< int *> *"),
        ("My__gm__Type", "My__gm__Type"),
        ("GM_ADDRESS", "GM_ADDRESS"),
        ("uint32_t", "uint32_t"),
    ],
)
def test_device_words_leave_host_types(written: str, host: str) -> None:
    assert host_type(written) == host


def test_entries_of_one_name() -> None:
    with pytest.raises(UsageError, match=r"contract\.yaml:3:5: entry 'a' is declared twice"):
        render_launchers([entry("a"), entry("a")])


def test_tensor_lists_are_for_a_human() -> None:
    with pytest.raises(
        NeedsHuman, match=r"contract\.yaml:3:5: entry 'cat' takes tensor lists \(xs, ys\): generated launches cannot"
    ):
        listed = [parameter(name, "GM_ADDR", ParameterKind.TENSOR_LIST) for name in ("xs", "ys")]
        render_launchers([entry("cat", *listed)])


def compiled(tmp_path: Path, code: str, entries: list[Entry]) -> str:
    """The errors of a compiler for launchers behind `code`; "" when there are none."""
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("no g++")
    source = tmp_path / "kernel.cpp"
    source.write_text(
        LANGUAGE + code + render_launchers(entries).replace("<<<blocks, nullptr, stream>>>", ""), encoding="latin-1"
    )
    command = [compiler, "-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", f"-I{templates.directory()}", str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"})
    return "\n".join(line for line in done.stderr.splitlines() if "error" in line)


@pytest.mark.parametrize(
    ("c_type", "kind", "message"),
    [
        ("float", ParameterKind.TENSOR, "a: parameter 'p' is a tensor in the contract, but its type 'float' is not a pointer"),
        (
            "__gm__ float *",
            ParameterKind.SCALAR,
            "its type '__gm__ float *' is not a number, bool or enumeration of at most 8 bytes",
        ),
        ("long double", ParameterKind.SCALAR, "its type 'long double' is not a number"),
        ("Shape", ParameterKind.SCALAR, "its type 'Shape' is not a number"),
        ("GM_ADDR", ParameterKind.HOST_STRUCT, "its type 'GM_ADDR' is not trivially copyable and no pointer"),
        ("Owner", ParameterKind.HOST_STRUCT, "a: parameter 'p' is a host_struct in the contract, but its type 'Owner' is not"),
    ],
)
def test_a_contract_that_the_type_contradicts_is_an_error_of_compilation(
    tmp_path: Path, c_type: str, kind: ParameterKind, message: str
) -> None:
    code = "struct Shape { int n; }; struct Owner { Owner(const Owner &); ~Owner(); }; template <class T> void a(T) {}\n"
    errors = compiled(tmp_path, code, [entry("a", parameter("p", c_type, kind), target=f"a<{c_type}>")])
    assert "static assertion failed: a: parameter 'p' is a" in errors and message in errors


def test_types_are_found_where_the_kernel_stands_and_measured(tmp_path: Path) -> None:
    code = """
struct Tiling { uint8_t wrong; };
namespace a { inline namespace v1 { namespace {
enum class Mode : uint16_t { X };
struct Tiling { uint64_t n[4]; };
using Flags = int8_t;
void k(GM_ADDR, Mode, const Tiling &, bool, half, bfloat16_t, float, double, Flags, char16_t) {}
} } }
"""
    types = {
        "Mode": "UNSIGNED 2", "const Tiling &": "NOT_SCALAR 32", "bool": "BOOL 1", "half": "HALF 2", "bfloat16_t": "BFLOAT16 2",
        "float": "FLOAT 4", "double": "FLOAT 8", "Flags": "SIGNED 1", "char16_t": "UNSIGNED 2",
    }  # fmt: skip
    kinds = {"const Tiling &": ParameterKind.HOST_STRUCT}
    values = [parameter(f"p{i}", c_type, kinds.get(c_type, ParameterKind.SCALAR)) for i, c_type in enumerate(types)]
    one = entry("k", parameter("x", "GM_ADDR"), *values, spaces=("a", "v1", ""))
    checks = "".join(
        f"static_assert(skrules::describe<::a::v1::skrules_k_{i}>().size == {size});\n"
        f"static_assert(skrules::describe<::a::v1::skrules_k_{i}>().scalar == SKRULES_{scalar});\n"
        for i, (scalar, size) in enumerate((text.split() for text in types.values()), start=1)
    )
    assert compiled(tmp_path, code, [one]) == ""
    source = tmp_path / "kernel.cpp"
    source.write_text(source.read_text() + checks)
    done = subprocess.run(
        ["g++", "-std=c++17", "-fsyntax-only", f"-I{templates.directory()}", str(source)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
