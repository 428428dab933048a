"""Which toolchain is chosen, and what is said about it."""

from __future__ import annotations

from pathlib import Path

import pytest

from skrules.errors import ToolchainError, UsageError
from skrules.toolchain.detect import select

MACHINE = "x86_64"


@pytest.fixture
def base(tmp_path):
    """An environment with a C++ compiler that says what it is, and nothing of CANN."""
    tools = tmp_path / "tools"
    compiler = program(tools / "g++", '#!/bin/sh\necho "gcc version 1.2.3 (test)" >&2\necho "Target: x86_64-test" >&2\n')
    assert compiler.exists()
    return {"PATH": str(tools), "HOME": str(tmp_path / "home"), "SKRULES_CACHE": str(tmp_path / "cache")}


def program(path: Path, text: str = "#!/bin/sh\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def choose(choice: str, environ: dict[str, str]):
    return select(choice, environ, machine=MACHINE)


def test_host_where_there_is_no_bisheng(base):
    toolchain = choose("auto", base)
    assert toolchain.name == "host"
    assert "no bisheng found: set BISHENG or ASCEND_HOME_PATH" in toolchain.summary
    assert "emulated, not device results" in toolchain.summary


def test_host_on_request_even_with_bisheng(base, tmp_path):
    toolchain = choose("host", {**base, "BISHENG": str(program(tmp_path / "bisheng"))})
    assert toolchain.name == "host"
    assert "TOOLCHAIN=host" in toolchain.summary


def test_bisheng_variable_wins(base, tmp_path):
    chosen = program(tmp_path / "mine" / "bisheng")
    program(tmp_path / "cann" / "bin" / "bisheng")
    toolchain = choose("auto", {**base, "BISHENG": str(chosen), "ASCEND_HOME_PATH": str(tmp_path / "cann")})
    assert toolchain.summary == f"toolchain: bisheng ({chosen}, BISHENG)"


@pytest.mark.parametrize(
    "layout",
    [
        "x86_64-linux/ccec_compiler/bin",
        "x86_64-linux/bin",
        "bin",
        "compiler/bin",
        "tools/bisheng_compiler/bin",
        "compiler/ccec_compiler/bin",
        "ccec_compiler/bin",
    ],
)
def test_layouts_of_a_toolkit(base, tmp_path, layout):
    cann = tmp_path / "cann"
    compiler = program(cann / layout / "bisheng")
    toolchain = choose("auto", {**base, "ASCEND_HOME_PATH": str(cann)})
    assert (toolchain.name, toolchain.summary) == ("bisheng", f"toolchain: bisheng ({compiler}, ASCEND_HOME_PATH)")


def test_the_other_machine_is_not_taken(base, tmp_path):
    program(tmp_path / "cann" / "aarch64-linux" / "bin" / "bisheng")
    assert choose("auto", {**base, "ASCEND_HOME_PATH": str(tmp_path / "cann")}).name == "host"


def test_the_users_cann_comes_before_the_path(base, tmp_path):
    mine = program(tmp_path / "mine" / "bin" / "bisheng")
    other = program(tmp_path / "other" / "bin" / "bisheng")
    environ = {**base, "PATH": f"{base['PATH']}:{other.parent}", "ASCEND_HOME_PATH": str(tmp_path / "mine")}
    toolchain = choose("auto", environ)
    assert str(mine) in toolchain.summary
    assert toolchain.environment()["ASCEND_HOME_PATH"] == str(tmp_path / "mine")


def test_bisheng_on_path(base, tmp_path):
    compiler = program(tmp_path / "bin" / "bisheng")
    toolchain = choose("bisheng", {**base, "PATH": f"{base['PATH']}:{compiler.parent}"})
    assert toolchain.summary == f"toolchain: bisheng ({compiler}, PATH)"


@pytest.mark.parametrize("value", ["/nowhere/bisheng", "bisheng-99"])
@pytest.mark.parametrize("choice", ["auto", "bisheng"])
def test_a_wrong_bisheng_variable_is_no_fallback(base, choice, value):
    with pytest.raises(ToolchainError, match="BISHENG is set to"):
        choose(choice, {**base, "BISHENG": value})


def test_bisheng_that_may_not_be_run(base, tmp_path):
    program(tmp_path / "bisheng").chmod(0o644)
    with pytest.raises(ToolchainError, match="not an executable"):
        choose("auto", {**base, "BISHENG": str(tmp_path / "bisheng")})


def test_a_home_that_is_no_folder(base):
    with pytest.raises(ToolchainError, match="ASCEND_HOME_PATH is set to '/nowhere'"):
        choose("auto", {**base, "ASCEND_HOME_PATH": "/nowhere"})


def test_bisheng_asked_for_and_not_there_lists_the_places(base, tmp_path):
    with pytest.raises(ToolchainError) as caught:
        choose("bisheng", {**base, "ASCEND_HOME_PATH": str(tmp_path)})
    text = str(caught.value)
    assert f"{tmp_path}/x86_64-linux/ccec_compiler/bin/bisheng" in text
    assert "bisheng on PATH" in text
    assert "TOOLCHAIN=host" in text


@pytest.mark.parametrize(
    ("name", "text", "version"),
    [
        (
            "x86_64-linux/ascend_toolkit_install.info",
            "package_name=Ascend-cann-toolkit\nversion=8.5.0\ninnerversion=V1\n",
            "8.5.0",
        ),
        ("ascend_toolkit_install.info", "version=9.0.RC1.alpha002\n", "9.0.RC1.alpha002"),
        ("version.info", "Version=8.0.RC3\n", "8.0.RC3"),
        ("compiler/version.info", "timestamp=1\nVersion=7.6.0.1.220\n", "7.6.0.1.220"),
        ("version.info", "custom_version=9.1.0\n", ""),
        ("version.info", "\x00\xff", ""),
    ],
)
def test_the_version_of_cann(base, tmp_path, name, text, version):
    cann = tmp_path / "cann"
    program(cann / "bin" / "bisheng")
    (cann / name).parent.mkdir(parents=True, exist_ok=True)
    (cann / name).write_bytes(text.encode("latin-1"))
    toolchain = choose("auto", {**base, "ASCEND_HOME_PATH": str(cann)})
    assert toolchain.key()["toolkit"] == (version or "unknown")
    assert (f", CANN {version})" in toolchain.summary) == bool(version)


def test_the_cann_of_a_compiler_outside_the_users(base, tmp_path):
    compiler = program(tmp_path / "new" / "bin" / "bisheng")
    (tmp_path / "new" / "include").mkdir()
    (tmp_path / "new" / "version.info").write_text("Version=9.0\n")
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "version.info").write_text("Version=8.0\n")
    toolchain = choose("auto", {**base, "BISHENG": str(compiler), "ASCEND_HOME_PATH": str(tmp_path / "old")})
    assert toolchain.key()["toolkit"] == "9.0"


def test_the_same_compiler_elsewhere_has_the_same_key(base, tmp_path):
    keys = []
    for place in ("one", "two"):
        program(tmp_path / place / "bin" / "bisheng", "#!/bin/sh\n# the same\n")
        keys.append(dict(choose("auto", {**base, "ASCEND_HOME_PATH": str(tmp_path / place)}).key()))
    assert keys[0] == keys[1]
    program(tmp_path / "two" / "bin" / "bisheng", "#!/bin/sh\n# another\n")
    assert dict(choose("auto", {**base, "ASCEND_HOME_PATH": str(tmp_path / "two")}).key()) != keys[0]


def test_an_unknown_choice(base):
    with pytest.raises(UsageError, match="did you mean 'bisheng'"):
        choose("bishen", base)


def test_no_compiler_is_said_at_first_use(base, tmp_path):
    toolchain = choose("auto", {**base, "PATH": str(tmp_path / "none")})
    assert toolchain.name == "host"
    with pytest.raises(ToolchainError, match=r"apt-get install g\+\+"):
        toolchain.key()


def test_cxx_is_asked_first_and_never_replaced(base, tmp_path):
    clang = program(
        tmp_path / "clang" / "my clang++", '#!/bin/sh\necho "clang version 19.1.7" >&2\necho "Target: aarch64-test" >&2\n'
    )
    toolchain = choose("host", {**base, "CXX": f"'{clang}' -stdlib=libc++"})
    assert toolchain.key()["compiler"] == "clang version 19.1.7 aarch64-test"
    assert toolchain.environment()["CXX"] == f"'{clang}' -stdlib=libc++"
    for wrong in ("/nowhere/g++", str(program(tmp_path / "false", "#!/bin/sh\nexit 1\n")), "unterminated '"):
        with pytest.raises(ToolchainError, match="CXX is set to"):
            choose("host", {**base, "CXX": wrong}).key()
