"""`scons wheel` with real modules of the host toolchain: exact steps, equal bytes, and what the tools of others say."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.scenarios.conftest import ScenarioWorkspace

HAS_TORCH = importlib.util.find_spec("torch") is not None
needs_torch = pytest.mark.skipif(not HAS_TORCH, reason="modules are built with torch, which is not there")
ARCHS = ("dav-2201", "dav-3510")
DECLARED = 'wheel(name="small_ops", ops=["//ops/..."], version="1.0", license_files=["TERMS"])\n'
NAME = f"small_ops-1.0+host-cp{sys.version_info[0]}{sys.version_info[1]}"


def steps(*operators, what=("ASC", "LINK")):
    return [f"{each} {arch} //ops/{name}" for name in operators for each in what for arch in ARCHS]


def only_wheel(workspace: ScenarioWorkspace) -> Path:
    (path,) = workspace.root.glob("build/host/dist/*.whl")
    return path


@pytest.fixture
def declared(workspace):
    (workspace.root / "ops" / "SConscript").write_text(DECLARED)
    (workspace.root / "ops" / "TERMS").write_text("Do as you like.\n")
    return workspace


@pytest.fixture
def built(declared):
    run = declared.scons("wheel")
    assert run.status == 0, run.output
    return declared


@needs_torch
def test_the_steps_of_a_wheel(declared):
    run = declared.scons("wheel")
    assert run.status == 0, run.output
    shared = ["BINDING //toolchain:binding", "PACKAGE //skrules:package", "RUNTIME //toolchain:host", "WHEEL //ops:small_ops"]
    own = ["ADAPT //ops/scale", "ADAPT //ops/shift", *steps("scale", "shift")]
    # Other files of the Python package may have steps of their own.
    assert set(run.actions) >= {*shared, *own}
    assert [step for step in run.actions if step.startswith(("ADAPT", "ASC", "LINK", "WHEEL"))] == sorted([*own, shared[-1]])
    path = only_wheel(declared)
    assert path.name.startswith(NAME)
    told = run.output[run.output.index("wheel: build/host/dist/") :]
    assert f"{path.stat().st_size:,} bytes, sha256 {hashlib.sha256(path.read_bytes()).hexdigest()}" in told
    with zipfile.ZipFile(path) as archive:
        infos = archive.infolist()
    assert [line.split() for line in told.splitlines()[2:]] == [[f"{info.file_size:,}", info.filename] for info in infos]
    names = {info.filename for info in infos}
    assert {f"op_extension/{name}_{arch.replace('-', '_')}.so" for name in ("scale", "shift") for arch in ARCHS} <= names
    assert "op_extension/lib/libskrules_host.so" in names


@needs_torch
def test_what_an_edit_makes_again(built):
    again = built.scons("wheel")
    assert again.actions == []
    assert f"wheel: build/host/dist/{only_wheel(built).name}\n" in again.output
    built.edit("ops/scale/scale.asc", "factor", "gain")
    edit = built.scons("wheel")
    assert edit.status == 0, edit.output
    assert edit.actions == sorted(["ADAPT //ops/scale", *steps("scale"), "WHEEL //ops:small_ops"])
    built.edit("ops/SConscript", 'version="1.0"', 'version="1.1"')
    assert built.scons("wheel").actions == ["WHEEL //ops:small_ops"]
    assert only_wheel(built).name.startswith("small_ops-1.1+host-")
    built.edit("ops/TERMS", "like", "please")
    assert built.scons("wheel").actions == ["WHEEL //ops:small_ops"]
    only_wheel(built).unlink()
    assert built.scons("ops:small_ops").actions == ["WHEEL //ops:small_ops"]


@needs_torch
def test_a_plain_build_makes_no_wheel_and_a_damaged_one_is_made_again(built):
    good = only_wheel(built).read_bytes()
    only_wheel(built).write_bytes(good[:-1])
    assert built.scons().actions == []
    assert built.scons("wheel").actions == ["WHEEL //ops:small_ops"]
    assert only_wheel(built).read_bytes() == good


@needs_torch
def test_archs_of_the_environment(declared):
    assert declared.scons("wheel", SK_NPU_ARCHS="dav_3510").status == 0
    with zipfile.ZipFile(only_wheel(declared)) as archive:
        modules = [name for name in archive.namelist() if name.endswith(".so") and "/lib/" not in name]
    assert modules == ["op_extension/scale_dav_3510.so", "op_extension/shift_dav_3510.so"]
    wrong = declared.scons("wheel", SK_NPU_ARCHS=";")
    assert (wrong.status, "SK_NPU_ARCHS is set, and empty" in wrong.output) == (2, True)


@needs_torch
def test_the_same_bytes_in_another_folder(built, tmp_path):
    other = ScenarioWorkspace(tmp_path / "a folder with a longer name" / "w", dict(built.environment))
    shutil.copytree(built.root, other.root, ignore=shutil.ignore_patterns("build", ".sconsign*"))
    # What takes long and does not depend on the workspace is taken from the cache, kernels and modules are not.
    cache = Path(built.environment["SKRULES_CACHE"])
    other.environment["SKRULES_CACHE"] = str(tmp_path / "cache")
    for name in ("binding-runtime", "host-runtime"):
        shutil.copytree(cache / name, tmp_path / "cache" / name)
    run = other.scons("wheel")
    assert run.status == 0, run.output
    assert set(steps("scale", "shift")) <= set(run.actions)
    assert only_wheel(other).read_bytes() == only_wheel(built).read_bytes()
    with zipfile.ZipFile(only_wheel(built)) as archive:
        content = b"".join(archive.read(name) for name in archive.namelist())
    for folder in (built.root, Path(sys.prefix), Path.home(), cache):
        assert os.fsencode(f"{folder}/") not in content


@needs_torch
def test_an_installed_wheel_needs_nothing_of_the_build(built, tmp_path):
    wheel = shutil.copy(only_wheel(built), tmp_path)
    shutil.rmtree(built.root)
    python = tmp_path / "venv" / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    install = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index", wheel]
    subprocess.run(install, check=True)
    spec = importlib.util.find_spec("torch")
    assert spec is not None and spec.origin is not None
    program = (
        "import op_extension\n"
        "module = op_extension.load('scale', 'dav-2201')\n"
        "print(module.__file__, hasattr(module, 'run_scale'))\n"
        "print(*{line.split()[-1] for line in open('/proc/self/maps') if 'libskrules_host' in line})\n"
    )
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(spec.origin).parents[1])}
    done = subprocess.run([python, "-P", "-c", program], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (package,) = (tmp_path / "venv").glob("lib/python*/site-packages/op_extension")
    module, library = done.stdout.splitlines()
    assert module == f"{package}/scale_dav_2201.so True"
    assert library == f"{package}/lib/libskrules_host.so"


@needs_torch
@pytest.mark.parametrize(
    ("module", "arguments"),
    [("twine", ("check", "--strict")), ("check_wheel_contents", ())],
    ids=["twine", "check-wheel-contents"],
)
def test_checkers_accept_it(built, module, arguments):
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{module} is not installed")
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments, only_wheel(built)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@needs_torch
def test_an_installer_accepts_its_record(built):
    sources = pytest.importorskip("installer.sources")
    with sources.WheelFile.open(only_wheel(built)) as source:
        source.validate_record()


@pytest.mark.skipif(HAS_TORCH, reason="torch is there")
def test_without_torch(declared):
    run = declared.scons("wheel")
    assert (run.status, run.actions) == (4, [])
    assert "a wheel holds Python modules for PyTorch, and there is none in this Python\n  hint: pip install torch" in run.output
    assert not list(declared.root.glob("build/host/dist/*"))
