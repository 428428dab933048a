"""A disk that is full, and folders that may not be written: an error that says so, and nothing wrong afterwards."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys

import pytest

from tests.data.moving_workspace import MovingWorkspace

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root")
# Root writes everywhere unless it gives that up, and then it cannot have it back.
_HUMBLE = ("setpriv", "--bounding-set=-dac_override,-dac_read_search") if os.geteuid() == 0 else ()
needs_permissions = pytest.mark.skipif(
    bool(_HUMBLE) and not shutil.which("setpriv"), reason="root may write everywhere, and there is no setpriv"
)


@pytest.fixture
def workspace(tmp_path):
    return MovingWorkspace(tmp_path / "made")


@pytest.fixture
def small_disk(workspace):
    """Let the build folder lie on a disk of little room, which `fill` takes away and gives back."""
    disk = workspace.root / "build"
    disk.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(disk)], capture_output=True, check=False)
    if done.returncode:
        pytest.skip("nothing can be mounted here")
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=True)


def fill(disk, *, leave: int) -> None:
    """Leave `leave` bytes, about."""
    with (disk / "filler").open("ab", buffering=0) as file:
        while True:
            try:
                file.write(bytes(4096))
            except OSError:
                break
        file.truncate(max(0, file.tell() - leave))


def outputs(root) -> dict[str, bytes]:
    found = [path for path in (root / "build/bisheng").rglob("*") if path.is_file() and ".skrules" not in path.parts]
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in found if not path.name.startswith(".")}


@needs_root
@pytest.mark.parametrize("leave", [0, 8192, 24576, 40960])
def test_a_full_disk(workspace, small_disk, leave):
    fill(small_disk, leave=leave)
    ran = workspace.scons("-k")
    assert ran.status == 1, ran.output
    assert "No space left on device" in ran.output
    assert "fault of skrules" not in ran.output  # the compiler may complain in any way
    (small_disk / "filler").unlink()
    again = workspace.scons()
    assert again.status == 0, again.output
    assert workspace.scons("--no-fast-path").steps == []
    made = outputs(workspace.root)
    assert workspace.scons("-c").status == 0
    assert workspace.scons().status == 0
    assert outputs(workspace.root) == made


@needs_root
def test_a_disk_that_fills_up_under_a_build_that_is_done(workspace, small_disk):
    assert workspace.scons().status == 0
    workspace.edit("ops/scale/scale.asc", "count == 0", "count  == 0")
    fill(small_disk, leave=0)
    ran = workspace.scons("-k")
    assert ran.status == 1
    assert "No space left on device" in ran.output
    (small_disk / "filler").unlink()
    assert workspace.scons().steps == ["ADAPT //ops/scale", "ASC dav-2201 //ops/scale", "ASC dav-3510 //ops/scale"]
    assert workspace.scons("--no-fast-path").steps == []


def test_files_that_may_not_grow(workspace):
    """What a limit of the shell does: the compiler fails in the middle of a file."""
    large = '    output.write_bytes(b"x" * 4000000)\n    output.write_text(f'
    workspace.compiler.write_text(workspace.compiler.read_text().replace("    output.write_text(f", large))
    command = f"ulimit -f 2000; exec {sys.executable} -m SCons -Q -k TOOLCHAIN=bisheng"
    done = workspace.run(["/bin/sh", "-c", command])
    assert done.returncode == 1
    told = done.stdout.partition("failed: 4 steps\n")[2].splitlines()
    assert all("(ASC)  OSError: [Errno 27] File too large" in line for line in told[:4]), done.stdout
    assert len(told) >= 4
    assert "fault of skrules" not in done.stdout
    assert workspace.scons().status == 0
    assert workspace.scons("--no-fast-path").steps == []


def humble_scons(workspace, *words):
    """Run scons as somebody whom permissions stop."""
    return workspace.run([*_HUMBLE, sys.executable, "-m", "SCons", "-Q", "TOOLCHAIN=bisheng", *words])


@needs_permissions
def test_a_build_folder_that_may_not_be_written(workspace):
    (workspace.root / "build").mkdir(mode=0o555)
    ran = humble_scons(workspace)
    assert ran.returncode == 1
    assert "the folder 'build' cannot be written: Permission denied" in ran.stdout
    assert "BUILD= names another one" in ran.stdout
    assert "Traceback" not in ran.stdout


@needs_permissions
@pytest.mark.parametrize("name", ["obj/dav-2201/ops/scale", "gen/ops/scale", ".skrules/journal"])
def test_a_folder_of_results_that_may_not_be_written(workspace, name):
    folder = workspace.root / "build/bisheng" / name
    folder.mkdir(parents=True)
    folder.chmod(0o555)
    ran = humble_scons(workspace, "-k")
    assert ran.returncode == 1, ran.stdout
    assert re.search(r"Permission denied|cannot be written", ran.stdout), ran.stdout
    assert "fault of skrules" not in ran.stdout
    assert "failed: " in ran.stdout
    folder.chmod(0o755)
    again = humble_scons(workspace)
    assert again.returncode == 0, again.stdout
    assert "nothing to do" in humble_scons(workspace, "--no-fast-path").stdout


@needs_permissions
def test_a_build_folder_that_may_be_read_only_and_is_current(workspace):
    """Nothing is to be written, but nobody can be kept out either: that is an error and no build without a lock."""
    assert workspace.scons().status == 0
    folders = [path for path in (workspace.root / "build").rglob("*") if path.is_dir()]
    for path in (workspace.root / "build", *folders):
        path.chmod(0o555)
    (workspace.root / "build/.skrules/lock").chmod(0o444)
    ran = humble_scons(workspace)
    assert (ran.returncode, "cannot be written" in ran.stdout) == (1, True), ran.stdout
    for path in (workspace.root / "build", *folders):
        path.chmod(0o755)
