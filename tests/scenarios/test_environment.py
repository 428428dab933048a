"""What the environment and a declaration ask for: archs, jobs, macros, options; and what goes first."""

from __future__ import annotations

import json
import os
import sys

import pytest

from tests.data.bisheng_stand_in import read_log

BOTH = ["dav-2201", "dav-3510"]


def compiles(*archs, operators=("scale", "shift")):
    return sorted(f"ASC {arch} //ops/{name}" for arch in archs for name in operators)


def compiled(run):
    return [action for action in run.actions if action.startswith("ASC ")]


@pytest.mark.parametrize(
    ("words", "environment", "archs", "line"),
    [
        ((), {}, BOTH, ""),
        ((), {"SK_NPU_ARCHS": "DAV_3510"}, ["dav-3510"], "archs: dav-3510 (SK_NPU_ARCHS)"),
        ((), {"SK_TARGET_CHIPS": "ascend-910_b1;220"}, ["dav-2201"], "archs: dav-2201 (SK_TARGET_CHIPS)"),
        ((), {"SK_TARGET_CHIPS": "260", "SK_NPU_ARCHS": "dav-2201"}, ["dav-3510"], "archs: dav-3510 (SK_TARGET_CHIPS)"),
        (("ARCH=dav-2201",), {"SK_TARGET_CHIPS": "260", "SK_NPU_ARCHS": "unknown"}, ["dav-2201"], ""),
    ],
)
def test_archs(bisheng_workspace, words, environment, archs, line):
    run = bisheng_workspace.scons(*words, **environment)
    assert (run.status, compiled(run)) == (0, compiles(*archs)), run.output
    lines = [each for each in run.output.splitlines() if each.startswith("archs: ")]
    assert lines == ([line] if line else [])
    # The manifest of this request vouches for no other one.
    assert bisheng_workspace.scons(*words, **environment).actions == []
    missing = [arch for arch in BOTH if arch not in archs]
    assert compiled(bisheng_workspace.scons()) == compiles(*missing)


@pytest.mark.parametrize(
    ("environment", "status", "part"),
    [
        ({"SK_NPU_ARCHS": ""}, 2, "SK_NPU_ARCHS is set, and empty"),
        ({"SK_TARGET_CHIPS": ";", "SK_NPU_ARCHS": "dav-2201"}, 2, "SK_TARGET_CHIPS is set, and empty"),
        ({"SK_NPU_ARCHS": "dav-9999"}, 4, "SK_NPU_ARCHS: unknown arch 'dav-9999'\n  allowed: dav-2201, dav-3510"),
        ({"SK_TARGET_CHIPS": "Ascend910B1,Banana1"}, 4, "SK_TARGET_CHIPS: unknown chip 'Banana1'\n  dav-2201: Ascend910_93, "),
        ({"SK_BISHENG_JOBS": "0"}, 2, "SK_BISHENG_JOBS is '0'"),
    ],
)
def test_what_means_nothing(bisheng_workspace, environment, status, part):
    assert bisheng_workspace.scons().status == 0
    run = bisheng_workspace.scons(**environment)  # all is current, and it is an error all the same
    assert (run.status, run.actions, part in run.output) == (status, [], True), run.output


def test_an_operator_for_other_chips_is_left_out_with_a_note(bisheng_workspace):
    bisheng_workspace.edit("ops/scale/SConscript", '["dav-2201", "dav-3510"]', '["dav-2201"]')
    run = bisheng_workspace.scons(SK_TARGET_CHIPS="Ascend950")
    assert (run.status, compiled(run)) == (0, compiles("dav-3510", operators=["shift"]))
    assert "//ops/scale is not built for dav-3510: it declares dav-2201" in run.output
    run = bisheng_workspace.scons("ops/scale", SK_TARGET_CHIPS="Ascend950")
    assert run.status == 2
    assert "no requested operator declares dav-3510 (SK_TARGET_CHIPS)\n  allowed: dav-2201" in run.output


def test_what_the_environment_leaves_out_is_not_cleaned(bisheng_workspace):
    assert bisheng_workspace.scons().status == 0
    assert bisheng_workspace.scons("-c", SK_NPU_ARCHS="dav-2201").status == 0
    left = {path.parent.parent.parent.name for path in (bisheng_workspace.root / "build").rglob("*.o")}
    assert left == {"dav-3510"}


OVERLAP = """\
import os, sys, time
mine = os.open({folder!r} + "/" + str(os.getpid()), os.O_CREAT)
until = time.monotonic() + {patience}
while len(os.listdir({folder!r})) < 2 and time.monotonic() < until:
    time.sleep(0.01)
with open({folder!r} + "/../most", "a") as file:
    file.write(f"{{len(os.listdir({folder!r}))}}\\n")
time.sleep(0.05)
os.unlink({folder!r} + "/" + str(os.getpid()))
os.execvp(sys.argv[1], sys.argv[1:])
"""


@pytest.mark.parametrize(
    ("words", "environment", "overlaps"),
    [((), {"SK_BISHENG_JOBS": "1"}, False), (("-j1",), {"SK_BISHENG_JOBS": "4"}, False), ((), {"SK_BISHENG_JOBS": "2"}, True)],
)
def test_jobs(bisheng_workspace, tmp_path, words, environment, overlaps):
    if overlaps and os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") < 4 << 30:
        pytest.skip("needs 4 GiB: memory holds steps back too")
    (tmp_path / "running").mkdir()
    program = tmp_path / "launch"
    text = OVERLAP.format(folder=str(tmp_path / "running"), patience=20 if overlaps else 0.2)
    program.write_text(f"#!{sys.executable}\n{text}")
    program.chmod(0o755)
    run = bisheng_workspace.scons(*words, f"LAUNCHER={program}", **environment)
    assert run.status == 0, run.output
    most = max(int(line) for line in (tmp_path / "most").read_text().split())
    assert (most > 1) == overlaps
    assert most <= int(environment["SK_BISHENG_JOBS"])


def test_macros_and_options_of_a_declaration(bisheng_workspace):
    declared = 'defines=["FAST", "SIZE=4 * 2"],\n    options=["-g", "-O2"],'
    bisheng_workspace.edit("ops/scale/SConscript", 'name="scale",', f'name="scale",\n    {declared}')
    assert bisheng_workspace.scons("ARCH=dav-2201").status == 0
    log = read_log(bisheng_workspace.bisheng)
    (scale,), (shift,) = (
        [argv for argv in log if f"build/bisheng/gen/ops/{name}/{name}.asc" in argv] for name in ("scale", "shift")
    )
    assert {"-DFAST", "-DSIZE=4 * 2", "-g", "-O2"} <= set(scale)
    assert scale.index("-O2") > scale.index("-O3")  # the last one wins
    assert not {"-DFAST", "-g", "-O2"} & set(shift)
    # Each is in the key of its operator, and of no other.
    for old, new in (('"SIZE=4 * 2"', '"SIZE=9"'), ('"FAST", ', ""), (', "-O2"', "")):
        bisheng_workspace.edit("ops/scale/SConscript", old, new)
        assert compiled(bisheng_workspace.scons("ARCH=dav-2201")) == compiles("dav-2201", operators=["scale"])
    why = (bisheng_workspace.root / "build/bisheng/.skrules/journal").glob("*scale*")
    because = [json.loads(line).get("because", []) for path in why for line in path.read_text().splitlines()]
    assert any("flags changed" in " ".join(each) for each in because)
