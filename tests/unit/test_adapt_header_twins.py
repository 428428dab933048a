"""Helpers of headers: repeated after the include where they mean the same there, refused with the reason where not."""

from __future__ import annotations

import pytest

from skrules.adapt.askers import Helpers, NoTwin, read_helpers
from skrules.adapt.blocknum import api_names
from skrules.adapt.names import words_of
from skrules.adapt.scopes import read_scopes
from skrules.adapt.twins import twin_fragments
from skrules.source.kernels import read

FILE = '#include "kernel_operator.h"\n#include "f.h"\nint after;\n'
F = "inline int f(int n) { return n / AscendC::GetBlockNum(); }\n"


def helpers_of(header: str, *, file: str = FILE, **more: str) -> Helpers:
    unit = read(file.encode(), "k.asc")
    scopes = read_scopes(unit)
    headers = [read(header.encode("latin-1"), "f.h"), *(read(text.encode(), f"{name}.h") for name, text in more.items())]
    return read_helpers(scopes, unit, api_names(scopes.code), frozenset[str]().union(*words_of(unit)), headers)


def twins(header: str, **more: str) -> str:
    helpers = helpers_of(header, **more)
    fragments = list(twin_fragments(helpers, helpers.names))
    assert {fragment.span.start for fragment in fragments} == {FILE.index("int after")}
    return "".join(fragment.text for fragment in fragments)


def reason(header: str, **more: str) -> str:
    with pytest.raises(NoTwin) as found:
        twins(header, **more)
    return str(found.value)


def test_in_its_namespace_and_under_its_conditions() -> None:
    body = f"namespace a {{\nnamespace b::c {{\n#if WIDE\nint g();\n#else\n{F}#endif\n}}\n}}\n"
    text = twins(f"#ifndef F_H\n#define F_H\n{body}#endif\n")
    assert text == (
        "\n// skrules: SuperKernel twin of 'f' of f.h, with its own block number; do not edit\n"
        "#if WIDE\n#else\nnamespace a {\nnamespace b::c {\n"
        "inline int f_sk(int64_t skrulesNumBlocks, int n) { return n / skrulesNumBlocks; }\n"
        "}\n}\n#endif\n"
    )


def test_classes_and_headers_of_headers() -> None:
    text = twins(
        '#pragma once\n#include "g.h"\nstruct C { void Run(); int n; };\ninline void C::Run() { n = g(); }\n',
        g="#pragma once\ninline int g() { return GetBlockNum(); }\n",
    )
    assert text.index("int g_sk(") < text.index("struct C_sk {") < text.index("void C_sk::Run() { n = g_sk(this->")


def test_line_ends_are_those_of_the_file() -> None:
    text = twins("inline int f() {\r\n    return GetBlockNum();\r\n}\r\n")
    assert "{\n    return skrulesNumBlocks;\n}" in text


def test_twins_are_called_by_no_name_of_a_header() -> None:
    assert "int f_sk_2(int64_t" in twins(f"int f_sk;\n{F}")


@pytest.mark.parametrize(
    "rest",
    [
        "int g(int n, float f);\n",
        "template <typename n> struct S { int n; int m() { int n = 0; return n; } };\n",
        "#define OTHER 1\n",
        "int S::n() { return 0; }\n",
        "namespace AscendC {}\n",
        "using g = int;\nusing b::h;\n",
        F.replace("int n", "float n"),
    ],
)
def test_what_may_follow(rest: str) -> None:
    assert "int f_sk(" in twins(F + rest)


@pytest.mark.parametrize(
    ("header", "said"),
    [
        (F + "#define n 1\n", "defines the macro 'n'"),
        ("#define M N\n#define N 1\n" + F.replace("n /", "M /") + "#define N 2\n", "defines the macro 'N'"),
        ("#define M 1\n" + F.replace("n /", "M /") + "#undef M\n", "has #undef"),
        (F + '#include "kernel_operator.h"\n', "has #include"),
        (F + "#pragma pack(1)\n", "has #pragma"),
        ("int g(int);\n" + F.replace("n /", "g(n) /") + "int g(float);\n", "declares another 'g'"),
        ("int g(int);\n" + F.replace("n /", "g(n) /") + "inline int g(float x) { return 0; }\n", "declares another 'g'"),
        (F + "enum { m, n };\n", "declares another 'n'"),
        (F + "using namespace b;\n", "more than a plain name"),
        (F + "using b::n;\n", "declares another 'n'"),
        (F + "using n = int;\n", "declares another 'n'"),
        (F + "int operator/(S, int);\n", "more than a plain name"),
        (f"namespace {{\n{F}}}\n", "in a namespace without a name"),
        ("inline int f() {\n#define A 1\n    return GetBlockNum();\n}\n", "has a #define in it"),
        (f"#ifndef A\n#define A\n{F}#endif\nint x;\n", "depends on 'A'"),
        (f"#if A\nnamespace a {{\n#endif\n{F}#if A\n}}\n#endif\n", "braces depend"),
        ("inline int f() { return __LINE__ + GetBlockNum(); }\n", "'__LINE__' is another one"),
    ],
)
def test_reasons_against_a_twin(header: str, said: str) -> None:
    assert said in reason(header)


def test_reasons_in_a_header_between() -> None:
    between = '#pragma once\n#include "f.h"\n'
    helpers = helpers_of(f"#pragma once\n{F}", file=FILE.replace("f.h", "g.h"), g=between + "#define n 2\n")
    with pytest.raises(NoTwin, match=r"what follows in g\.h defines the macro 'n'"):
        list(twin_fragments(helpers, helpers.names))
    helpers = helpers_of(f"#pragma once\n{F}", file=FILE.replace("f.h", "g.h"), g=between + "#define m 2\n")
    assert len(list(twin_fragments(helpers, helpers.names))) == 1


def test_a_header_included_in_two_branches() -> None:
    file = '#if A\n#include "f.h"\n#else\n#include "f.h"\n#endif\n'
    helpers = helpers_of(f"#pragma once\n{F}", file=file)
    with pytest.raises(NoTwin, match="depends on an #if"):
        list(twin_fragments(helpers, helpers.names))


@pytest.mark.parametrize(
    ("header", "keeps"),
    [
        ("inline int f() { static int n = 0; return n += GetBlockNum(); }\n", True),
        ("inline int f() { static K n(1); return GetBlockNum(); }\n", True),
        ("struct C { static int n; int f() { return GetBlockNum(); } };\n", True),
        ("struct C { static int n[2]; int f() { return GetBlockNum(); } };\n", True),
        ("struct C { static constexpr int n = 0; static int g() { return 1; } int f() { return GetBlockNum(); } };\n", False),
        ("inline int f() { constexpr static int n = 2; return n * GetBlockNum(); }\n", False),
        ("static inline int f() { return GetBlockNum(); }\n", False),
    ],
)
def test_static_data_is_not_shared(header: str, keeps: bool) -> None:
    if keeps:
        assert "static data" in reason(header)
    else:
        assert "_sk" in twins(header)
