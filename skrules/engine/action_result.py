"""The one protobuf message that servers of Bazel's HTTP cache protocol look into.

What lies under `ac/` is an `ActionResult` of the Remote Execution API, version 2 (`remote_execution.proto`). Servers may
refuse anything else, or write the message anew with fields of their own (bazel-remote does both, unless told not to), so
bytes of ours travel inside of one: as `stdout_raw`, field 5, which no server interprets.
"""

from __future__ import annotations

_STDOUT_RAW = 5
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5  # wire types; groups (3, 4) are not in proto3


def wrap(data: bytes) -> bytes:
    """Return an ActionResult that carries `data`."""
    return _varint(_STDOUT_RAW << 3 | _BYTES) + _varint(len(data)) + data


def unwrap(message: bytes) -> bytes | None:
    """Return what an ActionResult carries, whatever other fields it has. None: it carries nothing, or is none at all."""
    carried = None
    place = 0
    try:
        while place < len(message):
            tag, place = _read_varint(message, place)
            kind = tag & 7
            if kind == _VARINT:
                _, place = _read_varint(message, place)
                continue
            if kind == _BYTES:
                size, place = _read_varint(message, place)
            else:
                size = {_FIXED64: 8, _FIXED32: 4}[kind]
            if tag >> 3 == _STDOUT_RAW and kind == _BYTES:
                carried = message[place : place + size]
            place += size
    except (IndexError, KeyError):
        return None
    return carried if place == len(message) else None


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _read_varint(message: bytes, place: int) -> tuple[int, int]:
    number = shift = 0
    while message[place] & 0x80:
        number |= (message[place] & 0x7F) << shift
        shift += 7
        place += 1
        if shift > 63:
            raise IndexError(place)
    return number | message[place] << shift, place + 1
