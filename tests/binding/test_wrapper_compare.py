"""Runtime wrappers on the host SK runtime: what a captured path may hold, and how each misuse is told.

One operator with an entry for each way to write a wrapper, built and compared by the real `scons`. Needs no torch.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

# Copies 16 halves from where the descriptor says to `out`; WAY 3 then writes over the descriptor.
KERNEL = """#include "kernel_operator.h"

template <int WAY> __global__ __vector__ void copy(GM_ADDR xs, GM_ADDR out, GM_ADDR scratch)
{
    AscendC::TPipe pipe;
    AscendC::TQueBind<AscendC::TPosition::VECIN, AscendC::TPosition::VECOUT, 1> queue;
    pipe.InitBuffer(queue, 1, 32);
    AscendC::GlobalTensor<uint64_t> descriptor;
    descriptor.SetGlobalBuffer((__gm__ uint64_t *)xs, 4);
    AscendC::GlobalTensor<half> from, to, back;
    from.SetGlobalBuffer((__gm__ half *)descriptor.GetValue(0), 16);
    to.SetGlobalBuffer((__gm__ half *)out, 16);
    back.SetGlobalBuffer((__gm__ half *)xs, 16);
    if (AscendC::GetBlockIdx() != 0) return;
    AscendC::LocalTensor<half> tile = queue.AllocTensor<half>();
    AscendC::DataCopy(tile, from, 16);
    queue.EnQue(tile);
    tile = queue.DeQue<half>();
    AscendC::DataCopy(WAY == 3 ? back : to, tile, 16);
    if (WAY == 3) AscendC::DataCopy(to, tile, 16);
    queue.FreeTensor(tile);
}
"""
RUN = "const skrules_launch &launch, const skrules_list &xs, const skrules_tensor &out, const skrules_tensor &scratch"
LAUNCH = (
    "copy<{way}><<<launch.blocks, nullptr, launch.stream>>>"
    "((GM_ADDR)launch.descriptor, (GM_ADDR)out.address, (GM_ADDR)scratch.address);"
)
PREPARE = "static_cast<uint64_t *>(prepare.descriptor)[0] = reinterpret_cast<uint64_t>(xs.items[0].address);"
# Entry -> (body of run, body of prepare, bytes of the workspace in its case).
WAYS: Mapping[str, tuple[str, str, int]] = {
    "good": (LAUNCH, PREPARE, 64),
    "twice": (LAUNCH + LAUNCH, PREPARE, 64),
    "never": ("", PREPARE, 64),
    "overwrites": (LAUNCH, PREPARE, 64),
    "refuses": ('return skrules_refuse("%u tensors are too many", xs.count);', PREPARE, 64),
    "refuses_early": (LAUNCH, 'return "not on a Monday";', 64),
    "small": (LAUNCH, PREPARE, 31),
    "late": (
        "static uint64_t number; number = reinterpret_cast<uint64_t>(xs.items[0].address);"
        "aclrtMemcpyAsync(launch.descriptor, 32, &number, 8, ACL_MEMCPY_HOST_TO_DEVICE, launch.stream);" + LAUNCH,
        "",
        64,
    ),
    "forgets": (LAUNCH, "", 64),
}


def write_operator(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "SConscript").write_text(
        'operator(name="ways", srcs=["ways.asc"], contract="contract.yaml", archs=["dav-2201"], cases="cases.yaml")\n'
    )
    (folder / "ways.asc").write_text(KERNEL)
    functions, entries, cases = [], {}, []
    for way, (name, (run, prepare, workspace)) in enumerate(WAYS.items()):
        body = run.format(way=way) if "{way}" in run else run
        functions += [
            f"const char *{name}_run({RUN}) {{ (void)launch, (void)xs, (void)out, (void)scratch; {body} return nullptr; }}",
            f"const char *{name}_prepare({RUN.replace('launch', 'prepare')}) "
            f"{{ (void)prepare, (void)xs, (void)out, (void)scratch; {prepare} return nullptr; }}",
        ]
        entries[name] = {
            "inputs": ["xs"],
            "outputs": ["out"],
            "workspaces": ["scratch"],
            "bind_target": f"copy<{way}>",
            "launch": {"block_dim": 2},
            "parameters": {"xs": {"kind": "tensor_list", "dtype": "float16"}, "out": {"kind": "tensor", "dtype": "float16"}},
            "runtime_wrapper": {
                "source": "host/wrapper.cpp",
                "entry": f"{name}_run",
                "tensor_list_descriptor_strategy": "prepared_workspace_tail",
                "prepare_entry": f"{name}_prepare",
                "descriptor_bytes": 32,
                "descriptor_order": ["xs"],
            },
        }
        cases.append(
            {
                "name": name,
                "entry": name,
                "tensors": {"out": {"shape": [16]}, "scratch": {"bytes": workspace}},
                "lists": {"xs": [{"shape": [16], "values": "arange"}, {"shape": [3]}]},
            }
        )
    head = '#include "acl/acl.h"\n#include "skrules_wrapper.h"\n#include "beside.h"\nnamespace ascendc_ops {\n'
    (folder / "host").mkdir()
    (folder / "host" / "beside.h").write_text("#pragma once\n")
    (folder / "host" / "wrapper.cpp").write_text(head + "\n".join(functions) + "\n}\n")
    (folder / "contract.yaml").write_text(json.dumps({"entries": entries}))
    (folder / "cases.yaml").write_text(json.dumps({"cases": cases}))
    (folder / "reference.py").write_text("".join(f"def {name}(xs): return xs[0]\n" for name in WAYS))


class Workspace:
    def __init__(self, root: Path, environment: dict[str, str]) -> None:
        self.root = root
        self.environment = environment

    def scons(self, *words: str) -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, "-m", "SCons", "-Q", *words],
            cwd=self.root,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )
        return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    if shutil.which("g++") is None:
        pytest.skip("no g++")
    root = tmp_path_factory.mktemp("ways")
    (root / "SConstruct").write_text('from skrules.scons import Workspace\nWorkspace(packages=["ops"])\n')
    write_operator(root / "ops" / "ways")
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR", "CXX", "PYTHONPATH") if name in os.environ}
    cache = os.environ.get("SKRULES_CACHE", str(tmp_path_factory.mktemp("cache")))
    return Workspace(root, {**kept, "SKRULES_CACHE": cache, "PYTHONDONTWRITEBYTECODE": "1"})


@pytest.fixture(scope="module")
def verdicts(workspace: Workspace) -> dict[str, dict[str, Any]]:
    """The verdict on each case by its name."""
    status, output = workspace.scons("compare", "ops/ways", "TOOLCHAIN=host")
    assert status == 3, output
    path = workspace.root / "build/host/compare/dav-2201/ops/ways/verdict.failed.json"
    return {case["case"]: case for case in json.loads(path.read_text())["cases"]}


def test_a_good_wrapper_passes_with_one_node_that_ran_as_its_twin(verdicts: dict[str, dict[str, Any]]) -> None:
    good = verdicts["good"]
    assert good["status"] == "passed", good
    nodes = json.loads(good["evidence"]["detail"])
    assert [node["kernel"] for node in nodes] == ["skrules_companion", "copy", "skrules_companion"]
    assert nodes[1]["fused"] and nodes[1]["twin_runs"] == 2 and good["evidence"]["twin_ran"]


@pytest.mark.parametrize(
    ("case", "message"),
    [
        ("twice", "capture failed: the captured path launches 2 kernels; it must launch exactly one"),
        ("never", "capture failed: the captured path launches 0 kernels; it must launch exactly one"),
        ("overwrites", "plain failed: the descriptors at the end of the workspace are not what was prepared"),
        ("refuses", "launch failed: 2 tensors are too many"),
        ("refuses_early", "prepare failed: not on a Monday"),
        ("small", "prepare failed: 'scratch' has 31 bytes, too few for 32 bytes of descriptors at its end"),
        ("late", "the descriptors at the end of the workspace are not what was prepared"),
        ("forgets", "plain failed: the kernel returned 507015: [copy AIV block 0.0"),
    ],
)
def test_misuse_is_told(verdicts: dict[str, dict[str, Any]], case: str, message: str) -> None:
    verdict = verdicts[case]
    assert verdict["status"] == "failed"
    assert message in "\n".join(verdict["messages"]), verdict


def test_a_wrapper_edit_is_noticed_and_one_of_its_header_too(workspace: Workspace, verdicts: dict[str, dict[str, Any]]) -> None:
    assert verdicts
    folder = workspace.root / "ops/ways"
    source = folder / "host/wrapper.cpp"
    actions = re.compile(r"^\[(\w+)", re.M)
    status, output = workspace.scons("ops/ways", "TOOLCHAIN=host")
    assert status == 0 and not {"ADAPT", "ASC"} & set(actions.findall(output)), output
    source.write_text(source.read_text() + "// edited\n")
    status, output = workspace.scons("ops/ways", "TOOLCHAIN=host")
    assert status == 0 and {"ADAPT", "ASC"} <= set(actions.findall(output)), output
    (folder / "host/beside.h").write_text("#pragma once\n// edited\n")
    status, output = workspace.scons("ops/ways", "TOOLCHAIN=host")
    assert status == 0 and "ASC" in actions.findall(output), output
    source.write_text(source.read_text().replace("const skrules_list &xs", "const skrules_tensor &xs", 1))
    status, output = workspace.scons("ops/ways", "TOOLCHAIN=host")
    assert status == 1
    assert (
        "good: the runtime wrapper must be: const char *good_run(const skrules_launch &launch, const skrules_list &xs" in output
    )
    source.unlink()
    status, output = workspace.scons("ops/ways", "TOOLCHAIN=host")
    assert status == 5
    assert "there is no file 'host/wrapper.cpp' [codegen.runtime-wrapper-source-missing]" in output
