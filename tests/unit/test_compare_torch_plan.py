"""The plan of calls through torch: arguments in order, and cases that no such call can run."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from skrules.compare.case import Case, TensorCase
from skrules.compare.subject import Argument, Subject
from skrules.compare.torch_plan import callable_through_torch, write_torch_plan
from skrules.contract.model import ParameterKind, Role
from skrules.errors import Location

ENTRY = Subject(
    name="mix",
    kernel="mix<half>",
    blocks=4,
    arguments=(
        Argument(name="x", kind=ParameterKind.TENSOR, roles=(Role.INPUT,)),
        Argument(name="bias", kind=ParameterKind.TENSOR, roles=(Role.INPUT,), nullable=True),
        Argument(name="xs", kind=ParameterKind.TENSOR_LIST, roles=(Role.INPUT,)),
        Argument(name="y", kind=ParameterKind.TENSOR, roles=(Role.OUTPUT,)),
        Argument(name="scale", kind=ParameterKind.SCALAR, encoding="float16"),
        Argument(name="tiling", kind=ParameterKind.HOST_STRUCT, bytes=3),
    ),
)
HALF = TensorCase(shape=(2,), dtype="float16", fill="ones")
CASE = Case(
    name="one",
    entry="mix",
    blocks=4,
    tensors={"x": HALF, "bias": None, "y": replace(HALF, fill="sentinel")},
    lists={"xs": (HALF, replace(HALF, shape=(0, 2)))},
    scalars={"scale": 0.5},
    structs={"tiling": bytes((1, 2, 255))},
    at=Location(file="cases.yaml"),
)


def test_arguments_are_in_the_order_of_the_kernel(tmp_path):
    plan = write_torch_plan(tmp_path, [CASE], {"mix": ENTRY}, device="npu:1")
    made = json.loads(plan.read_text())
    (case,) = made["cases"]
    assert (made["package"], made["device"], case["name"], case["entry"]) == ("op_extension", "npu:1", "one", "mix")
    x, none, items, y, scale, tiling = case["arguments"]
    assert x == {
        "kind": "tensor",
        "label": "x",
        "use": "in",
        "dtype": "float16",
        "shape": [2],
        "file": "inputs/one.x.bin",
    }
    assert (tmp_path / x["file"]).read_bytes() == bytes.fromhex("003c003c")
    assert none == {"kind": "none"}
    assert [item["label"] for item in items["items"]] == ["xs[0]", "xs[1]"]
    assert (tmp_path / items["items"][1]["file"]).read_bytes() == b""
    assert (y["use"], y["file"]) == ("out", "")
    assert (scale, tiling) == ({"kind": "value", "value": 0.5}, {"kind": "value", "value": [1, 2, 255]})


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({}, ""),
        ({"blocks": 3}, "block_dim 3; a call through torch has the contract's number of blocks"),
        ({"super_kernel_blocks": 8}, "super_kernel_blocks 8; a call through torch has no say in it"),
    ],
)
def test_what_a_call_through_torch_cannot_choose(change, why):
    assert callable_through_torch(replace(CASE, **change), ENTRY) == why
