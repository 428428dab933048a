"""Names for generated declarations."""

from __future__ import annotations

import pytest

from skrules.adapt.edits import apply
from skrules.adapt.names import camel, free_name, legacy_edits, words_in, words_of
from skrules.source.kernels import read


@pytest.mark.parametrize(
    ("name", "wanted"), [("add_custom", "AddCustom"), ("addCustom", "AddCustom"), ("a__b_", "AB"), ("_3d", "K3d"), ("_", "K")]
)
def test_camel(name: str, wanted: str) -> None:
    assert camel(name) == wanted


def test_free_names() -> None:
    assert free_name("a", {"b"}) == "a"
    assert free_name("a", {"a", "a_2", "a_4"}) == "a_3"


def test_words_of_code_and_of_directives() -> None:
    unit = read(b'#define M(x) y \\\n  z\nint a = M(b); // c\nconst char *d = "e";\n', "k.asc")
    code, directives = words_of(unit)
    assert code >= {"a", "M", "b", "d"}
    assert directives >= {"M", "x", "y", "z"}
    assert not {"c", "e"} & (code | directives)
    assert words_in(unit.tokens) == code | directives


def test_legacy_names_in_code_and_macros_only() -> None:
    text = "#define N sysArgs->skBlockNum\nint n = s->skBlockNum + mySkBlockNum; // skBlockNum\nSkGetBlockNum();\n"
    wanted = "#define N sysArgs->skNumBlocks\nint n = s->skNumBlocks + mySkBlockNum; // skBlockNum\nSkGetNumBlocks();\n"
    assert apply(text, legacy_edits(read(text.encode(), "k.asc").tokens)) == wanted
