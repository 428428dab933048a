"""What stated macros decide of a file: dead text becomes trivia, the rest means the same."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skrules.source.evaluation import Macros
from skrules.source.kernels import read
from skrules.source.model import TokenKind
from skrules.source.selection import MACRO_REDEFINED, select, settling, statement_hint
from skrules.source.tokens import tokenize

CPP = shutil.which("g++")


def active(text: str, macros: Macros) -> str:
    """Return the text that is left, a line a piece; the whole must still be there."""
    chosen = select(tokenize(text), macros)
    assert "".join(token.text for token in chosen.tokens) == text
    left = "".join("\n" if token.kind is TokenKind.INACTIVE else token.text for token in chosen.tokens)
    return " / ".join(line.strip() for line in left.splitlines() if line.strip())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\n#ifdef GONE\nb\n#else\nc\n#endif\nd\n", "a / c / d"),
        ("#if ONE\nb\n#else\nc\n#endif\n", "b"),
        ("#if ONE == 2\nb\n#elif ONE == 3\nc\n#endif\nd\n", "d"),
        ("#if ONE == 2\nb\n#elif ONE == 1\nc\n#elif U\ne\n#else\nf\n#endif\n", "c"),
        ("#if U\nb\n#else\nc\n#endif\n", "#if U / b / #else / c / #endif"),
        ("#if U\nb\n#elif ONE\nc\n#else\nd\n#endif\n", "#if U / b / #elif ONE / c / #endif"),
        ("#if U\nb\n#elif GONE\nc\n#else\nd\n#endif\n", "#if U / b / #else / d / #endif"),
        ("#if GONE\nb\n#elif U\nc\n#else\nd\n#endif\n", "#if GONE / #elif U / c / #else / d / #endif"),
        ("#if U\n#if ONE\nb\n#else\nc\n#endif\n#endif\n", "#if U / b / #endif"),
        ("#if GONE\n#if ONE\nb\n#endif\n#else\n#if ONE\nc\n#endif\n#endif\n", "c"),
        ("#if 0\nb\n#endif\n", "#if 0 / b / #endif"),  # no statement is about it
        ("#if U || ONE\nb\n#else\nc\n#endif\n", "b"),
        ("#if ONE\nb\n", "#if ONE / b"),  # never closed
        ("#if ONE\nb\n#else\nc\n#elif U\nd\n#endif\n", "#if ONE / b / #else / c / #elif U / d / #endif"),
        ("#endif\n#else\nb\n", "#endif / #else / b"),
    ],
)
def test_groups(text: str, expected: str) -> None:
    assert active(text, {"ONE": 1, "GONE": "undefined"}) == expected


def test_without_statements_nothing_is_looked_at() -> None:
    tokens = tokenize("#if 1\na\n#endif\n")
    assert select(tokens, {}).tokens is tokens


def test_decisions_say_what_the_compiler_is_to_verify() -> None:
    text = "#if ONE\na\n#else\nb\n#endif\n#if GONE\nc\n#elif ONE // it\nd\n#endif\n#if U\n#endif\n"
    first, second = select(tokenize(text), {"ONE": 1, "GONE": "undefined"}).decisions
    assert (first.start, first.macros, first.unless) == (0, (("ONE", 1),), ())
    assert [text[:end].rpartition("\n")[2] for end in first.dead] == ["#else"]
    assert second.macros == (("GONE", "undefined"), ("ONE", 1))
    assert [text[:end].rpartition("\n")[2] for end in second.dead] == ["#if GONE"]
    assert second.unless == ("#if GONE", "#elif ONE // it")


@pytest.mark.parametrize(
    ("text", "macros", "conflict"),
    [
        ("#define ONE 2\n", {"ONE": 1}, True),
        ("#define ONE 1\n", {"ONE": 1}, False),
        ("#define ONE (0x1) // one\n", {"ONE": 1}, False),
        ("#define ONE(x) 1\n", {"ONE": 1}, True),
        ("#define ONE OTHER\n", {"ONE": 1}, True),
        ("#define ONE\n", {"ONE": "defined"}, False),
        ("#define ONE\n", {"ONE": "undefined"}, True),
        ("#undef ONE\n", {"ONE": 1}, True),
        ("#undef ONE\n", {"ONE": "undefined"}, False),
        ("#ifndef ONE\n#define ONE 7\n#endif\n", {"ONE": 1}, False),
        ("#if !defined(ONE)\n# define ONE 7\n#endif\n", {"ONE": 1}, False),
        ("#ifndef ONE\n#define ONE 7\n#endif\n", {"ONE": "undefined"}, True),
        ("#ifndef ONE\n#define ONE 7\n#define MORE 1\n#endif\n", {"ONE": 1}, False),
        ("#if U\n#define ONE 2\n#endif\n", {"ONE": 1}, True),
        ("#if ONE == 2\n#define ONE 2\n#endif\n", {"ONE": 1}, False),
        ("// #define ONE 2\n#define TWO ONE\n", {"ONE": 1}, False),
    ],
)
def test_a_file_that_says_otherwise_is_told(text: str, macros: Macros, conflict: bool) -> None:
    found = [each for each in read(text.encode(), "k.asc", macros=macros).findings if each.rule == MACRO_REDEFINED]
    assert bool(found) is conflict
    assert all(finding.at.line >= 1 and "ONE" in finding.message for finding in found)


def test_a_default_value_decides_nothing_and_is_no_conflict() -> None:
    text = "#ifndef ONE\n#define ONE 3\n#endif\n#if ONE == 1\na\n#else\nb\n#endif\n"
    assert active(text, {"ONE": 1}) == "#ifndef ONE / #define ONE 3 / #endif / a"


def test_kernels_are_read_as_they_are_compiled() -> None:
    text = (
        '#ifdef TEST\nextern "C" __global__ __vector__ void k(\n#else\n'
        "template <typename T>\n__global__ __cube__ void k(\n#endif\n"
        "    GM_ADDR x\n#if MORE\n, GM_ADDR y\n#endif\n) {}\n"
    )
    (kernel,) = read(text.encode(), "k.asc", macros={"TEST": "undefined", "MORE": 0}).kernels
    assert (kernel.extern_c, kernel.type.core, [each.name for each in kernel.parameters]) == ("", "cube", ["x"])
    assert kernel.template_parameters is not None
    assert not kernel.signature_has_conditions
    (kernel,) = read(text.encode(), "k.asc", macros={"TEST": "defined", "MORE": 1}).kernels
    assert (kernel.extern_c, kernel.type.core, [each.name for each in kernel.parameters]) == ("prefix", "vector", ["x", "y"])
    assert read(text.encode(), "k.asc", macros={"TEST": "defined"}).kernels[0].signature_has_conditions


def test_a_macro_with_a_meaning_in_each_branch() -> None:
    one, other = (f"#define K(T) __global__ __{core}__ void {core}_##T() {{}}\n" for core in ("cube", "vector"))
    text = f"#ifdef A\n{one}#else\n{other}#endif\nK(a)\n"
    unit = read(text.encode(), "k.asc")
    assert not unit.kernels
    assert unit.findings[0].hint.endswith("macros:\n  A: undefined  # or defined")
    assert [kernel.name for kernel in read(text.encode(), "k.asc", macros={"A": "undefined"}).kernels] == ["vector_a"]


def test_what_would_settle_conditions() -> None:
    assert settling(["#if S == 1 / #elif 2 == S", "#ifdef A / #else", "#if defined(B) && N >= 2201", "#if C || has(<x>)"]) == {
        "S": (1, 2),
        "A": ("undefined", "defined"),
        "B": ("undefined", "defined"),
        "N": (2201,),
        "C": ("undefined", 1),
    }
    assert statement_hint("do this", ["#if 0", "#else"]) == "do this"


def test_deep_groups_cost_no_time() -> None:
    depth = 5_000
    text = "#if ONE\n" * depth + "a\n" + "#else\nb\n#endif\n" * depth
    assert active(text, {"ONE": 1}) == "a"


WORDS = st.integers(0, 99).map(lambda number: f"w{number}\n")
CONDITIONS = st.sampled_from(
    ["if A", "if A == 2", "if B", "ifdef B", "ifndef C", "if U", "if U == 1 && A", "if defined(C) || U", "if !defined(U)", "if C"]
)


@st.composite
def groups(draw: st.DrawFn, depth: int = 3) -> str:
    pieces = [draw(WORDS)]
    for _ in range(draw(st.integers(0, 2)) if depth else 0):
        inner = groups(depth=depth - 1)
        pieces += [f"#{draw(CONDITIONS)}\n", draw(inner)]
        for _ in range(draw(st.integers(0, 2))):
            later = draw(CONDITIONS)
            words = later.removeprefix("if ") if later.startswith("if ") else f"defined({later.split()[1]})"
            pieces += [f"#elif {words}\n", draw(inner)]
        pieces += ["#else\n", draw(inner)] if draw(st.booleans()) else []
        pieces += ["#endif\n", draw(WORDS)]
    return "".join(pieces)


@pytest.mark.skipif(CPP is None, reason="needs g++")
@settings(max_examples=15, deadline=None)
@given(
    groups(),
    st.fixed_dictionaries({}, optional={"A": st.sampled_from([0, 1, 2]), "B": st.just("defined"), "C": st.just("undefined")}),
    st.sampled_from([(), ("-DU=0",), ("-DU=1",)]),
)
def test_what_is_left_means_what_all_means(text: str, macros: Macros, others: tuple[str, ...]) -> None:
    values = {"A": 2, "B": "defined", "C": "undefined", **macros}
    flags = [f"-D{name}={1 if value == 'defined' else value}" for name, value in values.items() if value != "undefined"]

    def compiled(source: str) -> list[str]:
        assert CPP is not None
        command = [CPP, "-E", "-P", "-w", "-xc++", *flags, *others, "-"]
        return subprocess.run(command, input=source, capture_output=True, text=True, check=True).stdout.split()

    assert compiled(active(text, macros).replace(" / ", "\n") + "\n") == compiled(text)
    if macros.keys() == {"A", "B", "C"} and "U" not in text:
        assert "#" not in active(text, macros)
