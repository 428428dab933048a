"""Which functions and classes ask for the block number, themselves or through others."""

from __future__ import annotations

from skrules.adapt.askers import Helpers, read_helpers, strange_macros, used_names
from skrules.adapt.definitions import after_arguments
from skrules.adapt.names import words_of
from skrules.adapt.scopes import read_scopes
from skrules.source.code import code_of
from skrules.source.kernels import read

ASKS = "return GetBlockNum();"


def helpers_of(text: str) -> Helpers:
    unit = read(text.encode(), "k.asc")
    return read_helpers(read_scopes(unit), unit, frozenset({"AscendC"}), frozenset[str]().union(*words_of(unit)))


def test_who_asks() -> None:
    text = f"int a() {{ {ASKS} }}\nint b() {{ return a(); }}\nint c() {{ return x.a(); }}\n"
    text += "struct S { int m() { return b(); } };\n"
    helpers = helpers_of(text + "int S::n() { return 0; }\nint d() { return C::GetBlockNum(); }\n")
    assert dict(helpers.names) == {"a": "a_sk", "b": "b_sk", "S": "S_sk"}
    assert [(each.name, each.is_class, each.is_member) for each in helpers.found] == [
        ("a", False, False),
        ("b", False, False),
        ("S", True, False),
        ("S", False, True),
    ]
    assert helpers.classes == {"S"}
    assert used_names(helpers, {"S", "c"}) == {"S", "b", "a"}
    assert used_names(helpers, {"b"}) == {"b", "a"}


def test_a_class_is_read_with_its_semicolon() -> None:
    (helper,) = helpers_of(f"template <int N> struct S {{ int m() {{ {ASKS} }} }};\nint x;\n").found
    code = helper.file.code
    assert (code.text(helper.first), code.text(helper.body), code.text(helper.last)) == ("template", "{", ";")


def test_names_that_are_taken() -> None:
    assert dict(helpers_of(f"int a_sk, a_sk_2;\nint a() {{ {ASKS} }}\n").names) == {"a": "a_sk_3"}
    assert dict(helpers_of(f"#define a_sk 1\nint a() {{ {ASKS} }}\n").names) == {"a": "a_sk_2"}


def test_kernels_and_files_that_do_not_ask_have_none() -> None:
    assert not helpers_of("int a() { return 1; }\n").found
    assert not helpers_of(f"__global__ __vector__ void k(GM_ADDR x) {{ {ASKS} }}\n").found


def test_a_helper_begins_behind_the_kernels_that_macros_make() -> None:
    text = f"#define MADE(n) __global__ __vector__ void n(GM_ADDR x) {{ {ASKS} }}\nMADE(j) MADE(k)\nint a() {{ {ASKS} }}\n"
    for between in ("", ";", "\n#else\n#endif\n"):
        group = "#ifndef N\n" if "#" in between else ""
        (helper,) = helpers_of(text.replace("MADE(j)", f"{group}MADE(j)").replace("MADE(k)\n", f"MADE(k){between}\n")).found
        assert helper.file.unit.text[helper.start :].startswith("int a()"), between


def test_the_end_of_template_arguments() -> None:
    for text, after in (("f<a<b>, (c > d)>(x)", "("), ("f(x)", "("), ("f<int> y", "y"), ("f<a", "")):
        code = code_of(read(text.encode(), "k.asc").tokens)
        assert code.text(after_arguments(code, 0)) == after


def test_macros_that_do_more_with_an_argument_than_put_it_in() -> None:
    text = (
        "#define NAMED(e) log(#e, e)\n#define THROUGH(e) NAMED(e)\n#define RUN(e) [] { return e; }()\n"
        "#define AT(e) a[e]\n#define PUT(e) f(e)\n#define JOIN(e) f##e\n#define TYPE struct { int a; }\n"
    )
    assert strange_macros([read(text.encode(), "k.asc")]) == {"NAMED", "THROUGH", "RUN"}


def test_namespaces_of_all_forms_are_known() -> None:
    text = "namespace a::b { int f() { return GetBlockNum(); } }\ninline namespace c {}\n"
    assert {"a", "b", "c"} <= helpers_of(text).spaces
