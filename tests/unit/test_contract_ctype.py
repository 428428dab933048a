from __future__ import annotations

import pytest

from skrules.contract.ctype import (
    Definitions,
    Meaning,
    c_type,
    collect_definitions,
    explain,
    join_tokens,
    scalar_dtype,
    split_arguments,
    split_type,
    substitute,
)
from skrules.contract.model import ParameterKind
from skrules.source.kernels import read
from skrules.source.model import Parameter, Span

NOTHING = Definitions(enums={}, structs=frozenset(), aliases={})


def _definitions(source: str) -> Definitions:
    return collect_definitions(read(source.encode(), "k.asc"))


@pytest.mark.parametrize(
    ("text", "dtype"),
    [
        ("int", "int32"),
        ("unsigned", "uint32"),
        ("short", "int16"),
        ("unsigned short int", "uint16"),
        ("long", "int64"),
        ("unsigned long long", "uint64"),
        ("long unsigned int", "uint64"),
        ("char", "int8"),
        ("unsigned char", "uint8"),
        ("signed char", "int8"),
        ("bool", "bool"),
        ("const uint32_t", "uint32"),
        ("std::uint16_t", "uint16"),
        ("::std::size_t", "uint64"),
        ("half", "float16"),
        ("AscendC::half", "float16"),
        ("bfloat16_t", "bfloat16"),
        ("double", "float64"),
        ("const float &", "float32"),
        ("uint32_t &&", "uint32"),
    ],
)
def test_built_in_scalars(text: str, dtype: str) -> None:
    assert scalar_dtype(text) == dtype
    assert explain(text, NOTHING) == Meaning(kind=ParameterKind.SCALAR, dtype=dtype, spelled=True)


@pytest.mark.parametrize(
    "text", ["GM_ADDR", "__gm__ uint8_t *", "half*", "const __gm__ float *const", "int (*)[4]", "__gm__ Tiling &", "Ptr<int> *"]
)
def test_pointers_are_tensors(text: str) -> None:
    assert explain(text, NOTHING).kind is ParameterKind.TENSOR


@pytest.mark.parametrize("text", ["PointCfg", "MyTilingHint", "ns::HalfSize", "doubled", "Box<int *>", "Array<half, 8>", "T"])
def test_named_types_are_not_guessed_by_parts_of_words(text: str) -> None:
    assert explain(text, NOTHING) == Meaning(kind=None)


def test_types_that_the_file_defines() -> None:
    found = _definitions("""
        enum Plain { A, B };
        enum class Small : uint8_t { A };
        namespace n { struct alignas(8) Tiling { int a; enum Inner { X }; }; }
        class Derived : public n::Tiling { };
        struct Forward;
        typedef struct Tag { int a; } Named;
        using Index = uint32_t;
        typedef unsigned long Count;
        using Far = Index;
        using Address = __gm__ uint8_t *;
        using Loop = Pool; using Pool = Loop;
        template <class T> using Alias = T;
        template <typename U> struct Generic { };
        // enum Comment { A };
        const char *text = "enum Quoted { A };";
        """)
    kinds = {
        name: (explain(name, found).kind, explain(name, found).dtype)
        for name in (
            *("Plain", "Small", "n::Tiling", "Derived", "Forward", "Named", "Index", "Count", "Far", "Address", "Loop"),
            *("Alias", "Generic<int>", "Comment", "Quoted", "Inner", "const Small &"),
        )
    }
    scalar, struct, tensor = ParameterKind.SCALAR, ParameterKind.HOST_STRUCT, ParameterKind.TENSOR
    assert kinds == {
        "Plain": (scalar, "int32"),
        "Small": (scalar, "uint8"),
        "n::Tiling": (struct, ""),
        "Derived": (struct, ""),
        "Forward": (None, ""),
        "Named": (struct, ""),
        "Index": (scalar, "uint32"),
        "Count": (scalar, "uint64"),
        "Far": (scalar, "uint32"),
        "Address": (tensor, ""),
        "Loop": (None, ""),
        "Alias": (None, ""),
        "Generic<int>": (None, ""),
        "Comment": (None, ""),
        "Quoted": (None, ""),
        "Inner": (scalar, "int32"),
        "const Small &": (scalar, "uint8"),
    }
    assert not explain("Index", found).spelled


def test_a_name_with_two_meanings_is_left_to_the_contract() -> None:
    found = _definitions("#if A\nusing Index = int;\n#else\nusing Index = short;\n#endif\nenum E { X };")
    assert explain("Index", found).kind is None and explain("E", found).kind is ParameterKind.SCALAR


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("__gm__ T *", "__gm__ half *"),
        ("T", "half"),
        ("TT", "TT"),
        ("Traits<T>::T", "Traits<half>::T"),
        ("Array<T, N>", "Array<half, 8>"),
        ("Int<8u>", "Int<8u>"),
        ("typename Cfg<N>::Type", "typename Cfg<8>::Type"),
    ],
)
def test_substitution_is_by_whole_tokens(text: str, result: str) -> None:
    assert substitute(text, {"T": "half", "N": "8", "u": "wrong"}) == result


@pytest.mark.parametrize(
    ("array", "result"), [("", "int32_t"), ("[4]", "int32_t *"), ("[]", "int32_t *"), ("[2][3]", "int32_t (*)[3]")]
)
def test_arrays_decay(array: str, result: str) -> None:
    parameter = Parameter(type="T", name="d", array=array, span=Span(start=0, end=0))
    assert c_type(parameter, {"T": "int32_t"}) == result


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("half", ["half"]),
        ("half, 8", ["half", "8"]),
        ("Pair<int, float>, (1 > 0), {1, 2}", ["Pair<int,float>", "(1>0)", "{1,2}"]),
        ("Outer<Inner<half>>", ["Outer<Inner<half>>"]),
        ("unsigned  int", ["unsigned int"]),
        ("", []),
        ("half,", ["half", ""]),
        ("Pair<int", None),
        ("a)", None),
        ("(a]", None),
    ],
)
def test_template_arguments_split_at_outer_commas(text: str, result: list[str] | None) -> None:
    assert split_arguments(text) == result


def test_equal_types_join_to_equal_text() -> None:
    assert join_tokens(split_type("const  int*")) == join_tokens(split_type("const int *")) == "const int*"
