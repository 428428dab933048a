"""`torch.npu.super_kernel_scope_begin/end`: which part of a captured graph becomes a super kernel.

As in torch_npu (https://github.com/Ascend/pytorch 9e73e708, torch_npu/npu/graphs.py) they are operators, `torch.ops.npu.*`, so
that a traced program keeps them, and nothing is fused before `NPUGraph.super_kernel_optimize`. Serving code calls them around
the whole model inside of `torch.npu.graph` (vllm-ascend, vllm_ascend/worker/v2/utils.py).
"""

from __future__ import annotations

import functools

import torch
from torch.fx.node import has_side_effect

from skrules.hostnpu import acl
from skrules.hostnpu.devices import current_device

_OPERATORS = {"super_kernel_scope_begin": "aclskScopeBegin", "super_kernel_scope_end": "aclskScopeEnd"}


def super_kernel_scope_begin(scope_name: str | None = None) -> None:
    """Begin a scope on the current stream; None begins one in which nothing is fused.

    Outside of a capture it has no effect. Raises RuntimeError for a blank name, one with a NUL, or one of more than
    255 bytes.
    """
    torch.ops.npu.super_kernel_scope_begin(scope_name)


def super_kernel_scope_end(scope_name: str | None = None) -> None:
    """End the scope of that name. Raises RuntimeError where none was begun in this capture."""
    torch.ops.npu.super_kernel_scope_end(scope_name)


@functools.cache
def define() -> torch.library.Library:
    """Define both operators, once; they are there as long as the returned library is."""
    library = torch.library.Library("npu", "FRAGMENT")
    for name, function in _OPERATORS.items():
        library.define(f"{name}(str? scope_name=None) -> ()")
        library.impl(name, functools.partial(_mark, function), "BackendSelect")
        torch.library.register_fake(f"npu::{name}", _nothing, lib=library)
        has_side_effect(getattr(torch.ops.npu, name).default)
    return library


def _nothing(scope_name: str | None = None) -> None:
    """What both make of a program that is only traced."""


def _mark(function: str, scope_name: str | None = None) -> None:
    if scope_name is not None and not scope_name.strip():
        raise RuntimeError("scope_name should be None or a non-empty string.")
    if scope_name is not None and "\0" in scope_name:  # C would see the part before it
        raise RuntimeError("scope_name has a NUL.")
    name = None if scope_name is None else scope_name.encode()
    acl.call(function, name, acl.current_stream(current_device()))
