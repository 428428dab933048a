"""What the package says of an entry: its schemas, and the document that carries it."""

from __future__ import annotations

import pytest

from skrules.aclgraph.entry import PackageEntry, PackageParameter, package_parameter
from skrules.contract.entry import EntryParameter
from skrules.contract.model import ParameterKind, Role

X = PackageParameter(name="x", c_type="GM_ADDR", kind=ParameterKind.TENSOR, roles=(Role.INPUT,), dtype="float16", rank=2)
Z = PackageParameter(name="z", c_type="GM_ADDR", kind=ParameterKind.TENSOR, roles=(Role.OUTPUT,), nullable=True)
LIST = PackageParameter(name="list", c_type="GM_ADDR", kind=ParameterKind.TENSOR_LIST, roles=(Role.OUTPUT,))


def scalar(name: str, dtype: str) -> PackageParameter:
    return PackageParameter(name=name, c_type="", kind=ParameterKind.SCALAR, dtype=dtype)


def entry(*parameters: PackageParameter, returned: str = "") -> PackageEntry:
    return PackageEntry(name="op", csrc_file="csrc/op.asc", parameters=parameters, returned=returned)


def test_schemas() -> None:
    made = entry(X, Z, LIST, scalar("import", "float32"), scalar("flag", "bool"), scalar("n", "uint8"), returned="z")
    assert made.schema == "op(Tensor x, Tensor? z, Tensor[] list, float import_, bool flag, int n) -> Tensor"
    assert made.launch_schema == (
        "op.launch(Tensor x, Tensor(a0!)? z, Tensor(a1!)[] list, float import_, bool flag, int n) -> ()"
    )
    assert (made.return_index, made.pybind_file) == (1, "csrc/pybind11_op.asc")
    assert entry(scalar("n", "int32")).schema == "op(int n) -> ()"


@pytest.mark.parametrize(("parameters", "has_device"), [((X,), True), ((Z,), False), ((LIST,), False), ((), False)])
def test_a_device_needs_a_tensor_in_every_call(parameters: tuple[PackageParameter, ...], has_device: bool) -> None:
    assert entry(*parameters).has_device == has_device


@pytest.mark.parametrize("parameter", [X, Z, LIST, scalar("n", "int64")])
def test_the_document_gives_the_same_back(parameter: PackageParameter) -> None:
    assert PackageParameter.from_json(parameter.to_json()) == parameter


def test_the_encoding_of_a_scalar_is_that_of_its_type() -> None:
    known = EntryParameter(name="n", c_type="unsigned short", kind=ParameterKind.SCALAR, dtype="int64")
    named = EntryParameter(name="n", c_type="Mode", kind=ParameterKind.SCALAR, dtype="int8")
    assert (package_parameter(known).dtype, package_parameter(named).dtype) == ("uint16", "int8")


def test_a_word_of_schemas_gets_a_name_that_no_other_argument_has() -> None:
    assert entry(scalar("in", "int32"), scalar("in_", "int32")).schema == "op(int in__, int in_) -> ()"
