from __future__ import annotations

import struct
from dataclasses import replace

import pytest

from skrules.compare import numbers
from skrules.compare.case import Case, TensorCase, Tolerance
from skrules.compare.cases import load_cases
from skrules.compare.inputs import make_inputs
from skrules.compare.subject import Argument, Subject
from skrules.contract.model import ParameterKind, Role
from skrules.errors import UsageError

TENSOR, SCALAR, STRUCT = ParameterKind.TENSOR, ParameterKind.SCALAR, ParameterKind.HOST_STRUCT
ADD = Subject(
    name="add",
    kernel="add",
    blocks=4,
    arguments=(
        Argument(name="x", kind=TENSOR, roles=(Role.INPUT,), nullable=True, rank=2),
        Argument(name="acc", kind=TENSOR, roles=(Role.INPUT, Role.OUTPUT)),
        Argument(name="z", kind=TENSOR, roles=(Role.OUTPUT,), dtype="float16"),
        Argument(name="w", kind=TENSOR, roles=(Role.WORKSPACE,)),
        Argument(name="n", kind=SCALAR, encoding="uint32"),
        Argument(name="alpha", kind=SCALAR, encoding="float32"),
        Argument(name="mode", kind=SCALAR, encoding="uint8"),
        Argument(name="cfg", c_type="Cfg", kind=STRUCT, bytes=4),
    ),
)
PARTS = {
    "x": "x: {shape: [2, 3], dtype: float32}",
    "acc": "acc: {shape: [8], dtype: int32, values: arange}",
    "z": "z: {shape: [8]}",
    "w": "w: {bytes: 100}",
}
SCALARS = {"n": "n: 8", "alpha": "alpha: 1.5", "mode": "mode: 2"}


def _text(rest: str = "", head: str = "", **parts: str) -> str:
    tensors = ", ".join(filter(None, (parts.get(key, text) for key, text in PARTS.items())))
    scalars = ", ".join(filter(None, (parts.get(key, text) for key, text in SCALARS.items())))
    structs = parts.get("cfg", "cfg: [1, 2, 3, 4]")
    case = f"{{name: one, tensors: {{{tensors}}}, scalars: {{{scalars}}}, structs: {{{structs}}}{rest}}}"
    return f"{head}cases:\n  - {case}\n"


def _case(rest: str = "", head: str = "", **parts: str) -> Case:
    return load_cases(_text(rest, head, **parts).encode(), "cases.yaml", [ADD])[0]


def _errors(text: str) -> str:
    with pytest.raises(UsageError) as caught:
        load_cases(text.encode(), "cases.yaml", [ADD])
    return str(caught.value)


def test_a_full_case() -> None:
    case = _case()
    assert (case.name, case.entry, case.blocks, case.seed, case.tolerance, case.partial) == ("one", "add", 4, 0, None, False)
    assert case.tensors["x"] == TensorCase(shape=(2, 3), dtype="float32", fill="random", low=-1, high=1)
    assert case.tensors["acc"] == TensorCase(shape=(8,), dtype="int32", fill="arange")
    assert case.tensors["z"] == TensorCase(shape=(8,), dtype="float16", fill="sentinel")
    assert case.tensors["w"] == TensorCase(shape=(100,), dtype="uint8", fill="sentinel")
    assert case.scalars == {"n": 8, "alpha": 1.5, "mode": 2} and case.structs == {"cfg": b"\1\2\3\4"}
    assert str(case.at) == "cases.yaml:2:5"


def test_defaults_and_what_a_case_says_itself() -> None:
    head = "schema_version: 1\ndefaults: {seed: 7, tolerance: {rtol: 0.1}, block_dim: 2}\n"
    case = _case(head=head)
    assert (case.seed, case.tolerance, case.blocks) == (7, Tolerance(rtol=0.1), 2)
    case = _case(", seed: 0, tolerance: {atol: 1}, block_dim: 9, partial: true", head)
    assert (case.seed, case.tolerance, case.blocks, case.partial) == (0, Tolerance(atol=1), 9, True)
    assert case.super_kernel_blocks == 0
    assert _case(", super_kernel_blocks: 2", head).super_kernel_blocks == 2


def test_null_for_a_nullable_tensor() -> None:
    assert _case(x="x: null").tensors["x"] is None
    assert "'z' is not nullable" in _errors(_text(z="z: null"))


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("[1, 255]", b"\x01\xff"),
        ("[{uint32: 5}]", struct.pack("<I", 5)),
        ("[{uint8: 1}, {uint32: 5}]", struct.pack("<B3xI", 1, 5)),
        ("[{int64: -1}, {bool: true}]", struct.pack("<q?7x", -1, True)),
        ("[{float32: [0.5, 2]}, {int16: 3}]", struct.pack("<ffh2x", 0.5, 2, 3)),
        ("[{float16: 1.5}]", struct.pack("<e", 1.5)),
        ("[{bfloat16: 1.0}]", b"\x80\x3f"),
    ],
)
def test_structs_have_the_layout_of_c(text: str, fields: bytes) -> None:
    subject = replace(ADD, arguments=(*ADD.arguments[:-1], replace(ADD.arguments[-1], bytes=len(fields))))
    case = load_cases(_text(cfg=f"cfg: {text}").encode(), "cases.yaml", [subject])[0]
    assert case.structs["cfg"] == fields


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ({"x": ""}, "case 'one' does not give 'x' under 'tensors'"),
        ({"n": ""}, "case 'one' does not give 'n' under 'scalars'"),
        ({"cfg": ""}, "case 'one' does not give 'cfg' under 'structs'"),
        ({"x": PARTS["x"] + ", q: {shape: [1]}"}, "entry 'add' has no parameter 'q'"),
        ({"n": "n: 8, x: 3"}, "'x' belongs under 'tensors'"),
        ({"x": "x: {shape: [2, 3]}"}, "'x': has no dtype"),
        ({"x": "x: {dtype: int8}"}, "'x': has no shape"),
        ({"x": "x: {shape: [2, 3], dtype: half}"}, "did you mean 'float16'?"),
        ({"x": "x: {shape: [6], dtype: int8}"}, "'x': has 1 dimensions; the contract says 2"),
        ({"x": "x: {shape: [2, -3], dtype: int8}"}, "shape[1] must be a whole number"),
        ({"x": "x: {shape: 6, dtype: int8}"}, "must be a list"),
        ({"x": "x: {shape: [2, 3], dtype: int8, initial: zeros}"}, "an input has no 'initial'"),
        ({"x": "x: {shape: [2, 3], dtype: int8, values: rando}"}, "did you mean 'random'?"),
        ({"x": "x: {shape: [2, 3], dtype: int8, values: 200}"}, "200 does not fit: int8 goes from -128 to 127"),
        ({"x": "x: {shape: [2, 3], dtype: int8, values: 1.5}"}, "1.5 does not fit: it must be a whole number"),
        ({"x": "x: {shape: [2, 3], dtype: float16, values: 1e6}"}, "float16 ends at 65504"),
        ({"x": "x: {shape: [2, 3], dtype: int8, low: 5, high: 5}"}, "low 5 is not below high 5"),
        ({"x": "x: {shape: [2, 3], dtype: int8, low: -200}"}, "-200 is outside of int8"),
        ({"x": "x: {shape: [2, 3], dtype: int8, high: 1.5}"}, "must be a whole number"),
        ({"x": "x: {shape: [2, 3], dtype: float32, values: ones, low: 1}"}, "'low' is for random values only"),
        ({"x": "x: {shape: [2, 3], dtype: float32, bytes: 24}"}, "only a workspace may be given in bytes"),
        ({"x": "x: {shape: [65536, 65536], dtype: float32}"}, "is larger than 2147483648 bytes"),
        ({"x": "x: {shape: [" + "1, " * 40 + "1], dtype: float32}"}, "has 41 dimensions"),
        ({"z": "z: {shape: [8], dtype: float32}"}, "is float16 in the contract, not float32"),
        ({"z": "z: {shape: [8], values: zeros}"}, "an output has no 'values'"),
        ({"w": "w: {bytes: 4, dtype: int8}"}, "has bytes and also shape or dtype"),
        ({"n": "n: -1"}, "-1 does not fit: uint32 goes from 0 to 4294967295"),
        ({"n": "n: 1.0"}, "1.0 does not fit: it must be a whole number"),
        ({"n": "n: true"}, "true does not fit"),
        ({"n": 'n: "8"'}, "scalars.n must be"),
        ({"mode": "mode: 256"}, "uint8 goes from 0 to 255"),
        ({"cfg": "cfg: [1, 2]"}, "'cfg' has 2 bytes here, and Cfg has 4"),
        ({"cfg": "cfg: [256]"}, "from 0 to 255"),
        ({"cfg": "cfg: []"}, "'cfg' has 0 bytes here, and Cfg has 4"),
        ({"cfg": "cfg: [{uint32: 1, int8: 2}]"}, "a field is one type with its value"),
        ({"cfg": "cfg: [{uint33: 1}]"}, "did you mean 'uint32'?"),
        ({"cfg": "cfg: [{uint8: 300}]"}, "uint8 goes from 0 to 255"),
        ({"cfg": "cfg: 3"}, "must be a list"),
    ],
)
def test_what_is_refused(part: dict[str, str], message: str) -> None:
    text = _errors(_text(**part))
    assert message in text and "error: cases.yaml:2:" in text
    assert text.count("error: ") == 1


@pytest.mark.parametrize(
    ("rest", "message"),
    [
        (", seed: -1", "seed must be a whole number"),
        (", tolerance: {rtol: -1}", "a number not below 0"),
        (", tolerance: {rtol: .nan}", "a number not below 0"),
        (", tolerence: {}", "did you mean 'tolerance'?"),
        (", entry: ad", "did you mean 'add'?"),
        (", block_dim: 0", "from 1 to 65535"),
        (", block_dim: 8, super_kernel_blocks: 7", "a super kernel of 7 blocks has no place for a kernel of 8"),
        (", partial: 1", "true or false"),
    ],
)
def test_settings(rest: str, message: str) -> None:
    assert message in _errors(_text(rest))


def test_names_are_unique_identifiers() -> None:
    one = _text().split("\n", 1)[1]
    assert "cases.yaml:3:12: a second case 'one'" in _errors("cases:\n" + one + one)
    assert "a C identifier" in _errors(_text().replace("name: one", "name: a-b"))
    assert "has no 'name'" in _errors(_text().replace("name: one, ", ""))


def test_the_entry_must_be_named_when_there_are_several() -> None:
    a = Subject(name="a", kernel="a", arguments=(Argument(name="x", kind=TENSOR, roles=(Role.INPUT,)),))
    tensors = "tensors: {x: {shape: [1], dtype: int8}}"
    with pytest.raises(UsageError, match="does not say which entry it runs\n  allowed: a, b"):
        load_cases(f"cases: [{{name: c, {tensors}}}]".encode(), "cases.yaml", [a, replace(a, name="b")])
    text = f"cases: [{{name: c, entry: b, {tensors}}}]"
    assert load_cases(text.encode(), "cases.yaml", [a, replace(a, name="b")])[0].entry == "b"


def test_all_errors_come_at_once() -> None:
    text = _errors(_text(", sed: 1", x="x: {shape: [6]}", n="n: -1"))
    assert text.count("error: cases.yaml:2:") == 4


def test_an_unknown_scalar() -> None:
    subject = Subject(name="a", kernel="a", arguments=(Argument(name="far", c_type="Far", kind=SCALAR),))
    with pytest.raises(UsageError, match="how a Far is encoded is not known"):
        load_cases(b"cases: [{name: c, scalars: {far: 1}}]", "cases.yaml", [subject])


@pytest.mark.parametrize(
    ("dtype", "value", "data"),
    [
        ("bool", True, "01"),
        ("int8", -1, "ff"),
        ("uint16", 258, "0201"),
        ("uint64", (1 << 64) - 1, "ff" * 8),
        ("float32", 1, "0000803f"),
        ("float64", 0.5, "000000000000e03f"),
        ("float16", float("inf"), "007c"),
        ("bfloat16", 1.0, "803f"),
    ],
)
def test_encoding_is_little_endian(dtype: str, value: float, data: str) -> None:
    assert numbers.encode(dtype, value).hex() == data


LIST = ParameterKind.TENSOR_LIST
CONCAT = Subject(
    name="concat",
    kernel="concat",
    arguments=(
        Argument(name="xs", kind=LIST, roles=(Role.INPUT,), dtype="float16", rank=2),
        Argument(name="out", kind=TENSOR, roles=(Role.OUTPUT,), dtype="float16"),
    ),
)
OUT = "tensors: {out: {shape: [8]}}"


def _concat(text: str, subject: Subject = CONCAT) -> Case:
    return load_cases(f"cases:\n  - {{name: one, {text}}}\n".encode(), "cases.yaml", [subject])[0]


def test_tensor_lists_in_order() -> None:
    case = _concat(OUT + ", lists: {xs: [{shape: [1, 3]}, {shape: [0, 3], values: ones}]}")
    assert case.lists == {
        "xs": (
            TensorCase(shape=(1, 3), dtype="float16", fill="random", low=-1, high=1),
            TensorCase(shape=(0, 3), dtype="float16", fill="ones"),
        )
    }
    assert list(case.all_tensors()) == ["out", "xs[0]", "xs[1]"]
    assert _concat(OUT + ", lists: {xs: []}").lists == {"xs": ()}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (OUT, "case 'one' does not give 'xs' under 'lists'"),
        (OUT, "hint: lists: {xs: [{shape: [64], dtype: float16}, {shape: [64], dtype: float16}]}"),
        (OUT + ", lists: {xs: {shape: [1, 3]}}", "must be a list"),
        (OUT + ", lists: {xs: [{shape: [1, 3]}, null]}", "must be"),
        (OUT + ", lists: {xs: [{shape: [1, 3]}, {shape: [3]}]}", "'xs[1]': has 1 dimensions; the contract says 2"),
        (OUT + ", lists: {xs: [{shape: [1, 3], dtype: float32}]}", "'xs[0]': is float16 in the contract, not float32"),
        (OUT + ", lists: {xs: [{shape: [1, 3], initial: ones}]}", "'xs[0]': an input has no 'initial'"),
        (OUT + ", lists: {xs: [{shap: [1, 3]}]}", "did you mean 'shape'?"),
        (OUT + ", lists: {ys: [], xs: []}", "entry 'concat' has no parameter 'ys'"),
        (OUT + ", lists: {out: []}", "'out' belongs under 'tensors'"),
        ("tensors: {out: {shape: [8]}, xs: {shape: [1, 3]}}", "'xs' belongs under 'lists'"),
    ],
)
def test_what_is_refused_of_lists(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        _concat(text)
    assert message in str(caught.value) and "cases.yaml:2:" in str(caught.value)


def test_a_kernel_that_is_not_in_the_build_has_no_cases() -> None:
    gone = replace(CONCAT, absent="its kernel stands under '#ifdef X', which does not hold in this build")
    with pytest.raises(
        UsageError, match=r"cases\.yaml:2:5: case 'one': there is no 'concat' to run: its kernel stands under '#ifdef X'"
    ):
        _concat(OUT, gone)


FLAT = "x: {shape: [2, 3], dtype: float32, values: %s}"


@pytest.mark.parametrize("values", ["[1, 2.5, -3, .inf, -.inf, 0]", "[[1, 2.5, -3], [.inf, -.inf, 0]]"])
def test_values_of_a_tensor(values: str) -> None:
    tensor = _case(x=FLAT % values).tensors["x"]
    assert tensor is not None and tensor.fill == "data"
    assert struct.unpack("<6f", tensor.data) == (1, 2.5, -3, float("inf"), float("-inf"), 0)


@pytest.mark.parametrize(
    ("shape", "dtype", "values", "data"),
    [
        ("[2]", "int8", "[-128, 127]", b"\x80\x7f"),
        ("[]", "int16", "[258]", b"\x02\x01"),
        ("[0]", "int32", "[]", b""),
        ("[2, 0]", "int32", "[[], []]", b""),
        ("[4]", "bool", "[true, false, 1, 0]", b"\1\0\1\0"),
        ("[1, 1, 2]", "float16", "[[[1, .nan]]]", b"\x00\x3c\x00\x7e"),
        ("[1]", "uint64", "[18446744073709551615]", b"\xff" * 8),
        ("[2]", "bfloat16", "[1, -2]", b"\x80\x3f\x00\xc0"),
    ],
)
def test_values_are_encoded_in_the_dtype(shape: str, dtype: str, values: str, data: bytes) -> None:
    text = _text(acc=f"acc: {{shape: {shape}, dtype: {dtype}, values: {values}}}")
    tensor = load_cases(text.encode(), "cases.yaml", [ADD])[0].tensors["acc"]
    assert tensor is not None and tensor.data == data


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ("[1, 2]", "cases.yaml:2:70: 'x': has 2 values, and its shape [2, 3] 6 elements"),
        ("[[1, 2, 3]]", "'x': has 1 here, and the dimension is 2"),
        ("[[1, 2, 3], [4, 5]]", "'x': has 2 here, and the dimension is 3"),
        ("[[1, 2, 3], 4]", "'x': here a list of 3 must stand, not a value"),
        ("[[1, 2, [3]], [4, 5, 6]]", "'x': here a value must stand, not a list"),
        ("[1, 2, 3, 4, 5, true]", "true does not fit: it must be a number, since it is float32"),
        ("[1, 2, 3, 4, 5, 1e39]", "1e+39 does not fit: float32 ends at"),
        ("[1, 2, 3, 4, 5, six]", "values[5] must be true or false or a number, not the text 'six'"),
        ("[1, 2, 3, 4, 5, null]", "values[5] must be true or false or a number, not nothing"),
        ("[1, 2, 3, 4, 5, {a: 1}]", "values[5] must be true or false or a number, not a mapping"),
        ("[" * 33 + "1" + "]" * 33, "nested deeper than 32 levels"),
        ("[1, 2, 3, 4, 5, 6], low: 0", "'low' is for random values only"),
    ],
)
def test_values_that_do_not_fit(values: str, message: str) -> None:
    assert message in _errors(_text(x=FLAT % values))


def test_an_output_has_no_values() -> None:
    assert "'z': an output has no 'values'" in _errors(_text(z="z: {shape: [1], values: [1]}"))
    assert "'z': an output has no 'fields'" in _errors(_text(z="z: {shape: [1], fields: [1]}"))


def test_a_struct_in_a_tensor() -> None:
    fields = "[{uint32: 7}, {uint8: [1, 2]}, {float16: 1}, {bool: true}, 9]"
    expected = struct.pack("<IBBeBB", 7, 1, 2, 1, 1, 9) + bytes(2)
    for rest in ("", ", dtype: uint8", ", shape: [12]", ", dtype: int8, shape: [3, 4]"):
        tensor = _case(acc=f"acc: {{fields: {fields}{rest}}}").tensors["acc"]
        assert tensor is not None and (tensor.data, tensor.bytes) == (expected, 12)
    assert tensor.shape == (3, 4)


@pytest.mark.parametrize(
    ("rest", "message"),
    [
        ("fields: [{uint32: 1}], shape: [5]", "'acc': has 4 bytes, and its shape [5] 5 elements"),
        ("fields: [{uint32: 1}], dtype: int32, shape: [1]", "'acc': are bytes, and its elements int32"),
        ("fields: [{uint32: 1}], values: zeros", "'acc': has fields and also values"),
        ("fields: [{uint32: -1}]", "-1 does not fit: uint32 goes from 0"),
        ("fields: [{uint32: 1, int8: 2}]", "a field is one type with its value"),
        ("fields: [{uint: 1}]", "unknown key 'uint'"),
        ("fields: [256]", "must be a whole number from 0 to 255"),
        ("fields: [1], high: 3", "'high' is for random values only"),
    ],
)
def test_fields_that_do_not_fit(rest: str, message: str) -> None:
    assert message in _errors(_text(acc=f"acc: {{{rest}}}"))


def test_spelled_values_reach_the_kernel_and_the_reference() -> None:
    case = _case(x=FLAT % "[6, 5, 4, 3, 2, 1]", acc="acc: {fields: [{uint16: 513}]}")
    inputs = make_inputs(case)
    assert inputs["x"].tolist() == [[6, 5, 4], [3, 2, 1]] and inputs["acc"].tolist() == [1, 2]
    inputs["x"][0, 0] = 0  # an array of its own, as the reference may change it
