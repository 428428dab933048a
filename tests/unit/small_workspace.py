"""A workspace of two operators that share headers, for tests of the commands that look at one."""

from __future__ import annotations

from pathlib import Path

FILES = {
    "SConstruct": 'from skrules.scons import Workspace\n\nWorkspace(packages=["ops"])\n',
    "ops/common/SConscript": 'headers(name="common", hdrs=["tiling.h", "math.h"])\n',
    "ops/common/tiling.h": '#pragma once\n#include "math.h"\n',
    "ops/common/math.h": "#pragma once\n",
    "ops/add/SConscript": (
        'operator(name="add", srcs=["add.asc"], contract="contract.yaml", archs=["dav-2201", "dav-3510"],\n'
        '         cases="cases.yaml", deps=["//ops/common"], defines=["FAST=1"])\n'
    ),
    "ops/add/add.asc": '#include "kernel_operator.h"\n#include "../common/tiling.h"\n',
    "ops/add/contract.yaml": "{}\n",
    "ops/add/cases.yaml": "{}\n",
    "ops/add/reference.py": "",
    "ops/scale/SConscript": 'operator(name="scale", srcs=["scale.asc"], archs=["dav-2201"], options=["-Iops/extra"])\n',
    # Includes what it does not declare: by its own path, and through the folder of its options.
    "ops/scale/scale.asc": '#include "own.h"\n#include <far.h>\n// #include "../common/tiling.h"\n',
    "ops/scale/own.h": '#include "../common/math.h"\n',
    "ops/extra/far.h": "",
    "ops/extra/unused.h": "",
}


def write_workspace(root: Path, **more: str) -> Path:
    """Write the workspace into `root` and return it; `more` are further files, or other texts for them."""
    for name, text in {**FILES, **more}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root
