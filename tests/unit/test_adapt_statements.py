"""The statements of a body, and what is too unclear to be read."""

from __future__ import annotations

from typing import Any

import pytest

from skrules.adapt.statements import Kind, Statement, UnreadableError, read_block
from skrules.source.code import code_of
from skrules.source.kernels import read


def outline(statement: Statement) -> Any:
    inner = [outline(child) for child in statement.children]
    return (str(statement.kind), inner) if inner else str(statement.kind)


def read_body(text: str) -> Statement:
    return read_block(code_of(read(f"{{ {text} }}".encode(), "k.asc").tokens), 0)


LABELLED = ["label", "label", "simple", "label", "return"]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("int a = f({1; 2});", ["simple"]),
        ("if (a) b; else if constexpr (c) return; else { d; }", [("if", ["simple", ("if", ["return", ("block", ["simple"])])])]),
        ("if ASCEND_IS_AIV { a; }", [("if", [("block", ["simple"])])]),
        ("for (;;) { break; } while (a) continue;", [("loop", [("block", ["break"])]), ("loop", ["continue"])]),
        ("do b; while (c);", [("loop", ["simple"])]),
        ("switch (a) { case 1: case B::c: b; default: return; }", [("switch", [("block", LABELLED)])]),
        ("again: goto again;", ["label", "goto"]),
        ("EACH(i, n) { a; } REGION { b; }", [("macro block", [("block", ["simple"])])] * 2),
        ("MACRO(a) b; MACRO(c)", ["simple", "simple", "simple"]),
        ("auto f = [&] { return 1; }; struct S { int n; };", ["simple", "simple"]),
        ("[[maybe_unused]] int a;", ["simple"]),
        ("\n#if A\nreturn;\n#endif\n", ["directive", "return", "directive"]),
        ("K k{1}; K{2}.f();", ["simple", "simple"]),
    ],
)
def test_statements(text: str, wanted: list[Any]) -> None:
    assert [outline(child) for child in read_body(text).children] == wanted


def test_places() -> None:
    (condition,) = read_body("if (a) { b; } else c;").children
    code = code_of(read(b"{ if (a) { b; } else c; }", "k.asc").tokens)
    assert [code.text(at) for at in (condition.first, condition.head, condition.last)] == ["if", "{", ";"]
    assert condition.kind is Kind.IF


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a", "no semicolon"),
        ("else b;", "'else' stands where"),
        ("try { a; } catch (...) { b; }", "'try' stands where"),
        ("do a; b;", "no while"),
        ("case 1", "no end"),
        ("for", "condition is missing"),
        ("if (a)", "statement is missing"),
        ("\n#if A\nif (a) {\n#endif\n}\n", "opens a bracket"),
        ("if (a) b;\n#if A\nelse c;\n#endif\n", "between a statement and its else"),
        ("{" * 5000 + "}" * 5000, "nested too deeply"),
    ],
)
def test_what_is_unreadable(text: str, reason: str) -> None:
    with pytest.raises(UnreadableError, match=reason):
        read_body(text)
