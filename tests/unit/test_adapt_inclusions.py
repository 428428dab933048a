"""Where headers come in, and when that is not known well enough to repeat their code there."""

from __future__ import annotations

import pytest

from skrules.adapt.inclusions import Inclusion, guard_of, read_inclusions
from skrules.adapt.scopes import read_scopes
from skrules.source.code import code_of
from skrules.source.kernels import read

GUARDED = "#ifndef F_H\n#define F_H\nint f;\n#endif\n"


def inclusions(text: str, **headers: str) -> dict[str, Inclusion]:
    unit = read(text.encode(), "op/k.asc")
    units = [read(header.encode(), f"{path.replace('__', '/')}.h") for path, header in headers.items()]
    return {each.unit.path: each for each in read_inclusions(unit, read_scopes(unit), units)}


def test_place_order_and_what_stands_between() -> None:
    text = '#include <x.h>\n  #include "../lib/g.h"  // g\nint a;\n#include "f.h"\n'
    found = inclusions(text, op__f="int f;\n", lib__g='int g;\n#include "h.h"\nint i;\n', lib__h=GUARDED)
    assert list(found) == ["lib/h.h", "lib/g.h", "op/f.h"]
    assert [(each.rank, each.problem) for each in found.values()] == [(0, ""), (1, ""), (2, "")]
    assert {each.place for path, each in found.items() if path != "op/f.h"} == {text.index("int a")}
    assert found["op/f.h"].place == len(text)
    ((scopes, start),) = found["lib/h.h"].after
    assert (scopes.code.texts[start:], found["lib/g.h"].after) == (("int", "i", ";"), ())
    assert (found["lib/h.h"].guard, found["lib/g.h"].guard) == (0, -1)


def test_headers_are_found_beside_their_file_or_by_the_only_name() -> None:
    assert list(inclusions('#include "f.h"\n', op__f="", lib__f="")) == ["op/f.h"]
    assert list(inclusions('#include "part/f.h"\n', lib__part__f="")) == ["lib/part/f.h"]
    assert not inclusions('#include "f.h"\n', lib__f="", other__f="")


def test_headers_that_include_each_other_end() -> None:
    found = inclusions('#include "f.h"\n', op__f='#pragma once\n#include "g.h"\n', op__g='#pragma once\n#include "f.h"\n')
    assert list(found) == ["op/g.h", "op/f.h"]


@pytest.mark.parametrize(
    ("text", "header", "problem"),
    [
        ('#include "f.h"\n#include "f.h"\n', "int f;\n", "more than once"),
        ('#include "f.h"\n#include "f.h"\n', GUARDED, ""),
        ('#include "f.h"\n#include "f.h"\n', "#pragma once\nint f;\n", ""),
        ('namespace a {\n#include "f.h"\n}\n', GUARDED, "inside of a scope"),
        ('#ifdef A\n#include "f.h"\n#endif\n', GUARDED, ""),
        ('#ifdef A\n#include "f.h"\n#else\n#include "f.h"\n#endif\n', GUARDED, "depends on an #if"),
        ('#include "f.h"\n', "#if A\n{\n#endif\n", "braces depend"),
    ],
)
def test_problems(text: str, header: str, problem: str) -> None:
    found = inclusions(text, op__f=header)["op/f.h"].problem
    assert problem in found
    assert bool(problem) == bool(found)


@pytest.mark.parametrize(
    ("text", "is_guarded"),
    [
        (f"// a\n{GUARDED}", True),
        ("#if !defined(F_H)\n#define F_H\nint f;\n#endif  // F_H\n", True),
        ("#ifndef F_H\n#define G_H\nint f;\n#endif\n", False),
        ("#ifndef F_H\n#define F_H 1\nint f;\n#endif\n", False),
        ("#ifndef F_H\n#define F_H\nint f;\n#else\nint g;\n#endif\n", False),
        ("#ifndef F_H\n#define F_H\n#endif\n#ifdef A\n#endif\n", False),
        (f"{GUARDED}int g;\n", False),
        ("", False),
    ],
)
def test_guards(text: str, is_guarded: bool) -> None:
    assert (guard_of(code_of(read(text.encode(), "f.h").tokens)) >= 0) == is_guarded
