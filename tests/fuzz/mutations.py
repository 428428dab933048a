"""Files as damaged editors, tools and people leave them: a good one with some of its pieces changed."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

# What readers of text, YAML, JSON and C++ stumble over.
_PIECES = (
    *(b"", b"\0", b"\n", b"\r", b"\r\n", b"\t", b" ", b"\\\n", b"\xef\xbb\xbf"),
    *(b"\xff", b"\xc3", b"\xed\xa0\x80", b"\x1b[0m", b"\x85"),
    *(b"{", b"}", b"[", b"]", b"(", b")", b"<", b">", b'"', b"'", b",", b":", b": "),
    *(b"- ", b"? ", b"|", b"!!", b"&a ", b"*a", b"<<: *a\n", b"%YAML 9\n", b"---\n", b"...\n"),
    *(b"!!python/object:os.system x", b"!!binary x", b"~", b"null", b"true", b"NaN", b"1e999", b"-0"),
    *(b"99999999999999999999999", b"0x1", b"1_0", b"0o7", b"2001-01-01", b"\\ud800", b"\\u0000"),
    *(b"/*", b"*/", b"//", b'R"(', b')"', b"#if 1\n", b"#endif\n", b"#else\n"),
    *(b"#define A \\\n", b"#include <a>\n", b"skBlockNum", b"A"),
    *(b"[" * 3000, b"{" * 3000, b"(" * 3000, b"- " * 1000, b"\\" * 999, b"a" * 70000, b"/*" * 999),
)


@st.composite
def mutated(draw: st.DrawFn, seeds: Sequence[bytes]) -> bytes:
    """Draw one of `seeds` with up to eight places cut out, written twice, moved or filled with something else."""
    data = draw(st.sampled_from(seeds))
    for _ in range(draw(st.sampled_from([0, 1, 1, 1, 2, 2, 3, 8]))):
        start = draw(st.integers(0, len(data)))
        end = min(len(data), start + draw(st.sampled_from([0, 0, 1, 2, 5, 20, 200])))
        piece = draw(st.sampled_from(_PIECES) | st.binary(max_size=4) | st.just(data[start:end] * 2))
        data = data[:start] + piece + data[end:]
    return data
