"""The package of a build on the emulated npu: `torch.ops.ascendc_ops` eager, compiled, checked by torch, captured and fused."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="no torch in this environment")

ROOT = Path(__file__).parents[2]

BODY = """
def halfs(device):
    return [torch.randn(64).half().to(device) for _ in range(3)]

ops = torch.ops.ascendc_ops
for device in ("npu:0", "npu:1"):
    x, y, z = halfs(device)
    ops.add_custom(x, y, z, 64)
    assert torch.equal(z.cpu(), x.cpu() + y.cpu())
    assert set(torch.library.opcheck(ops.add_custom_.default, (x, y, z, 64)).values()) == {"SUCCESS"}
    twice = torch.compile(lambda x, y, z: ops.add_custom(x, y, z, 64) * 2, backend="aot_eager", fullgraph=True)
    assert torch.equal(twice(x, y, z), (x + y) * 2)
    graph = torch.npu.NPUGraph()
    with torch.npu.device(device), torch.npu.graph(graph):
        ops.add_custom(x, y, z, 64)
        ops.add_custom(z, y, z, 64)
    graph.super_kernel_optimize()
    x.fill_(1), y.fill_(2)
    graph.replay()
    assert set(z.tolist()) == {5.0}
    assert [node.super_kernel for node in skrules.hostnpu.report(graph)] == ["sk_0_none"] * 2
print("done")
"""

ORDERS = {
    "device first": "import torch, skrules.hostnpu, op_extension",
    "package first": "import torch, op_extension, skrules.hostnpu",
    "package used first": (
        "import torch, op_extension\n"
        "x = torch.ones(64).half()\n"
        "try: torch.ops.ascendc_ops.add_custom(x, x, x, 64)\n"
        "except ValueError as error: assert 'must be on the npu, got a tensor on cpu; `import skrules.hostnpu`' in str(error)\n"
        "import skrules.hostnpu"
    ),
}


@pytest.mark.usefixtures("npu")
@pytest.mark.parametrize("order", ORDERS)
def test_operators_of_a_package(op_extension: Path, order: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", f"{ORDERS[order]}\n{BODY}"],
        cwd=op_extension,
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), str(op_extension)))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
