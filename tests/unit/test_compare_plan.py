from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from skrules.compare.case import Case, TensorCase
from skrules.compare.cases import load_cases
from skrules.compare.inputs import make_inputs, make_tensor
from skrules.compare.numbers import COMPARABLE, numpy_dtype
from skrules.compare.plan import outputs_of, read_output, write_plan
from skrules.compare.subject import Argument, Subject
from skrules.contract.model import ParameterKind, Role
from skrules.errors import TestFailure

TENSOR = ParameterKind.TENSOR
SUBJECT = Subject(
    name="k",
    kernel="k",
    arguments=(
        Argument(name="x", kind=TENSOR, roles=(Role.INPUT,)),
        Argument(name="acc", kind=TENSOR, roles=(Role.INPUT, Role.OUTPUT)),
        Argument(name="z", kind=TENSOR, roles=(Role.OUTPUT,)),
        Argument(name="w", kind=TENSOR, roles=(Role.WORKSPACE,)),
        Argument(name="o", kind=TENSOR, roles=(Role.INPUT,), nullable=True),
        Argument(name="a", kind=ParameterKind.SCALAR, encoding="float16"),
        Argument(name="c", kind=ParameterKind.HOST_STRUCT, bytes=4),
    ),
)
CASES = """cases:
  - name: small
    block_dim: 3
    tensors:
      x: {shape: [2, 2], dtype: float16, values: 1}
      acc: {shape: [3], dtype: int32, values: arange}
      z: {shape: [4], dtype: bfloat16}
      w: {shape: [2], dtype: int8, initial: zeros}
      o: null
    scalars: {a: 1.5}
    structs: {c: [{uint32: 7}]}
"""

# What PCG64 gives for this seed: a change here changes the inputs of every operator.
PINNED = [377, 556, 990]


@pytest.fixture(name="case")
def _case() -> Case:
    return load_cases(CASES.encode(), "cases.yaml", [SUBJECT])[0]


def test_the_plan(case: Case, tmp_path: Path) -> None:
    plan = write_plan(tmp_path, [case, replace(case, name="again", blocks=0, super_kernel_blocks=9)], {"k": SUBJECT})
    assert plan.read_text().splitlines()[:10] == [
        "skrules-plan 2",
        "case small k 3",
        "tensor x 8 in inputs/small.x.bin 10 2x2",
        "tensor acc 12 inout inputs/small.acc.bin 6 3",
        "tensor z 8 out - 11 4",
        "tensor w 2 workspace inputs/small.w.bin 2 2",
        "null o",
        "scalar a 003e",
        "struct c 07000000",
        "end",
    ]
    assert "case again k 0\nsuper 9\n" in plan.read_text()
    assert (tmp_path / "inputs/small.x.bin").read_bytes() == bytes.fromhex("003c") * 4
    assert (tmp_path / "inputs/small.acc.bin").read_bytes() == np.arange(3, dtype="<i4").tobytes()
    assert (tmp_path / "inputs/small.w.bin").read_bytes() == b"\0\0"
    assert not (tmp_path / "inputs/small.z.bin").exists()


def test_plans_are_the_same_every_time(case: Case, tmp_path: Path) -> None:
    assert case.tensors["x"] is not None
    case = replace(case, tensors={**case.tensors, "x": replace(case.tensors["x"], fill="random", low=-1, high=1)})
    for folder in ("a", "b"):
        write_plan(tmp_path / folder, [case], {"k": SUBJECT})
    for path in (tmp_path / "a").rglob("*.*"):
        assert path.read_bytes() == (tmp_path / "b" / path.relative_to(tmp_path / "a")).read_bytes()


class TestInputs:
    def _tensor(self, case: Case, dtype: str, **fields: object) -> np.ndarray:
        return make_tensor(case, "x", TensorCase(shape=(1000,), dtype=dtype, **fields))  # type: ignore[arg-type]

    def test_random_depends_on_seed_entry_case_and_tensor_only(self, case: Case) -> None:
        tensor = TensorCase(shape=(64,), dtype="float32", low=-1, high=1)
        base = make_tensor(case, "x", tensor)
        others = [
            make_tensor(replace(case, seed=1), "x", tensor),
            make_tensor(replace(case, entry="j"), "x", tensor),
            make_tensor(replace(case, name="n"), "x", tensor),
            make_tensor(case, "y", tensor),
        ]
        assert np.array_equal(base, make_tensor(case, "x", tensor))
        assert not any(np.array_equal(base, other) for other in others)

    def test_the_stream_is_pinned(self, case: Case) -> None:
        found = make_tensor(case, "x", TensorCase(shape=(3,), dtype="int32", low=0, high=1000))
        assert found.tolist() == PINNED

    @pytest.mark.parametrize("dtype", COMPARABLE)
    def test_random_stays_in_range(self, case: Case, dtype: str) -> None:
        low, high = (0, 2) if dtype == "bool" else (0, 5)
        array = self._tensor(case, dtype, low=low, high=high)
        assert array.dtype == numpy_dtype(dtype) and array.shape == (1000,)
        values = array.astype(np.float64)
        assert values.min() >= low and values.max() <= high and len(np.unique(values)) > 1

    @pytest.mark.parametrize("dtype", ["int64", "uint64", "float32", "float64"])
    def test_the_whole_range(self, case: Case, dtype: str) -> None:
        info = np.finfo(dtype) if "float" in dtype else np.iinfo(dtype)
        top = float(info.max) if "float" in dtype else int(info.max) + 1
        values = self._tensor(case, dtype, low=info.min, high=top)
        assert np.isfinite(values.astype(np.float64)).all() and len(np.unique(values)) > 900

    @pytest.mark.parametrize(
        ("dtype", "period"), [("int8", 128), ("uint8", 256), ("bfloat16", 256), ("float16", 2048), ("bool", 2)]
    )
    def test_arange_starts_over_where_numbers_end(self, case: Case, dtype: str, period: int) -> None:
        values = self._tensor(case, dtype, fill="arange").astype(np.float64)
        assert np.array_equal(values, np.arange(1000) % period)

    def test_constants(self, case: Case) -> None:
        assert set(self._tensor(case, "int64", fill="constant", constant=-(1 << 63)).tolist()) == {-(1 << 63)}
        assert np.isnan(self._tensor(case, "float32", fill="constant", constant=float("nan"))).all()
        assert set(self._tensor(case, "bool", fill="ones").tolist()) == {True}

    def test_only_what_has_content(self, case: Case) -> None:
        assert set(make_inputs(case)) == {"x", "acc", "w"}


def test_outputs_and_their_files(case: Case, tmp_path: Path) -> None:
    outputs = dict(outputs_of(case, SUBJECT))
    assert list(outputs) == ["acc", "z"]
    (tmp_path / "small.acc.plain").write_bytes(np.array([1, 2, 3], dtype="<i4").tobytes())
    assert read_output(tmp_path, case, "acc", outputs["acc"], "plain").tolist() == [1, 2, 3]
    with pytest.raises(TestFailure, match=r"the sk run left no small\.acc\.sk"):
        read_output(tmp_path, case, "acc", outputs["acc"], "sk")
    (tmp_path / "small.acc.sk").write_bytes(b"123")
    with pytest.raises(TestFailure, match="has 3 bytes, not 12"):
        read_output(tmp_path, case, "acc", outputs["acc"], "sk")


LISTED = Subject(
    name="k",
    kernel="k",
    arguments=(
        Argument(name="xs", kind=ParameterKind.TENSOR_LIST, roles=(Role.INPUT,)),
        Argument(name="n", kind=ParameterKind.SCALAR, encoding="uint8"),
        Argument(name="zs", kind=ParameterKind.TENSOR_LIST, roles=(Role.OUTPUT,)),
        Argument(name="none", kind=ParameterKind.TENSOR_LIST, roles=(Role.INPUT,)),
    ),
)
LISTED_CASES = """cases:
  - name: c
    lists:
      xs: [{shape: [2, 3], dtype: float16, values: ones}, {shape: [], dtype: int8, values: 7}]
      zs: [{shape: [4], dtype: int8}, {shape: [0], dtype: int8}]
      none: []
    scalars: {n: 1}
"""


def test_lists_in_the_plan_and_their_files(tmp_path: Path) -> None:
    case = load_cases(LISTED_CASES.encode(), "cases.yaml", [LISTED])[0]
    plan = write_plan(tmp_path, [case], {"k": LISTED})
    assert plan.read_text().splitlines()[1:] == [
        "case c k 0",
        "list xs 2",
        "item 12 in inputs/c.xs[0].bin 10 2x3",
        "item 1 in inputs/c.xs[1].bin 2 -",
        "scalar n 01",
        "list zs 2",
        "item 4 out - 2 4",
        "item 0 out - 2 0",
        "list none 0",
        "end",
    ]
    assert (tmp_path / "inputs/c.xs[0].bin").read_bytes() == bytes.fromhex("003c") * 6
    assert (tmp_path / "inputs/c.xs[1].bin").read_bytes() == b"\x07"
    assert list(dict(outputs_of(case, LISTED))) == ["zs[0]", "zs[1]"]
    (tmp_path / "c.zs[0].sk").write_bytes(b"1234")
    assert read_output(tmp_path, case, "zs[0]", case.lists["zs"][0], "sk").tolist() == [49, 50, 51, 52]


def test_the_tensors_of_a_list_differ() -> None:
    xs = "{shape: [64], dtype: int8}, {shape: [64], dtype: int8}"
    text = f"cases: [{{name: c, lists: {{xs: [{xs}], zs: [], none: []}}, scalars: {{n: 1}}}}]"
    made = make_inputs(load_cases(text.encode(), "cases.yaml", [LISTED])[0])
    assert list(made) == ["xs[0]", "xs[1]"] and not np.array_equal(made["xs[0]"], made["xs[1]"])
