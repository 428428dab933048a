"""Values of conditions: what stated macros decide, what stays unknown, and that a real preprocessor agrees."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from skrules.source.evaluation import Macros, evaluate
from skrules.source.model import Token, TokenKind

MACROS: Macros = {"ONE": 1, "NINE": 9, "MINUS": -3, "ZERO": 0, "SET": "defined", "GONE": "undefined"}
FLAGS = ("-DONE=1", "-DNINE=9", "-DMINUS=-3", "-DZERO=0", "-DSET=4", "-UGONE")
CPP = shutil.which("g++")


def value(condition: str, directive: str = "if") -> bool | None:
    return evaluate(Token(TokenKind.DIRECTIVE, f"#{directive} {condition}", 0), MACROS)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("ONE", True),
        ("ONE == 1", True),
        ("ONE == 1u", True),
        ("NINE >= 0x9 && NINE < 011", False),
        ("0b11 == 3 && 1'000 == 1000", True),
        ("GONE", False),
        ("GONE == 0", True),
        ("!defined(GONE) && defined ONE", True),
        ("defined(SET)", True),
        ("SET", None),
        ("SET == 4 || ONE", True),
        ("UNSTATED", None),
        ("UNSTATED == UNSTATED", None),
        ("UNSTATED && ZERO", False),
        ("ZERO && UNSTATED", False),
        ("UNSTATED || ONE", True),
        ("!UNSTATED", None),
        ("defined(UNSTATED)", None),
        ("defined(UNSTATED) && !defined(SET)", False),
        ("ONE ? NINE : UNSTATED", True),
        ("UNSTATED ? 2 : 2", True),
        ("UNSTATED ? 2 : 3", None),
        ("-7 / 2 == -3 && -7 % 2 == -1", True),
        ("1 << 4 >> 2 == 4", True),
        ("~0 == -1 && (5 ^ 6) == 3 && (5 | 2) == 7 && (5 & 4)", True),
        ("-1 > 0u", True),
        ("-1 > 0", False),
        ("MINUS == -3", True),
        ("MINUS < 0", None),  # with a suffix in its definition it would be a large number
        ("1 / ZERO", None),
        ("1 << 64", None),
        ("18446744073709551615u == -1", True),
        ("9223372036854775808", None),
        ("true && !false", True),
        ("not GONE and ONE", True),
        ("__has_include(<a/b.h>) || ONE", True),
        ("FUNCTION(1, (2)) && ZERO", False),
        ("'a' == 97", None),
        ("ONE /* not */ == /* 2 */ 1 // one", True),
        ("ONE == \\\n 1", True),
        ("", None),
        ("ONE ==", None),
        ("(ONE", None),
        ("ONE)", None),
        ("1.5", None),
        ("12ulu", None),
        ("defined()", None),
        ('"x"', None),
        ("ONE = 1", None),
        ("ONE, NINE", None),
        ("ONE ? NINE", None),
        ("5 > > 1", None),
        ("FUNCTION(1", None),
    ],
)
def test_conditions(condition: str, expected: bool | None) -> None:
    assert value(condition) is expected


@pytest.mark.parametrize(
    ("directive", "name", "expected"),
    [
        ("ifdef", "SET", True),
        ("ifdef", "GONE", False),
        ("ifdef", "ZERO", True),
        ("ifndef", "GONE", True),
        ("elifdef", "ONE", True),
        ("elifndef", "ONE", False),
        ("ifdef", "UNSTATED", None),
        ("ifndef", "UNSTATED", None),
        ("ifdef", "", None),
        ("ifdef", "ONE NINE", None),
        ("elif", "ONE", True),
    ],
)
def test_directives(directive: str, name: str, expected: bool | None) -> None:
    assert value(name, directive) is expected


@pytest.mark.parametrize(
    "condition",
    ["(" * 20_000 + "1" + ")" * 20_000, "!" * 20_000 + "1", "1?" * 20_000 + "1", "1?1:" * 10_000 + "1", "FUNCTION(" * 10_000],
    ids=["parentheses", "not", "question", "chain", "calls"],
)
def test_absurd_nesting_is_not_known(condition: str) -> None:
    assert value(condition) is None


def test_long_conditions_are_known() -> None:
    assert value("+".join(["ONE"] * 20_000) + " == 20000") is True
    assert value(" || ".join(["UNSTATED"] * 20_000 + ["ONE"])) is True


ATOMS = st.sampled_from(
    [
        "ONE",
        "NINE",
        "MINUS",
        "ZERO",
        "SET",
        "GONE",
        "0",
        "1",
        "2",
        "7u",
        "0x10",
        "011",
        "3L",
        "defined(GONE)",
        "defined SET",
        "true",
    ]
)
BINARY = ["||", "&&", "|", "^", "&", "==", "!=", "<", ">", "<=", ">=", "<<", ">>", "+", "-", "*", "/", "%"]
EXPRESSIONS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(BINARY), inner).map(" ".join),
        st.tuples(st.sampled_from("!~-+"), inner).map(lambda pair: f"{pair[0]} {pair[1]}"),
        inner.map(lambda text: f"({text})"),
        st.tuples(inner, inner, inner).map(lambda each: f"{each[0]} ? {each[1]} : {each[2]}"),
    ),
    max_leaves=8,
)


@pytest.mark.skipif(CPP is None, reason="needs g++")
@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(EXPRESSIONS, min_size=20, max_size=40))
@example(["(ONE / ZERO || ONE)", "(ZERO && ONE / ZERO)", "(ONE / ZERO) && ZERO"])
def test_a_preprocessor_says_the_same(expressions: list[str]) -> None:
    known = [(index, value(text)) for index, text in enumerate(expressions)]
    text = "".join(
        f"#if {expressions[index]}\nT{index}\n#else\nF{index}\n#endif\n" for index, found in known if found is not None
    )
    assert CPP is not None
    run = subprocess.run([CPP, "-E", "-P", "-w", "-xc++", *FLAGS, "-"], input=text, capture_output=True, text=True, check=False)
    # `(1 / 0 || 1)` is known, and no compiler takes it: it says so, and which branch it is.
    assert all("division by zero in #if" in line for line in run.stderr.splitlines() if "error:" in line)
    assert run.stdout.split() == [f"{'T' if found else 'F'}{index}" for index, found in known if found is not None]
