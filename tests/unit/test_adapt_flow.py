"""Where a TPipe is alive at an exit of its scope."""

from __future__ import annotations

import pytest

from skrules.adapt.flow import Flow, Pipe
from skrules.adapt.statements import Statement, read_block
from skrules.source.code import code_of
from skrules.source.kernels import read

MARK = "TPipe p;"


def flow_of(text: str) -> tuple[Flow, list[str]]:
    """Return the flow of the `TPipe p;` of a body, and the first tokens of the exits at which it is alive for sure."""
    code = code_of(read(f"{{ {text} }}".encode(), "k.asc").tokens)
    name = code.texts.index("p")
    path: list[Statement] = [read_block(code, 0)]
    while path[-1].first != name - 1:
        path.append(next(child for child in path[-1].children if child.first <= name <= child.last))
    flow = Flow(code, Pipe(name="p", index=name, path=tuple(path)))
    return flow, [" ".join(code.texts[exit_.first : exit_.first + 2]) for exit_, _ in flow.exits()]


@pytest.mark.parametrize(
    ("text", "exits"),
    [
        (MARK, ["{ TPipe"]),
        (f"a; {MARK} if (a) return 1; b;", ["return 1", "{ a"]),
        (f"if (a) {{ {MARK} return 1; }} return 2;", ["return 1"]),
        (f"{MARK} p.Destroy();", []),
        (f"{MARK} p.Destroy(); return 1;", []),
        (f"{MARK} q.Destroy();", ["{ TPipe"]),
        (f"{MARK} if (a) p.Destroy(); return 1;", []),
        (f"{MARK} if (a) {{ p.Destroy(); return 1; }} return 2;", ["return 2"]),
        (f"{MARK} f(p.Destroy());", []),
        (f"{MARK} while (a) {{ if (b) return 1; p.Destroy(); }}", []),
        (f"{MARK} for (;;) {{ if (b) break; c; }}", ["{ TPipe"]),
        (f"{MARK} switch (a) {{ case 1: return 1; default: p.Destroy(); }}", ["return 1"]),
        (f"{MARK} again: return 1;", []),
        (f"{MARK} return 1; return 2;", ["return 1"]),
        (f"{MARK}\n#if A\np.Destroy();\n#endif\nreturn 1;", []),
        (f"\n#if A\n{MARK}\n#else\nreturn 1;\n#endif\nreturn 2;", ["return 2"]),
    ],
)
def test_exits_at_which_it_is_alive(text: str, exits: list[str]) -> None:
    assert flow_of(text)[1] == exits


@pytest.mark.parametrize(("text", "falls"), [(MARK, True), (f"{MARK} return;", False), (f"{MARK} if (a) return;", True)])
def test_whether_the_end_is_reached(text: str, falls: bool) -> None:
    assert flow_of(text)[0].falls_through == falls


def test_what_is_around() -> None:
    assert flow_of(f"for (;;) {{ {MARK} }}")[0].in_a_loop
    assert not flow_of(f"{{ {MARK} }}")[0].in_a_loop
    assert flow_of(f"switch (a) {{ case 1: {{ {MARK} }} }}")[0].leaves_by_break
