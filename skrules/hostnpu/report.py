"""What became of a captured graph: the super kernels of the emulated SK runtime. A device tells nothing of the kind."""

from __future__ import annotations

import ctypes
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from skrules.hostnpu import acl

if TYPE_CHECKING:
    from skrules.hostnpu.graphs import NPUGraph


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedKernel:
    """One node of a graph, in the order of capture.

    `super_kernel` is the launch that it is a part of, "" where it is launched alone, and `reason` then says why. `twin_runs`
    counts the cores that ran its SK function in the last replay.
    """

    kernel: str
    scope: str
    fused: bool
    super_kernel: str
    blocks: int
    sk_blocks: int
    reason: str
    twin_runs: int


def report(graph: NPUGraph) -> tuple[ReportedKernel, ...]:
    """Return the nodes of a captured graph. Raises RuntimeError for a graph that holds nothing."""
    text = acl.library().skrules_host_sk_report(ctypes.c_void_p(graph.model()))
    if text is None:
        raise RuntimeError("the graph was not captured, or was reset")
    return tuple(ReportedKernel(**node) for node in json.loads(text))
