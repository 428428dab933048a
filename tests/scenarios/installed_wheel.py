"""Run by the Python of an environment under test: what torch itself checks of the operators of an installed wheel.

Its arguments are plans of `skrules.compare.torch_plan`. The first case of each entry goes through all of `torch.library.opcheck`,
as callers call the operator and as its launch, and through `torch.compile`, whose results must be those of an eager call.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

import torch

from skrules.compare.torch_worker import Arguments, bytes_of


def main(plans: list[Path]) -> dict[str, list[str]]:
    """Return the outcomes of the checks by operator."""
    importlib.import_module("skrules.hostnpu")
    importlib.import_module("op_extension")
    outcomes: dict[str, list[str]] = {}
    for plan in plans:
        for case in json.loads(plan.read_bytes())["cases"]:
            entry = case["entry"]
            if entry in outcomes:
                continue
            eager, compiled, *fresh = (Arguments(case, plan.parent, "npu", 0) for _ in range(4))
            for form, arguments in zip(("", "_"), fresh, strict=True):
                operator = getattr(torch.ops.ascendc_ops, entry + form).default
                results = torch.library.opcheck(operator, tuple(arguments.values))
                outcomes[entry + form] = [f"{name} {result}" for name, result in sorted(results.items())]
            call = getattr(torch.ops.ascendc_ops, entry).default
            call(*eager.values)
            torch.compile(lambda *values, call=call: call(*values), backend="aot_eager", fullgraph=True)(*compiled.values)
            same = all(bytes_of(tensor) == bytes_of(compiled.written[label]) for label, tensor in eager.written.items())
            outcomes[entry].append(f"aot_eager {'SUCCESS' if same else 'another result'}")
    return outcomes


if __name__ == "__main__":
    print(json.dumps(main([Path(name) for name in sys.argv[1:]])))
