"""Contract files, YAML and JSON: a contract, or an error of the user's families with a place in the file."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import strategies as st

from skrules.contract.load import load
from skrules.contract.model import Contract
from skrules.errors import SkrulesError
from tests.fuzz.mutations import mutated

_OPS = Path(__file__).parents[2] / "ops"
_FULL = b"""\
schema_version: 1
macros: {A: 1}
entries:
  first: z
  second:
    inputs: [x, y]
    outputs: [z]
    workspaces: [w]
    pybind_return_tensor: z
    launch: {block_dim: 4}
    sk: {mask: 4, num_splits: 2, with_sys_args: auto}
    compile: {defines: [A=1], options: ["-O2"]}
    parameters: {x: {kind: tensor, dtype: float16, rank: 2, nullable: true}, n: scalar}
    bind_target: "ns::second<half>"
    runtime_wrapper: {source: w.cpp, entry: run}
"""
_JSON = json.dumps(
    {"schema_version": 1, "entries": {"a": {"inputs": ["x"], "outputs": ["z"], "parameters": {"n": "scalar"}}}}, indent=1
).encode()
_YAML = (*(path.read_bytes() for path in sorted(_OPS.glob("*/contract.yaml"))), _FULL)

INPUTS = (
    st.tuples(st.just("contract.yaml"), mutated(_YAML))
    | st.tuples(st.just("contract.json"), mutated([_JSON]))
    | st.tuples(st.sampled_from(["contract.yaml", "contract.json"]), st.binary(max_size=300))
)


def check(given: tuple[str, bytes]) -> str:
    """Read one file; return what became of it."""
    name, data = given
    try:
        contract = load(data, name)
    except SkrulesError as error:
        assert error.exit_code == 2, error
        assert str(error).startswith("error: "), error
        assert name in str(error), error
        return "refused"
    assert isinstance(contract, Contract)
    return "read"
