"""The host runtime: what is compiled as one, what is compiled again, and what the user is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from skrules import resources
from skrules.errors import BuildError
from skrules.toolchain import host_runtime
from skrules.toolchain.host_runtime import LIBRARY, make_runtime, units_of

# Stands in for g++: says who it is, logs the sources of its input, and writes its output.
COMPILER = r"""#!/bin/sh
case "$*" in -v|*" -v") echo "gcc version 1.2.3" >&2; echo "Target: x86_64-test" >&2; exit 0;; esac
previous=""
for word in "$@"; do
    case "$word" in
        *.cpp)
            sources=$(sed 's/#include //; s/"//g' "$word")
            for source in $sources; do basename "$source" >> "$0.log"; done
            grep -q "no C++" $sources && exit 1;;
    esac
    [ "$previous" = -o ] && echo made > "$word"
    [ "$previous" = -MF ] && echo "x:" > "$word"
    previous="$word"
done
exit 0
"""


@pytest.fixture
def toolchains(tmp_path, monkeypatch):
    """A host toolchain of five small sources, one of them with compiler options of its own; the others go two by two."""
    folder = tmp_path / "toolchains"
    (folder / "host" / "runtime").mkdir(parents=True)
    (folder / "host" / "include").mkdir()
    (folder / "ascend.yaml").write_bytes((resources.toolchains() / "ascend.yaml").read_bytes())
    for number in range(5):
        (folder / "host" / "runtime" / f"s{number}.cpp").write_text(f"int s{number};\n")
    (folder / "host" / "runtime" / "s3.cpp").write_text('#pragma GCC optimize("O2")\n')
    monkeypatch.setattr(resources, "toolchains", lambda: folder)
    monkeypatch.setattr(host_runtime, "_TOGETHER", 2)
    return folder / "host" / "runtime"


@pytest.fixture
def environment(tmp_path):
    compiler = tmp_path / "bin" / "g++"
    compiler.parent.mkdir()
    compiler.write_text(COMPILER)
    compiler.chmod(0o755)
    return {"CXX": str(compiler), "PATH": "/usr/bin:/bin", "SKRULES_CACHE": str(tmp_path / "cache")}


def compiled(environment) -> list[str]:
    """Return the sources compiled since the last question."""
    log = Path(f"{environment['CXX']}.log")
    lines = log.read_text().splitlines() if log.exists() else []
    log.unlink(missing_ok=True)
    return sorted(lines)


def test_units_hold_every_source_once_and_those_with_options_alone():
    sources = sorted((resources.toolchains() / "host" / "runtime").glob("*.cpp"))
    units = units_of(sources)
    assert sorted(source for unit in units for source in unit) == sources
    alone = {unit[0].name for unit in units if len(unit) == 1}
    assert alone >= {source.name for source in sources if b"#pragma GCC optimize" in source.read_bytes()} >= {"api_vector.cpp"}
    assert len(units) < 8


def test_it_is_compiled_once_and_said(toolchains, environment, tmp_path, capfd):
    make_runtime(f"lib/{LIBRARY}", environment, {"compiler": "1"}, tmp_path / "one")
    assert compiled(environment) == sorted(source.name for source in toolchains.glob("*.cpp"))
    assert (
        capfd.readouterr().out.count(f"compiling the emulated device; this is done once, and kept in {tmp_path / 'cache'}") == 1
    )
    make_runtime(f"lib/{LIBRARY}", environment, {"compiler": "1"}, tmp_path / "two")
    assert compiled(environment) == []
    assert capfd.readouterr().out == ""
    assert (tmp_path / "two" / "lib" / LIBRARY).read_text() == (tmp_path / "one" / "lib" / LIBRARY).read_text() == "made\n"


def test_an_edit_compiles_what_stands_with_it(toolchains, environment, tmp_path):
    make_runtime(LIBRARY, environment, {}, tmp_path / "one")
    compiled(environment)
    (toolchains / "s3.cpp").write_text('#pragma GCC optimize("O2")\nint more;\n')
    make_runtime(LIBRARY, environment, {}, tmp_path / "one")
    assert compiled(environment) == ["s3.cpp"]
    (toolchains / "s4.cpp").write_text("int more;\n")
    make_runtime(LIBRARY, environment, {}, tmp_path / "one")
    assert compiled(environment) == ["s2.cpp", "s4.cpp"]
    (toolchains / "shared.h").write_text("int all;\n")
    make_runtime(LIBRARY, environment, {}, tmp_path / "one")
    assert len(compiled(environment)) == 5


@pytest.mark.usefixtures("toolchains")
def test_without_a_cache_it_is_compiled_into_the_workspace(environment, tmp_path, capfd):
    (tmp_path / "cache").write_text("no folder")
    make_runtime(LIBRARY, environment, {}, tmp_path / "one")
    assert len(compiled(environment)) == 5
    assert "cannot be kept in" in capfd.readouterr().out
    assert sorted(path.name for path in (tmp_path / "one").iterdir()) == [LIBRARY]


def test_a_source_that_does_not_compile_is_an_error(toolchains, environment, tmp_path):
    (toolchains / "s2.cpp").write_text("no C++\n")
    with pytest.raises(BuildError, match="runtime of the host toolchain does not compile"):
        make_runtime(LIBRARY, environment, {}, tmp_path / "one")
    assert not (tmp_path / "one" / LIBRARY).exists()


def test_a_toolchain_without_sources_says_what_to_do(toolchains, environment, tmp_path):
    for source in toolchains.glob("*.cpp"):
        source.unlink()
    with pytest.raises(BuildError, match="reinstall skrules"):
        make_runtime(LIBRARY, environment, {}, tmp_path / "one")
