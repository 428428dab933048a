"""`torch.npu.NPUGraph` and `torch.npu.graph`: capture, replay, and fusion into super kernels.

Names and meanings of torch_npu (https://github.com/Ascend/pytorch 9e73e708, torch_npu/npu/graphs.py and
csrc/core/npu/NPUGraph.cpp). Kernels of the host toolchain are captured as on a device. Operators of torch, which the CPU carries
out, become nodes of the graph too and are never fused. A capture of an operator that waits for values is refused.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
from collections.abc import Mapping
from types import TracebackType
from typing import Any

import torch

from skrules.hostnpu import acl
from skrules.hostnpu.devices import current_device, synchronize
from skrules.hostnpu.options import options_of
from skrules.hostnpu.streams import Stream, StreamContext, current_stream, default_stream

# aclmdlRICaptureMode
_MODES = {"global": 0, "thread_local": 1, "relaxed": 2}
_handles = itertools.count(1)

Pool = tuple[int, int]


def is_current_stream_capturing() -> bool:
    """Return whether a graph is being captured on the current stream of this thread."""
    return _capture_on(acl.current_stream(current_device())) is not None


def graph_pool_handle() -> Pool:
    """Return a token for memory that graphs share. Graphs of the emulation accept it and have memory of their own."""
    return (0, next(_handles))


def _capture_on(stream: ctypes.c_void_p) -> int | None:
    """Return the model that a stream is being captured into."""
    status, model = ctypes.c_int(), ctypes.c_void_p()
    acl.call("aclmdlRICaptureGetInfo", stream, ctypes.byref(status), ctypes.byref(model))
    return model.value


class NPUGraph:
    """A captured graph. It holds the memory of tensors that were made during its capture until it is reset or gone."""

    def __init__(self) -> None:
        self._stream: ctypes.c_void_p | None = None  # during a capture
        self._model: int | None = None
        self._captured = False
        self._pool: Pool = (0, 0)

    def capture_begin(self, pool: Pool | None = None, capture_error_mode: str = "global") -> None:
        """Begin a capture on the current stream, which must not be the default one.

        Raises RuntimeError for that, for a mode that is none of global, thread_local and relaxed, and for a second capture.
        """
        if self._model is not None:
            raise RuntimeError(
                "This NPUGraph instance already owns a captured graph. To capture a new graph, create a new instance."
            )
        if capture_error_mode not in _MODES:
            raise RuntimeError(f"Unknown capture error mode '{capture_error_mode}'; expected {', '.join(_MODES)}")
        if current_stream() == default_stream():
            raise RuntimeError(
                "NPU graphs must be captured on a non-default stream. "
                "(However, after capture, it's ok to replay them on the default stream.)"
            )
        stream = acl.current_stream(current_device())
        acl.call("aclmdlRICaptureBegin", stream, _MODES[capture_error_mode])
        self._stream, self._model = stream, _capture_on(stream)
        self._pool = graph_pool_handle() if pool is None else pool

    def capture_end(self) -> None:
        """End the capture. Raises RuntimeError when something in it was refused; the graph is then empty."""
        if self._stream is None:
            raise RuntimeError("no capture of this graph was begun")
        stream, self._stream = self._stream, None
        model = ctypes.c_void_p()
        try:
            acl.call("aclmdlRICaptureEnd", stream, ctypes.byref(model))
        except RuntimeError:
            self.reset()
            raise
        self._captured = True

    def replay(self) -> None:
        """Run the graph on the current stream. A kernel that fails raises RuntimeError here, since it has run by then."""
        self._require_captured("replay")
        stream = acl.current_stream(current_device())
        acl.call("aclmdlRIExecuteAsync", ctypes.c_void_p(self._model), stream)
        acl.call("aclrtSynchronizeStream", stream)

    def super_kernel_optimize(
        self, optimize_options: Mapping[str, Any] | None = None, debug_options: Mapping[str, Any] | None = None
    ) -> None:
        """Fuse what is in scopes, or everything in a graph without scopes, into super kernels; replays then run those.

        `skrules.hostnpu.report` tells what became of each kernel. Options that change nothing on the emulated device have no
        effect. Raises RuntimeError for options that torch_npu refuses, and for `debug_per_op_max_core_num`, which is not
        emulated.
        """
        options = options_of(optimize_options, debug_options)
        self._require_captured("super_kernel_optimize")
        acl.call("aclskOptimize", ctypes.c_void_p(self._model), ctypes.byref(options))

    def reset(self) -> None:
        """Drop the graph and the memory it holds."""
        model, self._model, captured, self._captured = self._model, None, self._captured, False
        if captured:
            acl.call("aclmdlRIDestroy", ctypes.c_void_p(model))
        if model is not None:
            torch.ops.skrules_hostnpu.release_graph(model)

    def pool(self) -> Pool:
        """Return a token for the memory of this graph, for another graph's `capture_begin`."""
        return self._pool

    def debug_dump(self, debug_path: str) -> None:
        """Write the nodes of the graph to a file, as JSON."""
        self._require_captured("debug_dump")
        acl.call("aclmdlRIDebugJsonPrint", ctypes.c_void_p(self._model), str(debug_path).encode(), 1)

    def model(self) -> int | None:
        """Return the aclmdlRI as a number; only the emulation has this."""
        return self._model

    def _require_captured(self, method: str) -> None:
        if not self._captured:
            raise RuntimeError(f"Called NPUGraph::{method} without a preceding successful capture.")

    def __del__(self) -> None:
        # At the end of the interpreter torch may be gone, and the process takes all with it.
        if self._model is not None and self._stream is None and torch is not None:
            self.reset()


class graph:  # noqa: N801 - the name that torch_npu gives it
    """Context manager: what is launched inside is captured into `npu_graph` instead of run.

    Without a `stream` it is captured on a side stream of the current device, always the same.
    """

    def __init__(
        self,
        npu_graph: NPUGraph,
        pool: Pool | None = None,
        stream: torch.Stream | None = None,
        auto_dispatch_capture: bool = False,
        capture_error_mode: str = "global",
    ) -> None:
        if auto_dispatch_capture:
            raise RuntimeError("auto_dispatch_capture is for operators of torch_npu, which the emulated npu does not have")
        self.npu_graph = npu_graph
        self.pool = pool
        self.capture_error_mode = capture_error_mode
        self.capture_stream = _side_stream(current_device()) if stream is None else stream
        self.stream_context = StreamContext(self.capture_stream)

    def __enter__(self) -> None:
        synchronize(self.capture_stream.device)
        self.stream_context.__enter__()
        try:
            self.npu_graph.capture_begin(self.pool, self.capture_error_mode)
        except BaseException:
            self.stream_context.__exit__(None, None, None)
            raise

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            self.npu_graph.capture_end()
        except RuntimeError:
            if error is None:  # else it tells less than what ended the capture
                raise
        finally:
            self.stream_context.__exit__(kind, error, trace)


@functools.cache
def _side_stream(device: int) -> Stream:
    return Stream(device)
