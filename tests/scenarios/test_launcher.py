"""Programs in front of compilers: a stand-in that writes down how it is called, and ccache, sccache and distcc themselves."""

from __future__ import annotations

import contextlib
import json
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.scenarios.conftest import ScenarioWorkspace

STAND_IN = """\
import json, os, sys
with open({log!r}, "a") as file:
    file.write(json.dumps({{"argv": sys.argv[1:], "environment": dict(os.environ)}}) + "\\n")
os.execvp(sys.argv[1], sys.argv[1:])
"""
WORDS = ("ops/scale", "ARCH=dav-2201")
EDIT = ("ops/scale/scale.asc", "length that", "length which")


class StandIn:
    """A launcher; `calls` are what it was given, oldest first."""

    def __init__(self, folder):
        self.program, self.log = folder / "launch", folder / "launch.log"
        self.program.write_text(f"#!{sys.executable}\n{STAND_IN.format(log=str(self.log))}")
        self.program.chmod(0o755)

    @property
    def calls(self):
        return [json.loads(line) for line in self.log.read_text().splitlines()] if self.log.exists() else []


@pytest.fixture
def launcher(tmp_path):
    return StandIn(tmp_path)


def needs(*programs):
    missing = [program for program in programs if not shutil.which(program)]
    return pytest.mark.skipif(bool(missing), reason=f"needs {', '.join(missing)}")


def second(workspace, tmp_path):
    """Another checkout of the same sources."""
    root = tmp_path / "elsewhere" / "checkout"
    shutil.copytree(workspace.root, root, ignore=shutil.ignore_patterns("build", ".sconsign*"))
    return ScenarioWorkspace(root, workspace.environment)


def compiled(run):
    assert run.status == 0, run.output
    return sum(action.startswith("ASC ") for action in run.actions)


def objects(workspace):
    return {path.relative_to(workspace.root): path.read_bytes() for path in (workspace.root / "build/host/obj").rglob("*.o")}


def test_it_stands_in_front_of_bisheng_and_gets_its_own_environment(bisheng_workspace, launcher):
    mine = {
        "CCACHE_DIR": "/c",
        "SCCACHE_DIR": "/s",
        "DISTCC_HOSTS": "h",
        "ICECC_VERSION": "i",
        "XDG_CACHE_HOME": "/x",
        "SECRET": "1",
    }
    assert compiled(bisheng_workspace.scons(*WORDS, f"LAUNCHER={launcher.program}", **mine)) == 1
    (call,) = launcher.calls
    assert call["argv"][:4] == [str(bisheng_workspace.bisheng), "-x", "asc", "--npu-arch=dav-2201"]
    assert {name: call["environment"].get(name) for name in mine} == {**mine, "SECRET": None}
    assert call["environment"]["HOME"] == bisheng_workspace.environment["HOME"]


def test_another_launcher_builds_nothing_again(bisheng_workspace, launcher):
    assert compiled(bisheng_workspace.scons(*WORDS)) == 1
    assert bisheng_workspace.scons(*WORDS, f"LAUNCHER={launcher.program}", CCACHE_DIR="/c").actions == []
    bisheng_workspace.edit(*EDIT)
    assert compiled(bisheng_workspace.scons(*WORDS, f"LAUNCHER={launcher.program}", CCACHE_DIR="/d")) == 1
    assert bisheng_workspace.scons(*WORDS).actions == []
    assert bisheng_workspace.scons(*WORDS, "--no-fast-path", "LAUNCHER=/usr/bin/env").actions == []
    assert len(launcher.calls) == 1


def test_several_words_and_a_path_from_the_workspace(bisheng_workspace, launcher):
    launcher.program.rename(bisheng_workspace.root / "launch")
    run = bisheng_workspace.scons(*WORDS, "VERBOSE=1", "LAUNCHER=env NAME=value ./launch")
    assert compiled(run) == 1
    assert launcher.calls[0]["environment"]["NAME"] == "value"
    assert f"env NAME=value ./launch {bisheng_workspace.bisheng} -x asc" in run.output


@pytest.mark.parametrize(
    ("text", "status", "part"),
    [
        ("no-such-program -v", 4, "error: LAUNCHER is 'no-such-program -v', but there is no program 'no-such-program'\n"),
        ("./ops", 4, "there is no program './ops'"),
        ("'ccache", 2, "which is no command: No closing quotation"),
    ],
)
def test_what_is_no_launcher(bisheng_workspace, text, status, part):
    run = bisheng_workspace.scons(*WORDS, f"LAUNCHER={text}")
    assert (run.status, run.actions, part in run.output) == (status, [], True), run.output
    assert compiled(bisheng_workspace.scons(*WORDS, "LAUNCHER=")) == 1
    # What is current is no excuse.
    assert bisheng_workspace.scons(*WORDS, f"LAUNCHER={text}").status == status


def test_a_compiler_that_fails_behind_it_fails(bisheng_workspace, launcher):
    bisheng_workspace.edit(*EDIT)
    bisheng_workspace.edit("ops/scale/scale.asc", "TPipe pipe;", "TPipe pipe;\n#error stand-in\n")
    run = bisheng_workspace.scons(*WORDS, f"LAUNCHER={launcher.program}")
    assert (run.status, "#error stand-in" in run.output) == (1, True)


@needs("g++")
def test_the_host_toolchain_puts_it_in_front_of_the_real_compiler(workspace, launcher):
    plain = workspace.scons(*WORDS, "compare")
    assert compiled(plain) == 2
    before = objects(workspace)
    assert workspace.scons(*WORDS, "compare", f"LAUNCHER={launcher.program}").actions == []
    shutil.rmtree(workspace.root / "build/host/obj")
    assert compiled(workspace.scons(*WORDS, "compare", f"LAUNCHER={launcher.program}", CCACHE_DIR="/c", SECRET="1")) == 2
    assert objects(workspace) == before
    assert len(launcher.calls) == 2  # neither the link, nor precompiled headers, nor the driver itself
    for call in launcher.calls:
        assert Path(call["argv"][0]).name in ("g++", "c++", "clang++")
        assert "-c" in call["argv"]
        assert call["environment"]["CCACHE_DIR"] == "/c"
        assert "SECRET" not in call["environment"]


@needs("g++")
def test_the_command_line_is_the_same_in_another_checkout(workspace, launcher, tmp_path):
    other = second(workspace, tmp_path)
    for each in (workspace, other):
        assert compiled(each.scons(*WORDS, f"LAUNCHER={launcher.program}")) == 1
    # What all operators share, such as the binding of Python modules, is compiled behind it too, once for both.
    first, again = (call["argv"] for call in launcher.calls if any("ops/scale" in word for word in call["argv"]))
    assert first == again
    assert objects(workspace) == objects(other)


@needs("g++", "ccache")
def test_ccache_serves_a_second_checkout(workspace, tmp_path):
    workspace.environment |= {"CCACHE_DIR": str(tmp_path / "ccache")}
    other = second(workspace, tmp_path)

    def counts(checkout):
        subprocess.run(["ccache", "-z"], env=workspace.environment, check=True, capture_output=True)
        number = compiled(checkout.scons("LAUNCHER=ccache"))
        told = subprocess.run(["ccache", "--print-stats"], env=workspace.environment, check=True, capture_output=True, text=True)
        found = dict(line.split("\t") for line in told.stdout.splitlines())
        names = ("direct_cache_hit", "preprocessed_cache_hit", "cache_miss")
        return number, *(int(found[name]) for name in names)

    assert counts(workspace) == (4, 0, 0, 4)
    assert counts(other) == (4, 4, 0, 0)
    assert objects(workspace) == objects(other)
    # A header is no part of the command line.
    other.edit("ops/common/part.h", "#pragma once", "#pragma once\n[[gnu::used]] static int added() { return 1; }")
    assert counts(other) == (4, 0, 0, 4)
    assert objects(workspace) != objects(other)
    assert compiled(other.scons("--no-fast-path")) == 0


@needs("ccache")
def test_ccache_hands_on_what_it_does_not_know(bisheng_workspace, tmp_path):
    # Its languages end before AscendC: bisheng runs each time, with the same command line.
    run = bisheng_workspace.scons(*WORDS, "LAUNCHER=ccache", CCACHE_DIR=str(tmp_path / "ccache"))
    assert compiled(run) == 1
    log = [json.loads(line)["argv"] for line in (bisheng_workspace.bisheng.parent / "bisheng.log").read_text().splitlines()]
    assert sum(argv[:2] == ["-x", "asc"] for argv in log) == 1


def free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


def answers(port):
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


@needs("g++", "sccache")
def test_sccache_serves_a_second_checkout(workspace, tmp_path):
    settings = {"SCCACHE_DIR": str(tmp_path / "sccache"), "SCCACHE_SERVER_PORT": str(free_port()), "SCCACHE_IDLE_TIMEOUT": "300"}
    workspace.environment |= settings
    other = second(workspace, tmp_path)

    def sccache(*words):
        done = subprocess.run(["sccache", *words], env=workspace.environment, capture_output=True, text=True, check=True)
        return done.stdout

    try:
        for checkout in (workspace, other):
            assert compiled(checkout.scons("LAUNCHER=sccache")) == 4
        told = json.loads(sccache("--show-stats", "--stats-format=json"))["stats"]
    finally:
        with contextlib.suppress(subprocess.CalledProcessError):
            sccache("--stop-server")
    assert [told[name]["counts"] for name in ("cache_misses", "cache_hits")] == [{"C/C++": 4}, {"C/C++": 4}]
    assert objects(workspace) == objects(other)


@needs("g++", "distcc", "distccd")
def test_distcc_compiles_on_another_machine(workspace, tmp_path):
    port, log, state = free_port(), tmp_path / "distccd.log", tmp_path / "distcc"
    state.mkdir()
    words = ["--daemon", "--no-detach", "--allow", "127.0.0.1", "--listen", "127.0.0.1", "--port", str(port), "--jobs", "2"]
    # Started by root it takes the rights of a user who may not write where tests do.
    environment = {"PATH": "/usr/bin:/bin", "TMPDIR": "/tmp"}
    with log.open("w") as file:
        server = subprocess.Popen(["distccd", *words, "--log-stderr", "--log-level=info"], stderr=file, env=environment)
    try:
        until = time.monotonic() + 20
        while not answers(port) and server.poll() is None and time.monotonic() < until:
            time.sleep(0.05)
        assert server.poll() is None, log.read_text()
        # Not the emulation itself: on one machine GCC minds that it may not read a source that preprocessed text names.
        assert workspace.scons("ops/scale", "compare").status == 0
        shutil.rmtree(workspace.root / "build/host/obj")
        # FALLBACK=0: what cannot be sent away fails.
        settings = {"DISTCC_HOSTS": f"127.0.0.1:{port}", "DISTCC_FALLBACK": "0", "DISTCC_DIR": str(state)}
        run = workspace.scons("ops/scale", "compare", "LAUNCHER=distcc", **settings)
    finally:
        server.terminate()
        server.wait()
    assert compiled(run) == 4
    assert log.read_text().count("COMPILE_OK") == 4
    assert "2 passed" in run.output
