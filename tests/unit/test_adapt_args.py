"""The Args struct: fields that lie where the launch puts the arguments."""

from __future__ import annotations

import pytest

from skrules.adapt.args import ArgsStruct, args_struct
from skrules.source.kernels import read
from skrules.source.model import Kernel


def kernel(parameters: str, template: str = "") -> Kernel:
    unit = read(f"{template}\n__global__ __vector__ void k({parameters}) {{}}\n".encode(), "k.asc")
    return unit.kernels[0]


def struct(parameters: str, template: str = "", unused: tuple[str, ...] = ()) -> ArgsStruct:
    made = args_struct(kernel(parameters, template), "KArgs", unused)
    assert made is not None
    return made


def field(parameters: str, template: str = "") -> tuple[str, str]:
    made = struct(parameters, template)
    return made.fields[0].declaration, made.fields[0].local


@pytest.mark.parametrize(
    "small",
    [
        "bool",
        "char",
        "int8_t",
        "uint8_t",
        "int16_t",
        "uint16_t",
        "short",
        "half",
        "bfloat16_t",
        "std::int8_t",
        "::std::uint16_t",
        "unsigned char",
        "signed char",
        "short int",
        "int short unsigned",
        "unsigned short",
        "const bool",
        "uint8_t const",
    ],
)
def test_small_values_are_aligned(small: str) -> None:
    declaration, _ = field(f"{small} p")
    assert declaration.startswith("alignas(4) ")
    assert declaration.endswith(" p")


@pytest.mark.parametrize(
    "large",
    ["int", "uint32_t", "float", "int64_t", "size_t", "double", "unsigned", "long", "long long", "unsigned int", "const float"],
)
def test_large_values_are_not(large: str) -> None:
    assert field(f"{large} p")[0] == f"{large} p"


@pytest.mark.parametrize(
    "pointer", ["GM_ADDR p", "__gm__ uint8_t *p", "const bool *p", "half *const p", "__gm__ int8_t *__restrict__ p", "char **p"]
)
def test_pointers_to_small_values_are_not(pointer: str) -> None:
    assert "alignas" not in field(pointer)[0]


@pytest.mark.parametrize("unknown", ["Tiling", "ns::Mode", "Pair<half, bool>", "DTYPE_X", "uint8_tiling"])
def test_other_types_are_measured_by_the_compiler(unknown: str) -> None:
    assert field(f"{unknown} p")[0] == f"alignas(alignof({unknown}) < 4 ? 4 : alignof({unknown})) {unknown} p"


def test_a_template_parameter_is_not_what_its_name_looks_like() -> None:
    assert field("half p", "template <typename half>")[0] == "alignas(alignof(half) < 4 ? 4 : alignof(half)) half p"


@pytest.mark.parametrize(
    ("parameter", "declaration", "local"),
    [
        ("const T &p", "alignas(alignof(const T) < 4 ? 4 : alignof(const T)) const T p", "const T& p"),
        ("T const &p", "alignas(alignof(T const) < 4 ? 4 : alignof(T const)) T const p", "T const& p"),
        ("T &p", "alignas(alignof(T) < 4 ? 4 : alignof(T)) T p", "T p"),
        ("T &&p", "alignas(alignof(T) < 4 ? 4 : alignof(T)) T p", "T p"),
        ("const int8_t &p", "alignas(4) const int8_t p", "const int8_t& p"),
        ("float p[4]", "float *p", "float *p"),
        ("const float p[]", "const float *p", "const float *p"),
        ("float p[2][3]", "float (*p)[3]", "float (*p)[3]"),
        ("__gm__ half *p[2]", "__gm__ half* *p", "__gm__ half* *p"),
    ],
)
def test_references_and_arrays(parameter: str, declaration: str, local: str) -> None:
    assert field(parameter) == (declaration, local)


def test_a_struct_is_a_template_over_what_its_fields_mention() -> None:
    made = struct("GM_ADDR x, Pair<T, N> p", "template <typename T, int32_t N, bool kDepth>")
    assert [parameter.name for parameter in made.template] == ["T", "N"]
    assert made.template_head == "typename T, int32_t N"
    assert made.spelling == "KArgs<T, N>"
    assert struct("GM_ADDR x", "template <typename T>").template == ()


def test_unused_parameters_are_marked_and_unnamed_ones_have_no_local() -> None:
    made = struct("GM_ADDR x, int, int unnamed1", unused=("x",))
    assert [each.local for each in made.fields] == ["[[maybe_unused]] GM_ADDR x", "", "int unnamed1"]
    assert [each.declaration for each in made.fields] == ["GM_ADDR x", "int unnamed1_2", "int unnamed1"]


def test_no_parameters_no_struct() -> None:
    assert args_struct(kernel(""), "KArgs", ()) is None
    assert args_struct(kernel("void"), "KArgs", ()) is None


@pytest.mark.parametrize(
    ("parameters", "names"),
    [
        ("Tiling Tiling", ["TilingField"]),
        ("n m, int n", ["m", "nField"]),
        ("Tiling Tiling, int TilingField", ["TilingField_2", "TilingField"]),
        ("n n[], int a", ["nField", "a"]),
        ("int a, GM_ADDR b", ["a", "b"]),
    ],
)
def test_a_field_is_called_like_no_type(parameters: str, names: list[str]) -> None:
    """`struct { T T; U u; }` is no C++ where U mentions T; a parameter may be called so."""
    made = struct(parameters)
    assert [each.name for each in made.fields] == names
    assert all(
        each.local.split()[-1].lstrip("*") == p.name for each, p in zip(made.fields, kernel(parameters).parameters, strict=True)
    )
