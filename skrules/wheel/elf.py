"""What a shared library says of itself: for which machine it is, what it needs, where it looks, what it exports.

Format: System V ABI, chapters 4 and 5, https://refspecs.linuxfoundation.org/elf/gabi4+/contents.html
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

# e_machine by what `uname -m` and wheel tags call it.
MACHINES = {"x86_64": 62, "aarch64": 183}

_MAGIC = b"\x7fELF"
_CLASS_64, _LITTLE, _SHARED = 2, 1, 3
_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_ENTRY = struct.Struct("<qQ")
_SHT_DYNAMIC, _SHT_DYNSYM = 6, 11
_DT_NEEDED, _DT_SONAME, _DT_RPATH, _DT_RUNPATH = 1, 14, 15, 29
# Some linkers order these as they like; a library has few sections, and damaged ones must not cost time.
_MOST_SECTIONS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedLibrary:
    """`rpath` are the folders of DT_RPATH and DT_RUNPATH; `exports` the names that it defines for others."""

    machine: int
    soname: str
    needed: tuple[str, ...]
    rpath: tuple[str, ...]
    exports: frozenset[str]


def read_library(data: bytes) -> SharedLibrary:
    """Read a 64-bit little-endian shared library. Raises ValueError, with words for people, for anything else."""
    if data[:4] != _MAGIC:
        raise ValueError("it is no ELF file")
    if len(data) < _HEADER.size:
        raise ValueError("it is cut off")
    ident, kind, machine, _, _, _, sections_at, _, _, _, _, size, count, _ = _HEADER.unpack_from(data)
    if ident[4] != _CLASS_64:
        raise ValueError("it is not 64-bit")
    if ident[5] != _LITTLE:
        raise ValueError("it is not little-endian")
    if kind != _SHARED:
        raise ValueError("it is no shared library")
    if size != _SECTION.size or not 0 < count < _MOST_SECTIONS:
        raise ValueError("it has no table of sections")
    try:
        return _read(data, machine, [_SECTION.unpack_from(data, sections_at + number * size) for number in range(count)])
    except (struct.error, IndexError, OverflowError):
        raise ValueError("it is cut off") from None


def _read(data: bytes, machine: int, sections: list[tuple[int, ...]]) -> SharedLibrary:
    found: dict[int, list[str]] = {_DT_NEEDED: [], _DT_SONAME: [], _DT_RPATH: [], _DT_RUNPATH: []}
    exports: set[str] = set()
    for _, kind, _, _, at, length, link, _, _, _ in sections:
        if kind not in (_SHT_DYNAMIC, _SHT_DYNSYM):
            continue
        _, _, _, _, text_at, text_length, *_ = sections[link]
        text = data[text_at : text_at + text_length]
        if len(text) != text_length:
            raise IndexError(text_at)
        if kind == _SHT_DYNSYM:
            exports.update(_exports(_cut(data, at, length), text))
            continue
        for tag, value in _ENTRY.iter_unpack(_cut(data, at, length)[: length - length % _ENTRY.size]):
            if tag in found:
                found[tag].append(_word(text, value))
    folders = (folder for words in (*found[_DT_RPATH], *found[_DT_RUNPATH]) for folder in words.split(":"))
    return SharedLibrary(
        machine=machine,
        soname="".join(found[_DT_SONAME][:1]),
        needed=tuple(found[_DT_NEEDED]),
        rpath=tuple(folders),
        exports=frozenset(exports),
    )


def _exports(table: bytes, text: bytes) -> Iterator[str]:
    for name, _, _, section, _, _ in _SYMBOL.iter_unpack(table[: len(table) - len(table) % _SYMBOL.size]):
        if section:  # defined here
            yield _word(text, name)


def _cut(data: bytes, at: int, length: int) -> bytes:
    piece = data[at : at + length]
    if len(piece) != length:
        raise IndexError(at)
    return piece


def _word(text: bytes, at: int) -> str:
    end = text.find(b"\0", at)
    if end < 0:
        raise IndexError(at)
    return text[at:end].decode("utf-8", "replace")
