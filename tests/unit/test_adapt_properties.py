"""What a kernel file may carry between its tokens without meaning anything changes no result; nonsense crashes nothing."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skrules.adapt.adaptation import AdaptedSource, adapt
from skrules.contract.check import resolve
from skrules.contract.load import load
from skrules.findings import blockers
from skrules.source.code import code_of, join
from skrules.source.kernels import read
from skrules.source.model import Kernel
from skrules.source.tokens import tokenize

CONTRACT = load(
    b"entries:\n  scale: {bind_target: 'ops::scale<half, 8>', inputs: [x], outputs: [y]}\n  fill: {outputs: [y]}\n",
    "contract.yaml",
)
# Each part is a token sequence into which anything without a meaning may be put between two tokens.
TEXT = """#include "kernel_operator.h"
class Share {
public:
    __aicore__ inline void Init(GM_ADDR y) { count = AscendC::GetBlockNum(); out = y; }
    uint32_t count;
    GM_ADDR out;
};
namespace ops {
template <typename T, int N = 4>
__global__ __vector__ void scale(GM_ADDR x, GM_ADDR y, T factor, uint32_t count)
{
    AscendC::TPipe pipe;
    if (count == 0) { return; }
    Share share; share.Init(y);
    run<T, N>(&pipe, x, y, factor, AscendC::GetBlockNum(), share.count);
}
}
extern "C" __global__ __aicore__ void fill(__gm__ uint8_t *y, bool flag = true)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    if (flag) { note("fill (y)", '"'); }
}
"""
TOKENS = [token for token in tokenize(TEXT) if token.text.strip()]
NOISE = st.sampled_from(
    [
        " ",
        "\n",
        "\t",
        "\r\n",
        " /* ) { ; __global__ */ ",
        " // } GetBlockNum() \\ x\n",
        "\\\n",
        " \\\r\n ",
        "/**/",
        "\n\n  ",
        " /*\n#if 0\n*/ ",
    ]
)


def adapted(text: str) -> AdaptedSource:
    unit = read(text.encode("latin-1"), "k.asc")
    return adapt(unit, resolve(unit, CONTRACT))


def essence(text: str) -> str:
    """Return the tokens of a text that mean something, without how they stand on lines."""
    code = code_of(tokenize(text))
    return " ".join(join(code, index, index + 1) for index in range(len(code)) if not code.is_directive(index))


def facts(kernel: Kernel) -> tuple[object, ...]:
    parameters = [(each.type, each.name, each.array, each.default) for each in kernel.parameters]
    return kernel.qualified_name, kernel.qualifiers, kernel.type, parameters, kernel.template_parameters, kernel.extern_c


BASE = adapted(TEXT)


def test_base_is_completed() -> None:
    assert not blockers(BASE.findings), [str(finding) for finding in BASE.findings]
    assert len(BASE.entries) == 2
    assert len(BASE.fragments) == 3


@given(places=st.lists(st.tuples(st.integers(1, len(TOKENS) - 1), NOISE), max_size=12))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_blanks_comments_and_continuations_change_nothing(places: list[tuple[int, str]]) -> None:
    noise: dict[int, str] = {}
    for place, text in places:
        noise[place] = noise.get(place, "") + text
    pieces, at = [], 0
    for index, token in enumerate(TOKENS):
        between = TEXT[at : token.start]
        # A directive ends with its line, and a comment or splice after it would belong to it.
        pieces += [between, noise.get(index, "") if index and not TOKENS[index - 1].text.startswith("#") else "", token.text]
        at = token.end
    source = adapted("".join([*pieces, TEXT[at:]]))
    assert [facts(kernel) for kernel in source.unit.kernels] == [facts(kernel) for kernel in BASE.unit.kernels]
    assert source.status == "completed", [str(finding) for finding in source.findings]
    assert essence(source.text().decode("latin-1")) == essence(BASE.text().decode("latin-1"))


STATEMENT = "    Share share; share.Init(y);\n"
LAST = "    run<T, N>(&pipe, x, y, factor, AscendC::GetBlockNum(), share.count);\n"


@given(
    condition=st.sampled_from(["#if 1", "#ifdef A", "#ifndef B", "#if A && (B > 2) // x", "# if  0x1"]),
    depth=st.integers(1, 3),
    line=st.sampled_from([STATEMENT, LAST]),
)
@settings(max_examples=10, deadline=None)
def test_conditions_around_statements_stay(condition: str, depth: int, line: str) -> None:
    opening, closing = f"{condition}\n" * depth, "#endif\n" * depth
    source = adapted(TEXT.replace(line, opening + line + closing))
    assert source.status == "completed", [str(finding) for finding in source.findings]
    text = source.text().decode()
    assert text.count(opening) == text.count(closing) == 2
    assert essence(text) == essence(BASE.text().decode())


@given(condition=st.sampled_from(["#if A", "#ifdef A", "#ifndef A"]))
@settings(max_examples=5, deadline=None)
def test_condition_around_a_kernel_goes_around_its_binding(condition: str) -> None:
    start = TEXT.index('extern "C"')
    source = adapted(f"{TEXT[:start]}{condition}\n{TEXT[start:]}#endif\n")
    assert source.status == "completed"
    text = source.text().decode()
    assert text.index(condition) < text.index("SK_BIND(fill") < text.rindex("#endif")
    assert essence(text) == essence(BASE.text().decode())


@given(content=st.text(st.characters(codec="latin-1", exclude_characters='"\\\r\n'), max_size=40))
@settings(max_examples=25, deadline=None)
def test_strings_change_nothing(content: str) -> None:
    source = adapted(TEXT.replace("fill (y)", content))
    assert source.status == "completed"
    assert source.text().decode("latin-1") == BASE.text().decode("latin-1").replace("fill (y)", content)


PIECES = [token.text for token in TOKENS] + [
    "#if A\n",
    "#else\n",
    "#endif\n",
    "#define D(x) x\n",
    "D(",
    "}",
    "{",
    "(",
    ")",
    "<",
    ">",
    '"',
    "'",
    "/*",
    "\\",
]


@given(
    edits=st.lists(
        st.tuples(st.integers(0, len(TOKENS)), st.integers(0, 4), st.lists(st.sampled_from(PIECES), max_size=3)), max_size=6
    )
)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_mutated_files_are_read_and_answered(edits: list[tuple[int, int, list[str]]]) -> None:
    words = [token.text for token in TOKENS]
    for place, length, new in edits:
        words[place : place + length] = new
    check(" ".join("\n" + word + "\n" if word.startswith("#") else word for word in words).encode("latin-1"))


@given(data=st.binary(max_size=200))
@settings(max_examples=25, deadline=None)
def test_bytes_are_read_and_answered(data: bytes) -> None:
    check(TEXT.encode() + data)
    check(data + TEXT.encode())


def check(data: bytes) -> None:
    unit = read(data, "k.asc")
    assert "".join(token.text for token in unit.tokens).encode("latin-1") == data
    source = adapt(unit, resolve(unit, CONTRACT))
    if source.status == "needs-human":
        assert blockers(source.findings)
    else:
        text = source.text()
        for fragment in source.fragments:
            assert fragment.text.encode("latin-1") in text


@pytest.mark.parametrize(
    "text",
    [
        " " * 100_000,
        "(" * 1_000,
        "{" * 1_000,
        "<" * 1_000,
        "#if A\n" * 1_000,
        "a::" * 1_000,
        "/*" * 50_000,
        "f(" * 1_000 + ")" * 1_000,
    ],
)
def test_long_nonsense_is_read_in_time(text: str) -> None:
    check(TEXT.encode() + text.encode())
    check(TEXT.replace("count == 0", f"count == 0 {text}").encode())
