"""A workspace of many operators, the same text for the same number."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ARCHS = ("dav-2201", "dav-3510")
SHARED = "ops/common/shared.h"
_SHARING = 4  # every fourth operator includes the shared header
_CALLS = ("Add", "Sub", "Mul", "Max", "Min")
_TYPES = ("float", "half", "int32_t")

_SHARED_HEADER = """\
#pragma once

// Elements that block `block` of `blocks` takes of `total`, whole units of `unit`.
__aicore__ inline uint32_t ShareOf(uint32_t total, uint32_t block, uint32_t blocks, uint32_t unit) {
    const uint32_t share = (total / unit + blocks - 1) / blocks * unit;
    const uint32_t start = share * block;
    return start >= total ? 0 : (total - start < share ? total - start : share);
}
"""

_KERNEL = """\
#include "kernel_operator.h"
%(include)s
constexpr uint32_t kTile = %(tile)d;

// z = %(call)s(x, y), tile by tile; the length is a multiple of the tile.
extern "C" __global__ __vector__ void %(name)s(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t length) {
    const uint32_t blocks = AscendC::GetBlockNum();
    const uint32_t block = AscendC::GetBlockIdx();
    const uint32_t share = (length / kTile + blocks - 1) / blocks * kTile;
    const uint32_t start = share * block;
    const uint32_t count = %(count)s;
    if (count == 0) {
        return;
    }
    AscendC::TPipe pipe;
    AscendC::TQue<AscendC::TPosition::VECIN, 2> left, right;
    AscendC::TQue<AscendC::TPosition::VECOUT, 2> out;
    pipe.InitBuffer(left, 2, kTile * sizeof(%(type)s));
    pipe.InitBuffer(right, 2, kTile * sizeof(%(type)s));
    pipe.InitBuffer(out, 2, kTile * sizeof(%(type)s));
    AscendC::GlobalTensor<%(type)s> first, second, result;
    first.SetGlobalBuffer((__gm__ %(type)s *)x + start, count);
    second.SetGlobalBuffer((__gm__ %(type)s *)y + start, count);
    result.SetGlobalBuffer((__gm__ %(type)s *)z + start, count);
    for (uint32_t done = 0; done < count; done += kTile) {
        AscendC::LocalTensor<%(type)s> a = left.AllocTensor<%(type)s>();
        AscendC::LocalTensor<%(type)s> b = right.AllocTensor<%(type)s>();
        AscendC::DataCopy(a, first[done], kTile);
        AscendC::DataCopy(b, second[done], kTile);
        left.EnQue(a);
        right.EnQue(b);
        a = left.DeQue<%(type)s>();
        b = right.DeQue<%(type)s>();
        AscendC::LocalTensor<%(type)s> c = out.AllocTensor<%(type)s>();
        AscendC::%(call)s(c, a, b, kTile);
        out.EnQue(c);
        left.FreeTensor(a);
        right.FreeTensor(b);
        c = out.DeQue<%(type)s>();
        AscendC::DataCopy(result[done], c, kTile);
        out.FreeTensor(c);
    }
}
"""

_CONTRACT = """\
schema_version: 1
entries:
  %(name)s:
    inputs: [x, y]
    outputs: [z]
    launch: {block_dim: %(blocks)d}
"""

_DECLARATION = """\
operator(
    name="%(name)s",
    srcs=["%(name)s.asc"],
    contract="contract.yaml",
    archs=["dav-2201", "dav-3510"],%(deps)s
)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchWorkspace:
    """`operators` are names, `sharing` those that include the shared header, `sample` the one that is edited and asked for."""

    root: Path
    operators: tuple[str, ...]

    @property
    def sharing(self) -> tuple[str, ...]:
        return self.operators[::_SHARING]

    @property
    def sample(self) -> str:
        return self.operators[min(7, len(self.operators) - 1)]

    def edit_kernel(self, name: str, edition: int) -> None:
        """Make the kernel another program. Each edition is another one, so that no cache knows it."""
        self._rewrite(f"ops/{name}/{name}.asc", "constexpr uint32_t kTile = ", f"constexpr uint32_t kTile = {4096 + edition};")

    def edit_contract(self, name: str, edition: int) -> None:
        """Change what a launch is given, which kernels do not see: only the operator's table becomes another one."""
        self._rewrite(f"ops/{name}/contract.yaml", "    launch: ", f"    launch: {{block_dim: {25 + edition}}}")

    def edit_shared(self, edition: int) -> None:
        self._rewrite(SHARED, "// ", f"// Edition {edition} of what a block takes.")

    def _rewrite(self, path: str, start: str, line: str) -> None:
        lines = (self.root / path).read_text().splitlines()
        place = next(number for number, text in enumerate(lines) if text.startswith(start))
        lines[place] = line
        (self.root / path).write_text("\n".join(lines) + "\n")


def make_workspace(root: Path, count: int) -> BenchWorkspace:
    """Write a workspace of `count` operators below `root`."""
    names = tuple(f"op_{number:04d}" for number in range(count))
    workspace = BenchWorkspace(root=root, operators=names)
    sharing = set(workspace.sharing)
    files = {
        "SConstruct": 'from skrules.scons import Workspace\n\nWorkspace(packages=["ops"])\n',
        "ops/common/SConscript": 'headers(name="common", hdrs=["shared.h"])\n',
        SHARED: _SHARED_HEADER,
    }
    for number, name in enumerate(names):
        shares = name in sharing
        values = {
            "name": name,
            "include": '\n#include "../common/shared.h"\n' if shares else "",
            "count": "ShareOf(length, block, blocks, kTile)" if shares else "start >= length ? 0 : min(length - start, share)",
            "deps": '\n    deps=["//ops/common"],' if shares else "",
            "tile": 256 + number % 8 * 64,
            "type": _TYPES[number % len(_TYPES)],
            "call": _CALLS[number % len(_CALLS)],
            "blocks": 1 + number % 24,
        }
        for file, text in ((f"{name}.asc", _KERNEL), ("contract.yaml", _CONTRACT), ("SConscript", _DECLARATION)):
            files[f"ops/{name}/{file}"] = text % values
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return workspace
