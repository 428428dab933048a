from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from skrules.compare.case import Case, TensorCase
from skrules.compare.child import Ending
from skrules.compare.plan import input_file, write_plan
from skrules.compare.reference import Reference, read_reference, write_request
from skrules.compare.reference_worker import serve
from skrules.compare.subject import Argument, Subject
from skrules.contract.model import ParameterKind, Role
from skrules.errors import Location, TestFailure

TENSOR = ParameterKind.TENSOR
ADD = Subject(
    name="add_half",
    kernel="ns::add<half>",
    arguments=(
        Argument(name="x", kind=TENSOR, roles=(Role.INPUT,)),
        Argument(name="maybe", kind=TENSOR, roles=(Role.INPUT,), nullable=True),
        Argument(name="acc", kind=TENSOR, roles=(Role.INPUT, Role.OUTPUT)),
        Argument(name="z", kind=TENSOR, roles=(Role.OUTPUT,)),
        Argument(name="n", kind=ParameterKind.SCALAR, encoding="int32"),
        Argument(name="cfg", kind=ParameterKind.HOST_STRUCT, bytes=1),
    ),
)
CASE = Case(
    name="one",
    entry="add_half",
    tensors={
        "x": TensorCase(shape=(3,), dtype="float32", fill="arange"),
        "maybe": None,
        "acc": TensorCase(shape=(3,), dtype="int32", fill="ones"),
        "z": TensorCase(shape=(3,), dtype="int8", fill="sentinel"),
    },
    scalars={"n": 5},
    structs={"cfg": b"\x09"},
    at=Location(file="cases.yaml"),
)
SINGLE = Subject(name="k", kernel="k", arguments=(ADD.arguments[0], ADD.arguments[3]))
SINGLE_CASE = Case(name="two", entry="k", tensors={k: CASE.tensors[k] for k in "xz"}, scalars={}, structs={}, at=CASE.at)


def _served(path: Path, subject: Subject, case: Case) -> Reference:
    """Do in this process what the reference's own process does, and read what it left."""
    work = path.parent / f"work-{len(list(path.parent.iterdir()))}"
    write_plan(work, [case], {subject.name: subject})
    folder = work / "reference"
    serve(write_request(path, folder, [case], {subject.name: subject}, 10.0))
    return read_reference(path, "ops/add/reference.py", folder, [case], Ending(good=True, text="ended with status 0"), "")


def _expected(tmp_path: Path, text: str, subject: Subject = ADD, case: Case = CASE) -> dict[str, np.ndarray]:
    path = tmp_path / "reference.py"
    path.write_text(text, encoding="utf-8")
    return _served(path, subject, case).expected(case, subject)


def _failure(tmp_path: Path, text: str, subject: Subject = ADD, case: Case = CASE) -> str:
    with pytest.raises(TestFailure) as caught:
        _expected(tmp_path, text, subject, case)
    return str(caught.value)


def test_arguments_come_by_name(tmp_path: Path) -> None:
    text = """
def add_half(n, acc, x, cfg, maybe, unit=2):
    assert maybe is None and cfg == b"\\x09" and n == 5 and unit == 2
    return {"z": x + n, "acc": acc * 3}
"""
    found = _expected(tmp_path, text)
    assert found["z"].tolist() == [5, 6, 7] and found["acc"].tolist() == [3, 3, 3]


def test_the_kernel_s_name_and_every_argument(tmp_path: Path) -> None:
    text = "def add(**given):\n    return {'z': [len(given)] * 3, 'acc': given['acc']}\n"
    assert _expected(tmp_path, text)["z"].tolist() == [5, 5, 5]


def test_one_output_needs_no_mapping(tmp_path: Path) -> None:
    found = _expected(tmp_path, "def k(x):\n    return x\n", SINGLE, SINGLE_CASE)
    assert found["z"].tolist() == [0, 1, 2]


def test_inputs_are_copies(tmp_path: Path) -> None:
    assert _expected(tmp_path, "def k(x):\n    x += 1\n    return x\n", SINGLE, SINGLE_CASE)["z"].tolist() == [1, 2, 3]
    (file,) = tmp_path.glob(f"work-*/{input_file(SINGLE_CASE, 'x')}")
    assert np.fromfile(file, "<f4").tolist() == [0, 1, 2]


def test_classes_find_their_module(tmp_path: Path) -> None:
    text = "from __future__ import annotations\nimport dataclasses, pickle\n@dataclasses.dataclass\nclass A:\n    x: int\n"
    text += "def k(x):\n    return x + pickle.loads(pickle.dumps(A(1))).x\n"
    assert _expected(tmp_path, text, SINGLE, SINGLE_CASE)["z"].tolist() == [1, 2, 3]


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e5m2", "float16", "int8", "bool", "uint64"])
def test_every_dtype_goes_there_and_back(tmp_path: Path, dtype: str) -> None:
    tensors = {
        "x": TensorCase(shape=(3,), dtype=dtype, fill="ones"),
        "z": TensorCase(shape=(3,), dtype=dtype, fill="sentinel"),
    }
    found = _expected(tmp_path, "def k(x):\n    return x\n", SINGLE, replace(SINGLE_CASE, tensors=tensors))["z"]
    assert (str(found.dtype), found.astype(float).tolist()) == (dtype, [1, 1, 1])


@pytest.mark.parametrize("dtype", [">i4", ">f8", "float128", "bool", "uint64"])
def test_any_array_of_numbers_may_come_back(tmp_path: Path, dtype: str) -> None:
    text = f"import numpy as np\ndef k(x):\n    return np.array([[1, 0, 1]], dtype='{dtype}').T[:, 0]\n"
    assert _expected(tmp_path, text, SINGLE, SINGLE_CASE)["z"].tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def k(x):\n    return x +\n", "ops/add/reference.py:2:15: the reference cannot be loaded: SyntaxError"),
        ("import nothing_like_it\n", "ops/add/reference.py:1: the reference cannot be loaded: ModuleNotFoundError"),
        ("import sys\nsys.exit(0)\n", "ops/add/reference.py:2: the reference cannot be loaded: SystemExit: 0"),
        ("\ndef k(x):\n    y = 1\n    return x[9]\n", "ops/add/reference.py:4: the reference fails in case 'two': IndexError"),
        (
            "def k(x):\n    return f(x)\ndef f(x):\n    raise ValueError('no')\n",
            "reference.py:4: the reference fails in case 'two': ValueError: no",
        ),
        ("def kk(x):\n    return x\n", "there is no function 'k' for the entry of that name\n  allowed: kk"),
        (
            "\ndef k(x, y):\n    return x\n",
            "ops/add/reference.py:2: the reference k() asks for 'y', which is no input\n  allowed: x",
        ),
        ("def k(x, /):\n    return x\n", "takes 'x' by position"),
        ("def k(x):\n    return {'q': x, 'z': x}\n", "returns the unknown 'q'"),
        ("def k(x):\n    return {}\n", "returns no 'z'"),
        ("def k(x):\n    return x[:2]\n", "the reference's 'z' has the shape [2], not [3]"),
        ("def k(x):\n    return 1\n", "the reference's 'z' has the shape [], not [3]"),
        ("def k(x):\n    return None\n", "the shape [], not [3]"),
        ("def k(x):\n    return ['a', 'b', 'c']\n", "is an array of <U1"),
        ("def k(x):\n    return [[1], [1, 2], []]\n", "the reference returns no array in case 'two'"),
        ("def k(x):\n    return x + 0.5\n", "has fractions, and the output is int8"),
        ("def k(x):\n    return x * float('nan')\n", "has fractions, and the output is int8"),
        ("def k(x):\n    return x.astype(int) + 127\n", "goes beyond int8: 127 to 129"),
    ],
)
def test_what_goes_wrong_names_the_place(tmp_path: Path, text: str, message: str) -> None:
    assert message in _failure(tmp_path, text, SINGLE, SINGLE_CASE)


def test_several_outputs_need_a_mapping(tmp_path: Path) -> None:
    assert "must return a mapping with acc, z, not ndarray" in _failure(tmp_path, "def add(x):\n    return x\n")


def test_files_of_other_bytes_are_no_crash(tmp_path: Path) -> None:
    path = tmp_path / "reference.py"
    for data in (b"\xff\xfe", b"a = 1\0"):
        path.write_bytes(data)
        with pytest.raises(TestFailure, match="cannot be loaded"):
            _served(path, SINGLE, SINGLE_CASE)
    with pytest.raises(TestFailure, match="cannot be loaded: FileNotFoundError"):
        _served(tmp_path / "none.py", SINGLE, SINGLE_CASE)


LIST = ParameterKind.TENSOR_LIST
SPLIT = Subject(
    name="split",
    kernel="split",
    arguments=(
        Argument(name="xs", kind=LIST, roles=(Role.INPUT,)),
        Argument(name="zs", kind=LIST, roles=(Role.OUTPUT,)),
    ),
)
SPLIT_CASE = Case(
    name="three",
    entry="split",
    tensors={},
    scalars={},
    structs={},
    lists={
        "xs": (TensorCase(shape=(2,), dtype="int8", fill="arange"), TensorCase(shape=(0,), dtype="int8", fill="ones")),
        "zs": (TensorCase(shape=(1,), dtype="int8", fill="sentinel"), TensorCase(shape=(2,), dtype="int8", fill="sentinel")),
    },
    at=CASE.at,
)


def test_lists_are_lists_of_arrays(tmp_path: Path) -> None:
    text = "def split(xs):\n    a, b = xs\n    return [a[:1] + b.size, [5, 6]]\n"
    found = _expected(tmp_path, text, SPLIT, SPLIT_CASE)
    assert {name: array.tolist() for name, array in found.items()} == {"zs[0]": [0], "zs[1]": [5, 6]}
    text = "def split(xs):\n    return {'zs': (each for each in ([1], [2, 3]))}\n"
    assert _expected(tmp_path, text, SPLIT, SPLIT_CASE)["zs[1]"].tolist() == [2, 3]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def split(xs):\n    return [[1]]\n", "reference.py:1: the reference's 'zs' has 1 tensors, not 2"),
        ("def split(xs):\n    return [[1], [2]]\n", "the reference's 'zs[1]' has the shape [1], not [2]"),
        ("def split(xs):\n    return 3\n", "the reference returns no array in case 'three': TypeError"),
        ("def split(xs):\n    return {'zs[0]': [1], 'zs[1]': [1, 2]}\n", "returns the unknown 'zs[0]'\n  allowed: zs"),
    ],
)
def test_what_goes_wrong_with_lists(tmp_path: Path, text: str, message: str) -> None:
    assert message in _failure(tmp_path, text, SPLIT, SPLIT_CASE)


@pytest.mark.parametrize("value", ["np.ma.masked_array(x, mask=[0, 1, 0])", "{'z': np.ma.masked_equal(x, 1)}"])
def test_a_mask_is_kept(tmp_path: Path, value: str) -> None:
    text = f"import numpy as np\ndef k(x):\n    return {value}\n"
    found = _expected(tmp_path, text, SINGLE, SINGLE_CASE)["z"]
    assert np.ma.getmaskarray(found).tolist() == [False, True, False]


def test_what_is_masked_may_be_anything(tmp_path: Path) -> None:
    text = "import numpy as np\ndef k(x):\n    return np.ma.masked_array([1.0, np.nan, 1e9], mask=[False, True, {}])\n"
    assert _expected(tmp_path, text.format(True), SINGLE, SINGLE_CASE)["z"].count() == 1
    assert _expected(tmp_path, text.format("True").replace("[False,", "[True,"), SINGLE, SINGLE_CASE)["z"].count() == 0
    assert "goes beyond int8" in _failure(tmp_path, text.format(False), SINGLE, SINGLE_CASE)


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        pytest.param("0.json", b"", "ended with status 0 in case 'two'", id="no-record"),
        pytest.param("0.json", b"[" * 100_000, "ended with status 0 in case 'two'", id="nested"),
        pytest.param("0.json", b'{"error": 3}', "ended with status 0 in case 'two'", id="no-error"),
        pytest.param("0.json", b'{"arrays": 3}', "'z' has the shape None, not [3]", id="no-arrays"),
        pytest.param("0.json", b'{"arrays": {"z": {"shape": [3]}}}', "an array of None", id="no-dtype"),
        pytest.param("0.json", b'{"arrays": {"z": {"shape": [3], "dtype": "object"}}}', "an array of object", id="objects"),
        pytest.param("0.json", b'{"arrays": {"z": {"shape": [3], "dtype": "int8"}}}', "left 0 bytes of 'z', not 3", id="no-data"),
        pytest.param("0.0.data", b"\0" * 13, "left 13 bytes of 'z', not 12", id="longer"),
        pytest.param("0.0.data", b"\0\0\xc0\x7f" * 3, "has fractions", id="nan"),
    ],
)
def test_nothing_is_believed_of_what_came_back(tmp_path: Path, name: str, data: bytes, message: str) -> None:
    path = tmp_path / "reference.py"
    path.write_text("def k(x):\n    return x\n", encoding="utf-8")
    reference = _served(path, SINGLE, SINGLE_CASE)
    (reference.folder / name).write_bytes(data)
    with pytest.raises(TestFailure) as caught:
        reference.expected(SINGLE_CASE, SINGLE)
    assert message in str(caught.value)
