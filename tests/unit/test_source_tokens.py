from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skrules.source.model import TokenKind
from skrules.source.tokens import digraph_in, directive_name, normalise, spelling, tokenize


def kinds(text: str) -> list[tuple[str, str]]:
    return [(token.kind.value, token.text) for token in tokenize(text) if token.kind is not TokenKind.BLANK]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a+b", [("identifier", "a"), ("punctuation", "+"), ("identifier", "b")]),
        ("x /* } */ y", [("identifier", "x"), ("comment", "/* } */"), ("identifier", "y")]),
        ("// a \\\n b\nc", [("comment", "// a \\\n b"), ("identifier", "c")]),
        ("/* never closed", [("comment", "/* never closed")]),
        ('"a\\"b" c', [("string", '"a\\"b"'), ("identifier", "c")]),
        ('"open\nc', [("string", '"open'), ("identifier", "c")]),
        ("u8\"x\" L'y'", [("string", 'u8"x"'), ("character", "L'y'")]),
        ('R"(a " } b)" c', [("string", 'R"(a " } b)"'), ("identifier", "c")]),
        ('u8R"x(a)" )x" c', [("string", 'u8R"x(a)" )x"'), ("identifier", "c")]),
        ('R"x(never\nclosed)"', [("string", 'R"x(never\nclosed)"')]),
        ("uR x", [("identifier", "uR"), ("identifier", "x")]),
        ("1'000'000u", [("number", "1'000'000u")]),
        ("1.5e-3f+.5", [("number", "1.5e-3f"), ("punctuation", "+"), ("number", ".5")]),
        ("'\\''", [("character", "'\\''")]),
        ("ab\\\ncd", [("identifier", "ab\\\ncd")]),
        ("k<<<1>>>", [("identifier", "k"), ("punctuation", "<<<"), ("number", "1"), *[("punctuation", ">")] * 3]),
        (
            "a->b::c",
            [("identifier", "a"), ("punctuation", "->"), ("identifier", "b"), ("punctuation", "::"), ("identifier", "c")],
        ),
        ("a \x01 b", [("identifier", "a"), ("other", "\x01"), ("identifier", "b")]),
        ("#define A \\\n 1\nb", [("directive", "#define A \\\n 1"), ("identifier", "b")]),
        ("#if A // x \\\n y\nb", [("directive", "#if A // x \\\n y"), ("identifier", "b")]),
        ("#if A /* x\n y */ B\nb", [("directive", "#if A /* x\n y */ B"), ("identifier", "b")]),
        ('#define A "/*"\nb', [("directive", '#define A "/*"'), ("identifier", "b")]),
        ("#define A 1'000 // '\nb", [("directive", "#define A 1'000 // '"), ("identifier", "b")]),
        ("/* c */ #define A\nb", [("comment", "/* c */"), ("directive", "#define A"), ("identifier", "b")]),
        ("a # b", [("identifier", "a"), ("punctuation", "#"), ("identifier", "b")]),
        ("a\r#if A\rb", [("identifier", "a"), ("directive", "#if A"), ("identifier", "b")]),
        ("a \\\r\n #if\r\nb", [("identifier", "a"), ("punctuation", "#"), ("identifier", "if"), ("identifier", "b")]),
    ],
)
def test_tokens(text: str, expected: list[tuple[str, str]]) -> None:
    assert kinds(text) == expected


def test_byte_order_mark_is_a_blank_at_the_start_only() -> None:
    assert [token.kind for token in tokenize("\xef\xbb\xbf#if A")] == [TokenKind.BLANK, TokenKind.DIRECTIVE]
    assert kinds("a \xef\xbb\xbf")[1][0] == "identifier"


def test_spelling_and_normal_form() -> None:
    assert spelling(tokenize("__glo\\\r\nbal__")[0]) == "__global__"
    assert directive_name("#  \\\n define A") == "define"
    assert directive_name("#") == ""
    assert normalise("#  if   A /* b */ > 1 // c") == "#if A > 1"


@given(st.text(alphabet=st.characters(max_codepoint=255), max_size=200))
def test_any_text_is_the_concatenation_of_its_tokens(text: str) -> None:
    assert "".join(token.text for token in tokenize(text)) == text


@given(st.lists(st.sampled_from(['"', "'", "/*", "*/", "//", "\\", "\n", "\r\n", "#", 'R"(', ')"', " ", "a", "1'", "<", "\xef"])))
def test_fragments_of_literals_are_lossless_and_their_offsets_add_up(parts: list[str]) -> None:
    text = "".join(parts)
    position = 0
    for token in tokenize(text):
        assert token.start == position
        assert token.text
        position = token.end
    assert position == len(text)


@pytest.mark.parametrize("piece", [" ", "\\\n", "/*", "x #", '"\\', 'R"x(', "//\\", "#\\\n", "1'", "'"])
def test_two_megabytes_of_one_thing_come_to_an_end(piece: str) -> None:
    text = piece * (2_000_000 // len(piece) // 8 if piece != " " else 2_000_000)
    assert "".join(token.text for token in tokenize(text)) == text


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        ("%:define N 3\n", 0),
        ("int f() <% return 1; %>", 8),
        ("a<:1:>", 1),
        ("a[1:>", 3),
        ("v<::T> w; a % b; c < d; x ? y : z > 1; a::b<c>::d", None),
        ("// <% %>\n\"%:\" /* <: */ '<'", None),
    ],
)
def test_digraphs_are_found(text: str, offset: int | None) -> None:
    found = digraph_in(text, tokenize(text))
    assert (found.start if found else None) == offset
