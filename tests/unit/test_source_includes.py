"""What a file includes, and where that is found."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from skrules.source.includes import Include, includes_in, local_headers
from skrules.source.model import Token


def quoted(text: str) -> list[str]:
    return [each.name for each in includes_in(text) if not each.is_angled]


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        path = folder / (name.replace("__", "/") + ".h")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def found(folder: Path, *words: str, angled: tuple[str, ...] = ()) -> list[str]:
    headers = local_headers(str(folder / "k.h"), [folder / word for word in words], angled=[folder / word for word in angled])
    return sorted(Path(name).relative_to(folder).as_posix() for name in headers)


@pytest.mark.parametrize(
    "text",
    [
        '#include "a.h"',
        '  #  include"a.h" // "b.h"\n',
        '# /* why */ include /* not "b.h" */ "a.h"\nint x;',
        '#\\\ninclude \\\n"a.h"\n',
        '\xef\xbb\xbf#include "a.h"\r\n',
        'int x; /* one\n*/ #include "a.h"\n#include "a.h"\n',
        '#if A\n#include "a.h"\n#endif\nconst char *include = "include";',
    ],
)
def test_includes(text: str) -> None:
    assert quoted(text) == ["a.h"]


@pytest.mark.parametrize(
    "text",
    [
        '// #include "a.h"\n',
        '/*\n#include "a.h"\n*/\n',
        '// goes on \\\n#include "a.h"\n',
        'auto text = R"(\n#include "a.h"\n)";',
        'int x; #include "a.h"\n',
        '#if 0\n#include "a.h"\n#endif\n',
        '#define X "a.h" // include "a.h"\n#include X\n',
        '#include_next "a.h"\n',
        "#include a.h\n",
        '#include "a.h\n',
    ],
)
def test_no_includes(text: str) -> None:
    assert quoted(text) == []


def test_names_are_bytes_and_kinds_are_told_apart() -> None:
    text = '#include <a.h>\n#include "ä.h"\n'.encode().decode("latin-1")
    assert includes_in(text) == (Include("a.h", True), Include("ä.h", False))


@pytest.mark.parametrize(
    "text", ['#include "a.h"' * 20_000, "include /*" * 50_000, "#" + "\\\n" * 100_000 + "include", "#/*" * 90_000]
)
def test_strange_text_takes_no_time(text: str) -> None:
    start = time.perf_counter()
    includes_in(text)
    assert time.perf_counter() - start < 5


def test_a_long_file_is_not_read_behind_its_includes(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []

    def note(text: str) -> tuple[Token, ...]:
        read.append(len(text))
        return ()

    monkeypatch.setattr("skrules.source.includes.tokenize", note)
    includes_in('#include "a.h"\n' + "int x;\n" * 10_000)
    assert read == [len('#include "a.h"')]


def test_headers_are_found_from_the_file_that_includes_them(tmp_path: Path) -> None:
    write(tmp_path, k='#include "in/a.h"\n', in__a='#include "b.h"\n#include "../c.h"\n', in__b="", c='#include "k.h"\n', b="")
    assert found(tmp_path) == ["c.h", "in/a.h", "in/b.h"]


def test_comments_lead_nowhere(tmp_path: Path) -> None:
    write(tmp_path, k='// #include "a.h"\n#include "b.h"\n', a="", b='/* #include "a.h" */\n')
    assert found(tmp_path) == ["b.h"]


def test_a_header_of_the_same_name_elsewhere_is_another_one(tmp_path: Path) -> None:
    write(tmp_path, k='#include "a.h"\n#include "b.h"\n', a="", b='#include "a.h"\n', far__a="", far__b="")
    assert found(tmp_path, "far") == ["a.h", "b.h"]


def test_angle_brackets_look_in_their_folders_only(tmp_path: Path) -> None:
    write(tmp_path, k="#include <a.h>\n#include <b.h>\n", a="", far__b='#include "a.h"\n', far__a="")
    assert found(tmp_path, "far") == []
    assert found(tmp_path, "far", angled=("far",)) == ["far/a.h", "far/b.h"]
