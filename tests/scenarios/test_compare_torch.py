"""`scons compare BACKEND=torch`: the same cases and verdicts, through torch on the emulated npu."""

from __future__ import annotations

import importlib.util
import json
import os

import pytest

from skrules.toolchain.cache import root as cache_root

HAS_TORCH = importlib.util.find_spec("torch") is not None
needs_torch = pytest.mark.skipif(not HAS_TORCH, reason="operators are called through torch, which is not there")
COMPARE = ("compare", "ops/scale", "ARCH=dav-2201")
THROUGH_TORCH = (*COMPARE, "BACKEND=torch")
RUN = "COMPARE dav-2201 //ops/scale"
MORE = """  - name: fewer_blocks
    block_dim: 2
    tensors:
      x: {shape: [64], dtype: float32}
      y: {shape: [64], dtype: float32}
    scalars: {factor: 1.5, length: 64}
"""


@pytest.fixture
def through_torch(workspace, session_cache):
    """The npu of torch takes half a minute to compile: it is taken from the user's own cache, and nothing else is."""
    kept, here = cache_root(os.environ) / "host-npu", session_cache / "host-npu"
    if not here.exists():
        kept.mkdir(parents=True, exist_ok=True)
        here.symlink_to(kept)
    return workspace


def verdict_of(workspace, name="compare-torch/dav-2201/ops/scale/verdict.json"):
    return json.loads((workspace.root / "build/host" / name).read_text())


@needs_torch
def test_a_verdict_through_torch(through_torch):
    run = through_torch.scons(*THROUGH_TORCH)
    assert run.status == 0, run.output
    shared = [
        "ASC dav-2201 //skrules:compare",
        "BINDING //toolchain:binding",
        "PACKAGE //skrules:package",
        "RUNTIME //toolchain:host",
    ]
    own = ["ADAPT //ops/scale", "ASC dav-2201 //ops/scale", "LINK dav-2201 //ops/scale", "LINK dav-2201 //ops/scale", RUN]
    assert run.actions == sorted([*shared, *own])
    assert "1 result: 1 passed" in run.output
    again = through_torch.scons(*THROUGH_TORCH)
    assert (again.actions, "(cached) PASSED" in again.output) == ([], True)
    plain = through_torch.scons(*COMPARE)
    assert (plain.status, plain.actions) == (0, [RUN]), plain.output
    told, other = verdict_of(through_torch), verdict_of(through_torch, "compare/dav-2201/ops/scale/verdict.json")
    assert told.keys() == other.keys() and told["reference"] == "file"
    (case,), (same,) = told["cases"], other["cases"]
    assert case.keys() == same.keys() and case["tensors"] == same["tensors"]
    assert case["evidence"]["twin_ran"] and case["evidence"]["super_kernel"] == "sk_0_skrules_compare"


@needs_torch
def test_cases_that_no_call_can_run_are_left_out_and_told(through_torch):
    with (through_torch.root / "ops/scale/cases.yaml").open("a") as file:
        file.write(MORE)
    run = through_torch.scons(*THROUGH_TORCH)
    assert run.status == 0, run.output
    assert "(1 case; 1 left out; max abs err 0)" in run.output
    (why,) = verdict_of(through_torch)["left_out"]
    assert why == "case 'fewer_blocks' is not run: it has block_dim 2; a call through torch has the contract's number of blocks"
    through_torch.edit("ops/scale/cases.yaml", "    seed: 3\n", "    block_dim: 1\n")
    run = through_torch.scons(*THROUGH_TORCH)
    assert run.status == 3
    assert "entry 'scale' has no case" in run.output and "case 'small' is not run: it has block_dim 1" in run.output


@needs_torch
def test_what_is_wrong_is_told_as_ever(through_torch):
    through_torch.edit("ops/scale/reference.py", "* factor", "+ factor")
    run = through_torch.scons(*THROUGH_TORCH)
    assert run.status == 3
    assert "case 'small': 'y': the plain run differs from the reference in " in run.output
    through_torch.edit("ops/scale/reference.py", "+ factor", "* factor")
    through_torch.edit("ops/scale/scale.asc", "(__gm__ float *)y + start", "(__gm__ float *)y + start + 64")
    run = through_torch.scons(*THROUGH_TORCH)
    assert run.status == 3
    assert "case 'small': plain failed: scale: run_scale(): the kernel failed with error " in run.output


@pytest.mark.skipif(HAS_TORCH, reason="torch is there")
def test_without_torch(workspace):
    run = workspace.scons(*THROUGH_TORCH)
    assert (run.status, run.actions) == (4, [])
    assert (
        "BACKEND=torch calls operators through PyTorch, and there is none in this Python\n  hint: pip install torch" in run.output
    )


def test_for_a_device(bisheng_workspace):
    run = bisheng_workspace.scons(*THROUGH_TORCH, "TOOLCHAIN=bisheng")
    assert (run.status, run.actions) == (4, [])
    assert "BACKEND=torch compares on the emulated npu, and bisheng builds for a device\n  hint: TOOLCHAIN=host" in run.output
