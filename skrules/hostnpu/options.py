"""Options of `NPUGraph.super_kernel_optimize` as the structures that `aclskOptimize` takes.

Names and types of torch_npu (https://github.com/Ascend/pytorch 9e73e708, torch_npu/npu/graphs.py), numbers and layouts of CANN's
super_kernel.h, which toolchains/host/include/super_kernel repeats.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


class _Names(ctypes.Structure):
    _fields_ = (("names", ctypes.POINTER(ctypes.c_char_p)), ("count", ctypes.c_size_t))


class _CountedNames(ctypes.Structure):
    _fields_ = (("count", ctypes.c_uint32), ("names", ctypes.POINTER(ctypes.c_char_p)))


class _Strategies(ctypes.Structure):
    _fields_ = (
        ("event_breaker_bypass", ctypes.c_uint32),
        ("value_breaker_bypass", ctypes.c_uint32),
        ("task_breaker_bypass", ctypes.c_uint32),
    )


class _Value(ctypes.Union):
    _fields_ = (
        ("number", ctypes.c_uint32),
        ("text", ctypes.c_char_p),
        ("names", _Names),
        ("counted_names", _CountedNames),
        ("strategies", _Strategies),
    )


class _Option(ctypes.Structure):
    _fields_ = (("type", ctypes.c_uint32), ("value", _Value))


class Options(ctypes.Structure):
    """aclskOptions. Keeps alive what it points to."""

    _fields_ = (("options", ctypes.POINTER(_Option)), ("count", ctypes.c_size_t))


@dataclass(frozen=True, slots=True)
class _Kind:
    """What Python gives, in words, and how it gets into the member `member` of the union."""

    python: type
    member: str
    convert: Callable[[Any], Any]


def _array(names: Sequence[str]) -> ctypes.Array[ctypes.c_char_p]:
    return (ctypes.c_char_p * len(names))(*(name.encode() for name in names))


_NUMBER = _Kind(int, "number", int)
_TEXT = _Kind(str, "text", str.encode)
_NAMES = _Kind(list, "names", lambda names: _Names(_array(names), len(names)))
_COUNTED_NAMES = _Kind(list, "counted_names", lambda names: _CountedNames(len(names), _array(names)))
_STRATEGIES = _Kind(dict, "strategies", lambda flags: _Strategies(**flags))

# By the name that torch_npu gives it: aclskOptionType, and what it takes.
_OPTIMIZE = {
    "preload_code": (0, _NUMBER),
    "split_mode": (1, _NUMBER),
    "stream_fusion": (2, _NUMBER),
    "dcci_disable_on_kernel": (3, _NAMES),
    "constant_codegen": (6, _NUMBER),
    "auto_op_parallel": (7, _NUMBER),
    "dcci_before_kernel_start": (8, _NAMES),
    "opt_extend": (11, _TEXT),
    "dcci_after_kernel_end": (13, _NAMES),
    "aggressive_opt_strategies": (14, _STRATEGIES),
    "ubuf_lock_ignore_kernel": (15, _COUNTED_NAMES),
    "early_start": (16, _NUMBER),
}
_DEBUG = {
    "debug_sync_all": (4, _NUMBER),
    "debug_op_exec_trace": (9, _NUMBER),
    "debug_cross_core_sync_check": (10, _NUMBER),
    "debug_extend": (12, _TEXT),
    "debug_per_op_max_core_num": (17, _NUMBER),
}


def options_of(optimize: Mapping[str, Any] | None, debug: Mapping[str, Any] | None) -> Options:
    """Return both dictionaries as one list of options. Raises RuntimeError for a key or a type that torch_npu refuses."""
    made = [*_options("optimize_options", _OPTIMIZE, optimize), *_options("debug_options", _DEBUG, debug)]
    return Options((_Option * len(made))(*made), len(made))


def _options(title: str, known: Mapping[str, tuple[int, _Kind]], given: Mapping[str, Any] | None) -> list[_Option]:
    if given is None:
        return []
    if not isinstance(given, dict):
        raise RuntimeError(f"{title} param must be dict or None.")
    for key in given:
        if key not in known:
            raise RuntimeError(f"Invalid {title} param key: '{key}'; allowed: {', '.join(known)}.")
    return [_option(f"{title} param['{key}']", *known[key], value) for key, value in given.items()]


def _option(title: str, number: int, kind: _Kind, value: Any) -> _Option:
    _require(title, value, kind.python)
    if kind.python is list:
        for place, item in enumerate(value):
            _require(f"{title}[{place}]", item, str)
    elif kind.python is dict:
        allowed = tuple(name for name, *_ in _Strategies._fields_)
        for key, flag in value.items():
            if key not in allowed:
                raise RuntimeError(f"Invalid sub_key '{key}' in {title}; allowed: {', '.join(allowed)}.")
            _require(f"{title}['{key}']", flag, int)
    return _Option(number, _Value(**{kind.member: kind.convert(value)}))


def _require(title: str, value: Any, kind: type) -> None:
    if not isinstance(value, kind):
        raise RuntimeError(f"{title} must be {kind.__name__}, got {type(value).__name__}")
