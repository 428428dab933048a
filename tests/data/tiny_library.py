"""A shared library of a few hundred bytes that holds no code: enough of ELF for whoever looks at one and loads none."""

from __future__ import annotations

import struct
from collections.abc import Sequence

_X86_64 = 62
_DYNAMIC, _STRTAB, _DYNSYM = 6, 3, 11


def tiny_library(
    *,
    exports: Sequence[str] = (),
    imports: Sequence[str] = (),
    needed: Sequence[str] = (),
    runpath: str = "",
    soname: str = "",
    machine: int = _X86_64,
    bits: int = 64,
    kind: int = 3,
    note: bytes = b"",
) -> bytes:
    """Return the library's bytes; `note` is data that nothing refers to."""
    text = bytearray(b"\0")

    def word(value: str) -> int:
        text.extend(value.encode() + b"\0")
        return len(text) - len(value.encode()) - 1

    symbols = [bytes(24)]
    symbols += [struct.pack("<IBBHQQ", word(name), 0x12, 0, 1, 0, 0) for name in exports]
    symbols += [struct.pack("<IBBHQQ", word(name), 0x12, 0, 0, 0, 0) for name in imports]
    tags = [(1, word(name)) for name in needed]
    tags += [(29, word(runpath))] if runpath else []
    tags += [(14, word(soname))] if soname else []
    dynamic = b"".join(struct.pack("<qQ", *tag) for tag in [*tags, (0, 0)])
    blocks = [bytes(text), b"".join(symbols), dynamic, note]
    places, at = [], 64
    for block in blocks:
        places.append(at)
        at += len(block)
    sections = [
        bytes(64),
        struct.pack("<IIQQQQIIQQ", 0, _STRTAB, 0, 0, places[0], len(blocks[0]), 0, 0, 1, 0),
        struct.pack("<IIQQQQIIQQ", 0, _DYNSYM, 0, 0, places[1], len(blocks[1]), 1, 1, 8, 24),
        struct.pack("<IIQQQQIIQQ", 0, _DYNAMIC, 0, 0, places[2], len(blocks[2]), 1, 0, 8, 16),
    ]
    ident = b"\x7fELF" + bytes([2 if bits == 64 else 1, 1, 1]) + bytes(9)
    header = struct.pack("<16sHHIQQQIHHHHHH", ident, kind, machine, 1, 0, 0, at, 0, 64, 56, 0, 64, len(sections), 0)
    return header + b"".join(blocks) + b"".join(sections)


def tiny_module(name: str, *, emulated: bool = True, runpath: str = "$ORIGIN/lib:$ORIGIN/../lib", **more: object) -> bytes:
    """Return a Python module of that name as the host toolchain, or bisheng, would link it."""
    needed = ["libc10.so", *(["libskrules_host.so"] if emulated else [])]
    return tiny_library(exports=[f"PyInit_{name}"], imports=["malloc"], needed=needed, runpath=runpath, **more)  # type: ignore[arg-type]
