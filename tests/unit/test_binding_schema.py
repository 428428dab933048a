"""Schemas of entries: what torch reads, for every kind of parameter."""

from __future__ import annotations

import json

import pytest

from skrules.binding.schema import launch_schema_of, render_entries, schema_of
from skrules.contract.entry import Entry, EntryParameter
from skrules.contract.model import EntryContract, ParameterKind, Role, RuntimeWrapper
from skrules.errors import Location
from skrules.source.model import CoreType, Kernel, KernelType, Span

NOWHERE = Span(start=0, end=0)
IN, OUT, WORK = (Role.INPUT,), (Role.OUTPUT,), (Role.WORKSPACE,)
TENSOR, LIST, SCALAR, STRUCT = ParameterKind.TENSOR, ParameterKind.TENSOR_LIST, ParameterKind.SCALAR, ParameterKind.HOST_STRUCT


def parameter(name: str, kind: ParameterKind = TENSOR, c_type: str = "GM_ADDR", **more: object) -> EntryParameter:
    return EntryParameter(name=name, c_type=c_type, kind=kind, **more)  # type: ignore[arg-type]


def entry(*parameters: EntryParameter, returns: str = "", wrapper: RuntimeWrapper | None = None) -> Entry:
    kernel = Kernel(
        name="k", namespaces=(), qualifiers=(), type=KernelType(core=CoreType.VECTOR), parameters=(), template_parameters=None,
        span=NOWHERE, name_span=NOWHERE, parameter_span=NOWHERE, body=NOWHERE, line=1, column=1, conditions=(),
    )  # fmt: skip
    return Entry(
        name="k",
        kernel=kernel,
        contract=EntryContract(name="k", runtime_wrapper=wrapper, at=Location(file="contract.yaml")),
        parameters=parameters,
        bind_target="k",
        return_parameter=returns,
    )


@pytest.mark.parametrize(
    ("given", "argument"),
    [
        (parameter("x", roles=IN), "Tensor x"),
        (parameter("x", roles=OUT), "Tensor(a0!) x"),
        (parameter("x", roles=WORK), "Tensor(a0!) x"),
        (parameter("x", roles=(Role.INPUT, Role.OUTPUT)), "Tensor(a0!) x"),
        (parameter("x", roles=IN, nullable=True), "Tensor? x"),
        (parameter("x", roles=OUT, nullable=True), "Tensor(a0!)? x"),
        (parameter("x", LIST, roles=IN), "Tensor[] x"),
        (parameter("x", LIST, roles=OUT), "Tensor(a0!)[] x"),
        (parameter("x", STRUCT, "const Tiling"), "int[] x"),
        (parameter("in"), "Tensor in_"),
        (parameter("self"), "Tensor self"),
    ],
    ids=str,
)
def test_an_argument(given, argument):
    assert schema_of(entry(given)) == launch_schema_of(entry(given)) == f"({argument}) -> ()"


@pytest.mark.parametrize(
    ("c_type", "dtype", "kind"),
    [
        *((c_type, "", "int") for c_type in ("int8_t", "const uint32_t", "unsigned long", "size_t", "char")),
        *((c_type, "", "float") for c_type in ("float", "double", "half", "bfloat16_t", "const float &")),
        ("bool", "", "bool"),
        ("Mode", "int32", "int"),
        ("Factor", "float16", "float"),
        ("Unknown", "", "Scalar"),
    ],
)
def test_a_scalar(c_type, dtype, kind):
    assert schema_of(entry(parameter("n", SCALAR, c_type, dtype=dtype))) == f"({kind} n) -> ()"


def test_a_name_that_is_free():
    assert schema_of(entry(parameter("in"), parameter("in_"))) == "(Tensor in__, Tensor in_) -> ()"


def test_what_is_returned():
    one = entry(parameter("x", roles=IN), parameter("z", roles=OUT), parameter("n", SCALAR, "int"), returns="z")
    assert schema_of(one) == "(Tensor x, Tensor(a1!) z, int n) -> Tensor(a1!)"
    assert launch_schema_of(one) == "(Tensor x, Tensor(a1!) z, int n) -> ()"
    read = entry(parameter("x", roles=IN, nullable=True), parameter("z", roles=OUT), returns="x")
    assert schema_of(read) == "(Tensor(a0)? x, Tensor(a1!) z) -> Tensor(a0)?"
    assert launch_schema_of(read) == "(Tensor? x, Tensor(a1!) z) -> ()"


def test_the_table_of_an_operator():
    prepared = RuntimeWrapper(source="w.cpp", entry="run", prepare_entry="prepare", descriptor_bytes=64)
    one = entry(parameter("z", c_type="__gm__\n  half *", roles=WORK, dtype="float16", rank=2), returns="z", wrapper=prepared)
    table = json.loads(render_entries("many", [one]))
    assert table == {
        "format": 1,
        "operator": "many",
        "entries": {
            "k": {
                "schema": "(Tensor(a0!) z) -> Tensor(a0!)",
                "launch_schema": "(Tensor(a0!) z) -> ()",
                "returned": 0,
                "prepares": True,
                "parameters": [
                    {"name": "z", "c_type": "__gm__ half *", "kind": "tensor", "nullable": False, "dtype": "float16", "rank": 2}
                ],
            }
        },
    }
    assert json.loads(render_entries("none", [entry()]))["entries"]["k"]["returned"] is None
