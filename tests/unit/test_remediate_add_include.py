"""`add-include` puts a header where others are, once, and whatever is defined."""

from __future__ import annotations

import pytest

from skrules.findings import Fix
from skrules.remediate.add_include import AddInclude
from skrules.remediate.kind import Refused

WANTED = '#include "kernel_operator.h"'


def included(text, wanted=WANTED):
    return AddInclude().apply(text, Fix(kind="add-include", file="a.asc", new_value=wanted))


@pytest.mark.parametrize(
    "text",
    [
        '#include "a.h"\n#include <b>\n@int x;\n',
        '#include "a.h" // of a\n@\nint x;\n',
        '#include "a.h" /* of\n a */\n@\nint x;\n',
        '// licence\n\n#include "a.h"\n@',
        '#include "a.h"\n#if A\n#include "b.h"\n#else\n#include "c.h"\n#endif\n@int x;\n',
        '#if A\n#if B\n#include "b.h"\n#endif\n#endif\n@int x;\n',
        '#if A\n#define B\n#endif\n#include "a.h"\n@#if C\n#define D\n#endif\nint x;\n',
        '#include "a.h"\n@int x;\n#include "impl.h"\n',
        "#pragma once\n@\nint x;\n",
        '#pragma once\n#include "a.h"\n@int x;\n',
        "#ifndef A_H\n#define A_H\n@int x;\n#endif // A_H\n",
        '#ifndef A_H\n#define A_H\n#include "a.h"\n@int x;\n#endif\n',
        '#if !defined(A_H)\n#define A_H 1\n#include "a.h"\n@int x;\n#endif\n',
        "// licence\n@\nint x;\n",
        "/* licence\n */\n@\n/// of x\nint x;\n",
        "@// of x\nint x;\n",
        "@int x;\n",
        "@",
        '@// #include "a.h"\nint x;\n',
        '@const char *x = "\\\n#include \\"a.h\\"";\n',
        "@#if 0\nint y;\n#endif\nint x;\n",
        "@#ifdef A\nint x;\n#endif\n",
        '@int x;\n#include "a.h"\n',
        "@#ifndef A\n#define A\n#else\nint x;\n#endif\n",  # no guard: there is code when A is defined
        "@#ifndef A\n#define A\n#endif\nint x;\n",
    ],
)
def test_it_stands_behind_what_is_included_already(text):
    made = included(text.replace("@", ""))
    assert made == text.replace("@", f"{WANTED}\n")
    assert included(made) == made


@pytest.mark.parametrize(
    "text",
    [
        f"{WANTED}\nint x;\n",
        'int x;\n#  include   "kernel_operator.h" // late\n',
        '#ifndef A_H\n#define A_H\n#include "kernel_operator.h"\n#endif\n',
    ],
)
def test_what_is_included_is_not_included_again(text):
    assert included(text) == text


@pytest.mark.parametrize(
    "text", [f"#if 0\n{WANTED}\n#endif\n", f"// {WANTED}\n", f"#ifdef A\n{WANTED}\n#endif\n", "#include <kernel_operator.h>\n"]
)
def test_what_may_not_be_included_is_included(text):
    made = included(text)
    assert made.count(WANTED) == text.count(WANTED) + 1
    assert included(made) == made


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_line_ends_are_those_of_the_file(newline):
    text = newline.join(['#include "a.h"', "int x;", ""])
    assert included(text) == newline.join(['#include "a.h"', WANTED, "int x;", ""])


def test_a_last_line_without_end_gets_one():
    assert included('int y;\r\n#include "a.h"') == f'{WANTED}\r\nint y;\r\n#include "a.h"'
    assert included('#include "a.h"') == f'#include "a.h"\n{WANTED}\n'


@pytest.mark.parametrize("wanted", ["#include <a.h>", "# include <a.h>", "  #include <a.h>  ", "#include <a.h> // why"])
def test_any_spelling_of_an_include_will_do(wanted):
    made = included("int x;\n", wanted)
    assert made == f"{wanted.strip()}\nint x;\n"
    assert included(made, "#include <a.h>") == made


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [
        ("", "missing_new_value"),
        ("kernel_operator.h", "invalid_include"),
        ('#include "a.h"\nint x;', "invalid_include"),
        ('#include "a.h"\n#include "b.h"', "invalid_include"),
        ("#include A", "invalid_include"),
        ('#include ""', "invalid_include"),
        ('#define x "a.h"', "invalid_include"),
        ('// #include "a.h"', "invalid_include"),
    ],
)
def test_anything_else_is_refused(wanted, reason):
    with pytest.raises(Refused) as refused:
        included("int x;\n", wanted)
    assert refused.value.reason == reason
