"""Streams and events of `torch.npu`. What is launched on a stream of the emulation has run when the call returns."""

from __future__ import annotations

import ctypes
from types import TracebackType

import torch

from skrules.hostnpu import acl
from skrules.hostnpu.devices import Device, current_device, index_of, set_device


class Stream(torch.Stream):  # type: ignore[misc]
    """A stream of a device, the current one for None. `npu_stream` is the aclrtStream as a number."""

    def __new__(cls, device: Device = None, priority: int = 0, **ids: int) -> Stream:
        if ids:
            return super().__new__(cls, priority=priority, **ids)  # type: ignore[no-any-return]
        return super().__new__(cls, torch.device("npu", index_of(device)), priority=priority)  # type: ignore[no-any-return]

    @property
    def npu_stream(self) -> int:
        return self.stream_id or int(acl.library().skrules_host_default_stream(self.device_index))

    def record_event(self, event: Event | None = None) -> Event:
        event = Event() if event is None else event
        event.record(self)
        return event

    def __repr__(self) -> str:
        return f"<torch.npu.Stream device={self.device} npu_stream={self.npu_stream:#x}>"


class Event(torch.Event):  # type: ignore[misc]
    """A mark in a stream. `elapsed_time(end)`, in milliseconds, needs `enable_timing` of both."""

    def __new__(cls, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False) -> Event:
        if interprocess:
            raise RuntimeError("events of the emulated npu cannot be shared between processes")
        made = super().__new__(cls, torch.device("npu", current_device()), enable_timing=enable_timing, blocking=blocking)
        made.enable_timing = enable_timing
        return made  # type: ignore[no-any-return]

    def record(self, stream: torch.Stream | None = None) -> None:
        super().record(current_stream() if stream is None else stream)

    def wait(self, stream: torch.Stream | None = None) -> None:
        super().wait(current_stream() if stream is None else stream)

    def elapsed_time(self, end_event: Event) -> float:
        # Not torch's own: it takes no subclass.
        if not (self.enable_timing and end_event.enable_timing):
            raise ValueError("elapsed_time needs events that were made with enable_timing=True")
        if not (self.event_id and end_event.event_id):
            raise RuntimeError("elapsed_time needs events that were recorded")
        milliseconds = ctypes.c_float()
        acl.call("aclrtEventElapsedTime", ctypes.byref(milliseconds), *map(ctypes.c_void_p, (self.event_id, end_event.event_id)))
        return milliseconds.value


def _as_stream(stream: torch.Stream) -> Stream:
    ids = {"stream_id": stream.stream_id, "device_index": stream.device_index, "device_type": stream.device_type}
    return Stream(**ids)


def current_stream(device: Device = None) -> Stream:
    """Return the stream that this thread has chosen for `device`."""
    return _as_stream(torch.accelerator.current_stream(index_of(device)))


def default_stream(device: Device = None) -> Stream:
    kind = torch.device("npu", index_of(device))
    return Stream(stream_id=0, device_index=kind.index, device_type=current_stream(kind).device_type)


def set_stream(stream: torch.Stream | None) -> None:
    """Choose a stream for its device, which becomes the current one. None changes nothing."""
    if stream is not None:
        torch.accelerator.set_stream(stream)


class StreamContext:
    """Context manager: another current stream, and the device of it. With None nothing changes."""

    def __init__(self, stream: torch.Stream | None) -> None:
        self.stream = stream
        self.before: list[tuple[int, Stream]] = []

    def __enter__(self) -> None:
        if self.stream is not None:
            self.before.append((current_device(), current_stream(self.stream.device)))
            set_stream(self.stream)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self.stream is not None:
            device, stream = self.before.pop()
            set_stream(stream)
            set_device(device)


def stream(stream: torch.Stream | None) -> StreamContext:
    """Return a context manager that makes `stream` the current one."""
    return StreamContext(stream)
