"""What is read of shared libraries, tiny ones and a real one."""

from __future__ import annotations

import importlib.util
import platform
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skrules.wheel.elf import MACHINES, read_library
from tests.data.tiny_library import tiny_library

LIBRARY = tiny_library(
    exports=["PyInit_add", "helper"],
    imports=["malloc"],
    needed=["libc.so.6", "libm.so.6"],
    runpath="$ORIGIN/lib:$ORIGIN/../lib",
    soname="libx.so",
)


def test_all_that_is_read():
    library = read_library(LIBRARY)
    assert library.machine == MACHINES["x86_64"]
    assert library.exports == {"PyInit_add", "helper"}
    assert library.needed == ("libc.so.6", "libm.so.6")
    assert library.rpath == ("$ORIGIN/lib", "$ORIGIN/../lib")
    assert library.soname == "libx.so"


def test_a_library_of_this_machine():
    spec = importlib.util.find_spec("numpy.random.mtrand")  # numpy is always there
    assert spec is not None and spec.origin is not None
    library = read_library(Path(spec.origin).read_bytes())
    assert "PyInit_mtrand" in library.exports
    assert any(name.startswith("libc.so") for name in library.needed)
    assert library.machine == MACHINES[platform.machine()]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "no ELF file"),
        (b"PK\x03\x04" * 40, "no ELF file"),
        (LIBRARY[:40], "cut off"),
        (LIBRARY[:-10], "cut off"),
        (LIBRARY[:100], "cut off"),
        (LIBRARY[:40] + b"\xff" * 8 + LIBRARY[48:], "cut off"),  # sections at a place that no file reaches
        (tiny_library(bits=32), "not 64-bit"),
        (tiny_library(kind=2), "no shared library"),
        (LIBRARY[:5] + b"\x02" + LIBRARY[6:], "not little-endian"),
        (LIBRARY[:60] + b"\0\0" + LIBRARY[62:], "no table of sections"),
    ],
)
def test_what_is_no_library(data, said):
    with pytest.raises(ValueError, match=said):
        read_library(data)


@settings(max_examples=1000, deadline=None)
@given(st.lists(st.tuples(st.integers(0, len(LIBRARY) - 1), st.integers(0, 255)), min_size=1, max_size=8))
def test_damage_is_told_and_never_more(changes):
    data = bytearray(LIBRARY)
    for at, value in changes:
        data[at] = value
    try:
        read_library(bytes(data))
    except ValueError as error:
        assert str(error)
