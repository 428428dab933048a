"""`rename-symbol` reaches identifiers, all of them and nothing else."""

from __future__ import annotations

import pytest

from skrules.findings import Fix
from skrules.remediate.kind import Refused
from skrules.remediate.rename_symbol import RenameSymbol


def renamed(text, old="skBlockNum", new="skNumBlocks"):
    return RenameSymbol().apply(text, Fix(kind="rename-symbol", file="a.asc", old_value=old, new_value=new))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = args->skBlockNum;", "x = args->skNumBlocks;"),
        ("skBlockNum", "skNumBlocks"),
        ("a.skBlockNum+skBlockNum", "a.skNumBlocks+skNumBlocks"),
        ("#define N skBlockNum // skBlockNum", "#define N skNumBlocks // skBlockNum"),
        ("#if skBlockNum > 1\n#endif", "#if skNumBlocks > 1\n#endif"),
        ('#define S(x) "skBlockNum" #x skBlockNum', '#define S(x) "skBlockNum" #x skNumBlocks'),
        ("#define A \\\n  skBlockNum\n", "#define A \\\n  skNumBlocks\n"),
        ("x = skBlock\\\nNum;", "x = skNumBlocks;"),  # a name over two lines
        ("#if 0\nskBlockNum\n#endif", "#if 0\nskNumBlocks\n#endif"),
        ("x = 1;\r\ny = skBlockNum;\r\n", "x = 1;\r\ny = skNumBlocks;\r\n"),
    ],
)
def test_names_in_code_and_macros_are_renamed(text, expected):
    assert renamed(text) == expected
    assert renamed(expected) == expected


@pytest.mark.parametrize(
    "text",
    [
        "// skBlockNum",
        "/* skBlockNum */",
        '"skBlockNum"',
        'R"(skBlockNum)"',
        "'skBlockNum'",
        "skBlockNums + xskBlockNum + skBlockNum_ + 0xskBlockNum",
        '#include "skBlockNum.h"',
        "#include <skBlockNum>",
        "#error skBlockNum is old",
        "#warning skBlockNum is old",
        "# skBlockNum",
        '#R"(x\n skBlockNum)"',  # no directive that there is
        "#def\\\nine A skBlockNum",
        "",
    ],
)
def test_what_is_no_such_name_stays(text):
    assert renamed(text) == text


def test_the_name_of_a_directive_is_no_symbol():
    assert renamed("#define define if\n#if define\n#endif", "define", "other") == "#define other if\n#if other\n#endif"
    assert renamed("#define define if\n#if 1\n#endif", "if", "while") == "#define define while\n#if 1\n#endif"


def test_names_may_have_letters_of_any_language():
    assert renamed("块数 = 1;".encode().decode("latin-1"), "块数", "n") == "n = 1;"


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("", "b", "missing_old_value"),
        (" ", "b", "missing_old_value"),
        ("a", "", "missing_new_value"),
        ("a.b", "c", "invalid_symbol:a.b"),
        ("a", "b; int c", "invalid_symbol:b; int c"),
        ("a", r"\g<0>", r"invalid_symbol:\g<0>"),
        ("1a", "b", "invalid_symbol:1a"),
        ("a\n", "b", "invalid_symbol:a\n"),
        ("\ud800", "b", "invalid_text"),
        ("a\0", "b", "invalid_text"),
    ],
)
def test_only_identifiers_are_taken(old, new, reason):
    with pytest.raises(Refused) as refused:
        renamed("a", old, new)
    assert refused.value.reason == reason
