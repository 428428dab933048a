"""Which `#if` groups a file has, and what of it is never compiled."""

from __future__ import annotations

import pytest

from skrules.source.code import Code, code_of
from skrules.source.conditions import Conditions, conditions_of, places_of
from skrules.source.tokens import tokenize

TEXT = "a\n#if  A // x\nb\n#ifdef B\nc\n#endif\n#elif C\nd\n#else\ne\n#endif\nf\n"


def read(text: str) -> tuple[Code, Conditions]:
    code = code_of(tokenize(text))
    return code, conditions_of(code)


@pytest.mark.parametrize(
    ("word", "conditions"),
    [
        ("a", ()),
        ("b", ("#if A",)),
        ("c", ("#if A", "#ifdef B")),
        ("d", ("#if A / #elif C",)),
        ("e", ("#if A / #elif C / #else",)),
        ("f", ()),
    ],
)
def test_conditions_that_are_open(word: str, conditions: tuple[str, ...]) -> None:
    code, found = read(TEXT)
    assert found.open_at(code.texts.index(word)) == conditions


@pytest.mark.parametrize(
    ("text", "is_dead"),
    [
        ("#if 0\nx\n#endif", True),
        ("#if 0\n#else\nx\n#endif", False),
        ("#if 1\n#else\nx\n#endif", True),
        ("#if A\n#error no\nx\n#endif", True),
        ("#if 0\n#if A\nx\n#endif\n#endif", True),
        ("#if A\nx\n#endif", False),
        ("#else\nx\n#endif", False),
    ],
)
def test_what_is_never_compiled(text: str, is_dead: bool) -> None:
    code, found = read(text)
    assert found.is_dead(code.texts.index("x")) == is_dead


@pytest.mark.parametrize(
    ("text", "last", "words"),
    [
        ("#if A\nx\n#else\ny\n#endif\nz", False, ["x", "z"]),
        ("#if A\nx\n#else\ny\n#endif\nz", True, ["y", "z"]),
        ("#if 0\nx\n#else\ny\n#endif\nz", False, ["y", "z"]),
        ("#if 0\nx\n#endif\nz", False, ["z"]),
        ("#if A\nx", False, ["x"]),
    ],
)
def test_a_walk_follows_one_branch(text: str, last: bool, words: list[str]) -> None:
    code, found = read(text)
    index, met = 0, []
    while index < len(code):
        if index in found.groups:
            index = found.skip(index, last=last)
            continue
        met.append(code.texts[index])
        index += 1
    assert met == words


def test_many_branches_are_told_in_short() -> None:
    code, found = read("#if A0\n" + "".join(f"#elif A{n}\n" for n in range(1, 40)) + "x\n#endif")
    (told,) = found.open_at(code.texts.index("x"))
    assert told.startswith("#if A0 / #elif A1 / ") and told.endswith(" / ... / #elif A39")
    code, found = read("#if A\n" * 100 + "x\n" + "#endif\n" * 100)
    assert len(found.open_at(code.texts.index("x"))) == 32


def test_places_of_directives() -> None:
    tokens = tokenize("#if A\n#define X\n#endif\n#define X\n")
    starts = [token.start for token in tokens if "define" in token.text]
    assert places_of(tokens, starts[:1]) == ("#if A",)
    assert places_of(tokens, starts[1:]) == ()
