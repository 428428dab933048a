"""Ways in which plain SCons builds something wrong, each shown first, and what skrules does in the same place."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from skrules.engine.lock import BuildLock
from tests.data.moving_workspace import MovingWorkspace

SCALE = "build/bisheng/obj/dav-2201/ops/scale/scale.o"
WORDS = ("ops/scale", "ARCH=dav-2201")


@pytest.fixture
def workspace(tmp_path):
    made = MovingWorkspace(tmp_path / "skrules")
    ran = made.scons(*WORDS)
    assert ran.status == 0, ran.output
    assert ran.steps == ["ADAPT //ops/scale", "ASC dav-2201 //ops/scale"]
    return made


class Plain:
    """A project of plain SCons. Its files have times long ago, so that no time stamp plays a part."""

    def __init__(self, root: Path, **files: str) -> None:
        self.root = root
        root.mkdir()
        for name, text in files.items():
            (root / name.replace("__", ".")).write_text(text)

    def scons(self, *words: str, **environment: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "SCons", "-Q", *words],
            cwd=self.root,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **environment},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        return done.stdout + done.stderr

    def read(self, name: str) -> str:
        return (self.root / name).read_text()


GENERATING = """\
import generator
env = Environment(tools=[])
env.Decider("content")
env.Command("out", "in", lambda target, source, env: generator.write(str(target[0]), str(source[0])))
"""


def test_h1_code_of_a_generator_is_edited(tmp_path, workspace):
    first = "def write(target, source): open(target, 'w').write('1')\n"
    plain = Plain(tmp_path / "plain", SConstruct=GENERATING, generator__py=first, **{"in": ""})
    plain.scons()
    (plain.root / "generator.py").write_text(first.replace("1", "2"))
    assert "is up to date" in plain.scons()
    assert plain.read("out") == "1"

    path = workspace.skrules / "skrules/adapt/bind.py"
    path.write_text(path.read_text() + "\n# edited\n")
    assert workspace.scons(*WORDS).steps == ["ADAPT //ops/scale"]


def test_h2_a_variable_of_the_environment_is_used(tmp_path, workspace):
    text = (
        "import os\nenv = Environment(tools=[], TEXT=os.environ['TEXT'])\nenv.Decider('content')\n"
        "def write(target, source, env): open(str(target[0]), 'w').write(env['TEXT'])\n"
        "env.Command('out', 'in', write)\n"
    )
    plain = Plain(tmp_path / "plain", SConstruct=text, **{"in": ""})
    plain.scons(TEXT="1")
    assert "is up to date" in plain.scons(TEXT="2")
    assert plain.read("out") == "1"

    workspace.environment["TOOLCHAIN_HOME"] = "/opt/other"
    assert workspace.scons(*WORDS).steps == ["ASC dav-2201 //ops/scale"]
    assert "environment changed" in workspace.why("ops/scale", "--arch", "dav-2201")


COPYING = """\
env = Environment(tools=[])
env.Decider("content")
env.Command("middle", "in", Copy("$TARGET", "$SOURCE"))
env.Command("out", "middle", Copy("$TARGET", "$SOURCE"))
"""


@pytest.mark.parametrize("data", [b"tampered\n", b"", None], ids=["tampered", "truncated", "gone"])
@pytest.mark.parametrize(
    ("name", "steps"),
    [
        (SCALE, ["ASC dav-2201 //ops/scale"]),
        (SCALE.removesuffix("o") + "d", ["ASC dav-2201 //ops/scale"]),
        ("build/bisheng/gen/ops/scale/scale.asc", ["ADAPT //ops/scale"]),
        ("build/bisheng/gen/ops/scale/descriptor.cpp", ["ADAPT //ops/scale"]),
    ],
    ids=["object", "depfile", "generated", "descriptor"],
)
def test_h3_an_output_is_damaged(tmp_path, workspace, name, steps, data):
    plain = Plain(tmp_path / "plain", SConstruct=COPYING, **{"in": "good\n"})
    plain.scons()
    (plain.root / "middle").write_text("tampered\n")
    plain.scons()
    assert plain.read("out") == "tampered\n"

    path = workspace.root / name
    good = path.read_bytes()
    if data is None:
        path.unlink()
    else:
        path.write_bytes(data)
    ran = workspace.scons(*WORDS)
    assert (ran.status, ran.steps) == (0, steps)
    assert path.read_bytes() == good
    assert workspace.scons(*WORDS).steps == []


def killing(program: Path, when: str) -> str:
    """Return a compiler that kills scons, its parent, when it has done its work and a file says so."""
    text = program.read_text()
    at = 'if __name__ == "__main__":\n'
    kill = f"    import signal\n    status = main(sys.argv[1:])\n    if Path({when!r}).exists():\n"
    return text.replace(at, f"{at}{kill}        os.kill(os.getppid(), signal.SIGKILL)\n    sys.exit(status)\n", 1)


def test_h4a_a_killed_build_has_not_been_in_vain(tmp_path, workspace):
    text = (
        "import os, signal\nenv = Environment(tools=[])\nenv.Decider('content')\n"
        "def make(target, source, env):\n    open(str(target[0]), 'w').write('x')\n"
        "    if os.environ.get('KILL') and '3' in str(target[0]): os.kill(os.getpid(), signal.SIGKILL)\n"
        "for number in range(5): env.Command(f'out{number}', 'in', make)\n"
    )
    plain = Plain(tmp_path / "plain", SConstruct=text, **{"in": ""})
    plain.scons("-j1", KILL="1")
    assert plain.scons("-j1").count("make(") == 5  # also the three that were done

    for name in ("a", "b", "c"):
        folder = workspace.root / f"ops/{name}"
        folder.mkdir()
        for path in sorted((workspace.root / "ops/scale").iterdir()):
            (folder / path.name.replace("scale", name)).write_text(path.read_text().replace("scale", name))
    when = tmp_path / "now"
    workspace.compiler.write_text(killing(workspace.compiler, str(when)))
    when.touch()
    ran = workspace.scons("-j1", "ARCH=dav-2201")
    assert ran.status == -signal.SIGKILL
    when.unlink()
    again = workspace.scons("ARCH=dav-2201")
    assert again.status == 0
    done = [step for step in ran.steps if step.startswith("ADAPT")]
    assert done
    assert not set(done) & set(again.steps)


def test_h4b_an_edit_a_kill_and_the_edit_taken_back(tmp_path, workspace):
    text = (
        "import os, signal\nenv = Environment(tools=[])\nenv.Decider('content')\n"
        "def generate(target, source, env): open(str(target[0]), 'w').write(open(str(source[0])).read())\n"
        "def compile(target, source, env):\n    if os.environ.get('KILL'): os.kill(os.getpid(), signal.SIGKILL)\n"
        "    open(str(target[0]), 'w').write(open(str(source[0])).read())\n"
        "env.Command('middle', 'in', generate)\nenv.Command('out', 'middle', compile)\n"
    )
    plain = Plain(tmp_path / "plain", SConstruct=text, **{"in": "good"})
    plain.scons()
    (plain.root / "in").write_text("edited")
    plain.scons(KILL="1")
    (plain.root / "in").write_text("good")
    plain.scons()
    assert plain.read("out") == "edited"

    source, output = workspace.root / "ops/scale/scale.asc", workspace.root / SCALE
    original, good, status = source.read_text(), output.read_bytes(), source.stat()
    when = tmp_path / "now"
    compiler = workspace.compiler.read_bytes()
    workspace.compiler.write_text(killing(workspace.compiler, str(when)))
    when.touch()
    source.write_text(original.replace("count == 0", "count  == 0"))
    assert workspace.scons(*WORDS).status == -signal.SIGKILL
    assert output.read_bytes() != good  # what the killed build left
    source.write_text(original)
    os.utime(source, ns=(status.st_atime_ns, status.st_mtime_ns))
    workspace.compiler.write_bytes(compiler)
    ran = workspace.scons(*WORDS)
    assert (ran.status, ran.steps) == (0, ["ADAPT //ops/scale", "ASC dav-2201 //ops/scale"])
    assert output.read_bytes() == good


def test_h4_a_compiler_of_a_killed_build_writes_no_more(tmp_path, workspace):
    """Only scons is killed. Its compiler goes on, and would write over what the next build makes."""
    when = tmp_path / "now"
    slow = f"import time\n    if Path({str(when)!r}).exists():\n        time.sleep(1.5)\n    "
    workspace.compiler.write_text(workspace.compiler.read_text().replace("output.write_text(f", f"{slow}output.write_text(f", 1))
    assert workspace.scons(*WORDS).status == 0
    output, good = workspace.root / SCALE, (workspace.root / SCALE).read_bytes()
    workspace.edit("ops/scale/scale.asc", "count == 0", "count  == 0")
    when.touch()
    process = subprocess.Popen(
        [sys.executable, "-m", "SCons", "-Q", *WORDS],
        cwd=workspace.root,
        env=workspace.environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    while "[ASC" not in process.stdout.readline():
        pass
    time.sleep(0.4)
    process.kill()
    process.wait()
    process.stdout.close()
    when.unlink()
    workspace.edit("ops/scale/scale.asc", "count  == 0", "count == 0")
    ran = workspace.scons(*WORDS)
    assert ran.status == 0
    assert "which a build that was killed had started" in ran.output
    time.sleep(1.5)
    assert output.read_bytes() == good
    assert workspace.scons(*WORDS).steps == []


def test_h5_the_file_that_was_only_touched_is_not_blamed(tmp_path, workspace):
    text = (
        "env = Environment(tools=[])\nenv.Decider('content-timestamp')\n"
        "env.Command('out', ['a', 'b'], Copy('$TARGET', '$SOURCE'))\n"
    )
    plain = Plain(tmp_path / "plain", SConstruct=text, a="a", b="b")
    plain.scons()
    os.utime(plain.root / "a", (1, 1))
    (plain.root / "b").write_text("edited")
    os.utime(plain.root / "b", (2, 2))  # SCons counts whole seconds, and the first build may have been in this one
    told = plain.scons("--debug=explain")
    assert "`a' changed" in told
    assert "`b' changed" in told

    os.utime(workspace.root / "ops/scale/contract.yaml", (1, 1))
    os.utime(workspace.root / "ops/common/part.h", (1, 1))
    workspace.edit("ops/scale/scale.asc", "count == 0", "count  == 0")
    told = workspace.why("ops/scale")
    assert "source ops/scale/scale.asc changed" in told
    assert "contract" not in told
    assert "header" not in told


def test_h6_two_builds_in_one_tree(tmp_path, workspace):
    text = (
        "import time\nenv = Environment(tools=[])\n"
        "def make(target, source, env):\n    with open('log', 'a') as log: log.write('made ')\n"
        "    for _ in range(300):  # until the other one is here too, however long it takes to start\n"
        "        if open('log').read() == 'made made ': break\n        time.sleep(0.1)\n"
        "    open(str(target[0]), 'w').write('x')\n"
        "env.Command('out', 'in', make)\n"
    )
    plain = Plain(tmp_path / "plain", SConstruct=text, **{"in": ""})
    both = [subprocess.Popen([sys.executable, "-m", "SCons", "-Q"], cwd=plain.root, stdout=subprocess.DEVNULL) for _ in range(2)]
    assert [process.wait(60) for process in both] == [0, 0]
    assert plain.read("log") == "made made "  # at the same time, in the same files

    workspace.edit("ops/scale/scale.asc", "count == 0", "count  == 0")
    lock = BuildLock(workspace.root / "build/.skrules/lock")
    lock.acquire(lambda _text: None)
    command = [sys.executable, "-m", "SCons", "-Q", *WORDS]
    started = [
        subprocess.Popen(
            command, cwd=workspace.root, env=workspace.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        for _ in range(2)
    ]
    # Both are started, and so wait, before the tree is let go.
    first = [process.stdout.readline() for process in started]
    assert first == [f"scons: waiting for another build in this folder (process {os.getpid()})\n"] * 2
    lock.release()
    texts = [process.communicate(timeout=60)[0] for process in started]
    assert [process.returncode for process in started] == [0, 0]
    assert sum(text.count("[ASC") for text in texts) == 1
