"""`skrules doctor`: what is there, what follows from what is not, and the command for it. Machines are folders here."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from skrules.cli import main
from skrules.doctor import modules, storage
from skrules.doctor.check import Check, Examination, Status
from skrules.doctor.device import look_at_devices
from skrules.doctor.examination import examine
from skrules.doctor.machine import Machine
from skrules.doctor.modules import look_at_torch, look_at_torch_npu
from skrules.doctor.storage import look_at_caches, look_at_disks
from skrules.doctor.tools import look_at_cann, look_at_compiler, look_at_launcher, look_at_requirements
from skrules.engine.remote_settings import remote_from
from skrules.errors import ToolchainError, UsageError


def script(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


GPP = "echo 'Target: x86_64-linux-gnu' >&2; echo 'gcc version 12.2.0 (own)' >&2"


@pytest.fixture
def bare(tmp_path):
    """A machine with nothing on it."""
    return machine_of(tmp_path)


def machine_of(place, **environ):
    (place / "bin").mkdir(exist_ok=True)
    environ = {"PATH": str(place / "bin"), "HOME": "/home/me", "XDG_CACHE_HOME": str(place / "cache"), **environ}
    return Machine(environ=environ, root=place, folder=place, architecture="x86_64", is_root=True)


def test_no_compiler_is_told_with_the_package_that_has_one(bare, tmp_path):
    check = look_at_compiler(bare)
    assert (check.status, check.found) == (Status.BROKEN, "no C++ compiler")
    assert check.command == "apt-get install -y g++"
    script(tmp_path / "bin" / "dnf", "")
    assert look_at_compiler(bare).command == "dnf install -y gcc-c++"


def test_who_is_not_root_is_told_sudo(tmp_path):
    (tmp_path / "bin").mkdir()
    machine = Machine(environ={"PATH": str(tmp_path / "bin")}, root=tmp_path, folder=tmp_path, is_root=False)
    assert look_at_compiler(machine).command == "sudo apt-get install -y g++"


def test_a_compiler_is_told_by_version_and_place(bare, tmp_path):
    program = script(tmp_path / "bin" / "g++", GPP)
    check = look_at_compiler(bare)
    assert check.status is Status.OK
    assert check.found == f"gcc version 12.2.0 (own) x86_64-linux-gnu, {program}"


def test_a_compiler_without_headers_is_no_compiler(bare, tmp_path):
    complaint = 'echo "<stdin>:1:10: fatal error: cstdint: No such file" >&2; exit 1'
    script(tmp_path / "bin" / "g++", f'case "$*" in *fsyntax*) {complaint};; esac; {GPP}')
    check = look_at_compiler(bare)
    assert check.status is Status.BROKEN
    assert check.meaning == "it does not compile C++17: <stdin>:1:10: fatal error: cstdint: No such file"
    assert check.command


def test_a_compiler_that_was_set_wrongly_is_unset(tmp_path):
    assert look_at_compiler(machine_of(tmp_path, CXX="nothing")).command == "unset CXX"


def test_no_cann_is_nothing_broken(bare):
    check = look_at_cann(bare)
    assert (check.status, check.found) == (Status.MISSING, "no bisheng")
    assert "https://www.hiascend.com/" in check.meaning
    assert check.command.startswith("source ")


@pytest.mark.parametrize("folder", ["usr/local/Ascend/cann", "usr/local/Ascend/ascend-toolkit", "home/me/Ascend/cann"])
def test_a_cann_that_is_installed_only_needs_its_environment(bare, tmp_path, folder):
    place = tmp_path / folder / "set_env.sh"
    place.parent.mkdir(parents=True)
    place.touch()
    check = look_at_cann(bare)
    assert (check.status, check.command) == (Status.MISSING, f"source {place}")


def test_a_cann_is_told_with_its_version(tmp_path):
    home = tmp_path / "cann"
    program = script(home / "bin" / "bisheng", "")
    (home / "version.info").write_text("Version=9.0.0\n")
    check = look_at_cann(machine_of(tmp_path, ASCEND_HOME_PATH=str(home)))
    assert check.status is Status.OK
    assert check.found == f"9.0.0, {program} (ASCEND_HOME_PATH)"
    assert check.details == {"version": "9.0.0", "home": str(home), "bisheng": str(program)}


def test_a_folder_without_bisheng_is_named(tmp_path):
    assert (
        look_at_cann(machine_of(tmp_path, ASCEND_HOME_PATH=str(tmp_path))).found == f"no bisheng in ASCEND_HOME_PATH={tmp_path}"
    )


@pytest.mark.parametrize("name", ["ASCEND_HOME_PATH", "BISHENG"])
def test_what_is_set_to_nothing_breaks_builds(tmp_path, name):
    check = look_at_cann(machine_of(tmp_path, **{name: "/nowhere"}))
    assert (check.status, check.command) == (Status.BROKEN, f"unset {name}")
    assert "TOOLCHAIN=host" in check.meaning


def test_devices_are_the_nodes_of_the_driver(bare, tmp_path):
    assert look_at_devices(bare).status is Status.MISSING
    (tmp_path / "dev").mkdir()
    for name in ("davinci0", "davinci1", "davinci_manager", "davinciX"):
        (tmp_path / "dev" / name).touch()
    check = look_at_devices(bare)
    assert (check.status, check.found) == (Status.OK, "2 devices: /dev/davinci0, /dev/davinci1")


def test_a_driver_without_devices_can_say_why(bare, tmp_path):
    script(tmp_path / "bin" / "npu-smi", "")
    assert look_at_devices(bare).command == "npu-smi info"


def test_devices_of_others_need_the_group(bare, tmp_path, monkeypatch):
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev" / "davinci0").touch()
    monkeypatch.setattr(os, "access", lambda *_: False)
    check = look_at_devices(bare)
    assert (check.status, check.command) == (Status.BROKEN, "sudo usermod -aG HwHiAiUser $USER")


def test_requirements_are_those_that_the_distribution_states():
    scons, libraries = look_at_requirements(["scons>=4", "hypothesis>=1", "nothing-of-that-name>=2", "torch; extra == 'torch'"])
    assert scons.status is Status.OK
    assert libraries.status is Status.BROKEN
    assert "nothing-of-that-name is not there" in libraries.found
    assert libraries.command == f"{sys.executable} -m pip install 'nothing-of-that-name>=2'"
    assert [check.status for check in look_at_requirements()] == [Status.OK] * 2


def test_a_version_that_is_too_old_is_told():
    (scons, _) = look_at_requirements(["scons>=1000"])
    assert (scons.status, scons.command) == (Status.BROKEN, f"{sys.executable} -m pip install 'scons>=1000'")


def test_no_torch_leaves_modules_out(monkeypatch):
    monkeypatch.setattr(modules, "find_torch", lambda: None)
    check, torch = look_at_torch()
    assert (check.status, torch) == (Status.MISSING, None)
    assert check.command.endswith(" -m pip install torch")
    needed, of_no_use = (look_at_torch_npu(None, is_needed=is_needed) for is_needed in (True, False))
    assert (needed.status, of_no_use.status) == (Status.MISSING, Status.MISSING)
    assert needed.command.endswith(" -m pip install torch-npu")
    assert of_no_use.command == ""  # it would be in the way of the emulated device


def test_a_damaged_torch_is_installed_again(monkeypatch):
    def fail():
        raise ToolchainError("no version in x")

    monkeypatch.setattr(modules, "find_torch", fail)
    check, _ = look_at_torch()
    assert (check.status, check.found) == (Status.BROKEN, "no version in x")
    assert "--force-reinstall torch" in check.command


def test_caches_are_told_with_size_and_limit(tmp_path):
    machine = machine_of(tmp_path, SKRULES_CACHE_LIMIT="2G")
    steps, others = look_at_caches(machine)
    assert steps.found == f"empty, {tmp_path}/cache/skrules/steps, limit 2.0 GiB"
    assert others.found.startswith("0 bytes in ")
    folder = tmp_path / "cache" / "skrules"
    (folder / "steps").mkdir(parents=True)
    (folder / "steps" / "usage").write_text("3145728 1700000000\n")
    (folder / "steps" / "large").write_bytes(b"x" * 5000)
    (folder / "host-runtime").mkdir()
    (folder / "host-runtime" / "lib.so").write_bytes(b"x" * 2048)
    steps, others = look_at_caches(machine)
    assert steps.found.startswith("3 MiB in ")
    assert (steps.details["bytes"], steps.details["limit"]) == (3 << 20, 2 << 30)
    assert (others.details["bytes"], others.found) == (2048, f"2 KiB in {folder}")


@pytest.mark.parametrize("text", ["", "x y", "-3 0", "\xff"])
def test_a_broken_note_of_size_is_no_reason_to_fail(tmp_path, text):
    folder = tmp_path / "cache" / "skrules" / "steps"
    folder.mkdir(parents=True)
    (folder / "usage").write_bytes(text.encode("latin-1"))
    assert look_at_caches(machine_of(tmp_path))[0].status is Status.OK


def test_settings_of_caches_that_end_builds_are_told(tmp_path):
    machine = machine_of(tmp_path, SKRULES_CACHE_LIMIT="much", SKRULES_CACHE="relative", SKRULES_REMOTE_CACHE="nowhere")
    steps, _, folder, remote = look_at_caches(machine)
    assert [check.command for check in (steps, folder, remote)] == [
        "unset SKRULES_CACHE_LIMIT",
        "unset SKRULES_CACHE",
        "unset SKRULES_REMOTE_CACHE SKRULES_REMOTE_CACHE_READONLY",
    ]


@pytest.mark.parametrize(
    "settings",
    [
        {"SKRULES_REMOTE_CACHE": "ftp://cache.example"},
        {"SKRULES_REMOTE_CACHE": "http://cache.example", "SKRULES_REMOTE_CACHE_READONLY": "yes"},
    ],
)
def test_a_remote_cache_that_a_build_refuses_is_told_in_its_words(tmp_path, settings):
    remote = look_at_caches(machine_of(tmp_path, **settings))[-1]
    with pytest.raises(UsageError, match=re.escape(remote.found)):
        remote_from(settings)
    assert remote.status is Status.BROKEN


def test_a_password_of_a_remote_cache_is_not_shown(tmp_path):
    remote = look_at_caches(machine_of(tmp_path, SKRULES_REMOTE_CACHE="https://me:secret@cache.example:8080/x"))[-1]
    assert remote.found == "https://cache.example:8080/x (not asked)"
    assert "secret" not in json.dumps(remote.to_json())


def test_a_cache_in_the_way_of_a_file_cannot_be_written(tmp_path):
    (tmp_path / "cache").touch()
    machine = machine_of(tmp_path, XDG_CACHE_HOME="", SKRULES_CACHE=str(tmp_path / "cache"))
    assert look_at_caches(machine)[-1].found == f"{tmp_path / 'cache'} cannot be written"
    machine = machine_of(tmp_path, XDG_CACHE_HOME="", SKRULES_CACHE=str(tmp_path / "cache/below"))
    assert look_at_caches(machine)[-1].found == f"{tmp_path / 'cache/below'} cannot be written"


def test_little_room_is_told(bare, monkeypatch):
    monkeypatch.setattr(storage.shutil, "disk_usage", lambda _: type("Usage", (), {"free": 1 << 20, "total": 1 << 40}))
    (check,) = look_at_disks(bare)
    assert (check.status, check.command) == (Status.BROKEN, "scons -c")
    assert check.found.startswith("1 MiB of 1024.0 GiB free, ")


def test_launchers_are_told(bare, tmp_path):
    assert look_at_launcher(bare).status is Status.MISSING
    program = script(tmp_path / "bin" / "sccache", "")
    assert look_at_launcher(bare).found == f"{program}; used with scons LAUNCHER=sccache"


def test_a_machine_with_nothing_builds_nothing(bare):
    found = examine(bare)
    assert not found.can_build
    assert str(found).endswith("nothing can be built\n")


def test_a_machine_with_a_compiler_builds_for_the_emulated_device(bare, tmp_path):
    script(tmp_path / "bin" / "g++", GPP)
    found = examine(bare)
    assert (found.host, found.bisheng) == (True, False)
    assert "kernels can be built by the host toolchain\n" in str(found)


def test_every_check_that_is_broken_has_a_command(bare):
    for check in examine(bare).checks:
        assert check.status is not Status.BROKEN or (check.meaning and check.command), check.name


def test_the_command_tells_by_its_exit_status(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert main(["doctor", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["can_build"]["host"] is True
    assert {check["name"] for check in document["checks"]} >= {
        *("Python", "SCons", "C++ compiler", "CANN", "NPU", "PyTorch", "torch_npu", "cache of steps", "disk", "launcher")
    }
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.delenv("ASCEND_HOME_PATH", raising=False)
    assert main(["doctor"]) == 4
    assert "nothing can be built" in capsys.readouterr().out


def test_it_needs_nothing_that_it_looks_for():
    program = (
        "import sys\n"
        "class Nothing:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] in ('SCons', 'yaml', 'jinja2', 'numpy', 'ml_dtypes', 'packaging'):\n"
        "            raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Nothing())\n"
        "from skrules.cli import main\n"
        "sys.exit(main(['doctor']))\n"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "C++ compiler" in done.stdout


def test_what_is_said_stands_in_columns():
    check = Check(name="X", status=Status.MISSING, found="nothing", meaning="so what", command="get x")
    text = str(Examination(checks=[check], host=True, bisheng=True, modules=True))
    assert text == (
        "missing  X  nothing\n            so what\n            $ get x\n"
        "kernels can be built by the host toolchain and bisheng\nPython modules can be built\n"
    )
