"""The tree as a whole (golden), its arch selector, and its setup.py with a stand-in compiler and a stand-in torch."""

from __future__ import annotations

import ast
import importlib.machinery
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from skrules.cli import main
from tests.data import bisheng_stand_in

GOLDEN = Path(__file__).parents[1] / "golden" / "aclgraph"
KERNELS = {
    "add": 'extern "C" __global__ __vector__ void add(GM_ADDR x, GM_ADDR y, uint32_t n)\n{\n}\n',
    "add_dav": 'extern "C" __global__ __cube__ void add_dav(GM_ADDR x, half scale)\n{\n}\n',
}
CONTRACTS = {
    "add": "add: {inputs: [x], outputs: [y], compile: {defines: [LIMIT=4], options: [-O3]}}",
    "add_dav": "add_dav: {inputs: [x], outputs: [x]}",
}


@pytest.fixture(scope="module")
def adapted(tmp_path_factory):
    """A package of two operators whose names are hard to tell apart once an arch follows them."""
    root = tmp_path_factory.mktemp("adapted")
    words = []
    before = Path.cwd()
    os.chdir(root)
    try:
        for name, kernel in KERNELS.items():
            (root / name).mkdir()
            (root / name / "k.asc").write_text(f'#include "kernel_operator.h"\n#include "part.h"\n{kernel}')
            (root / name / "part.h").write_text(f"// of {name}\n")
            (root / f"{name}.yaml").write_text(f"schema_version: 1\nentries:\n  {CONTRACTS[name]}\n")
            assert main(["adapt-sk-from-global", name, "--io-contract", f"{name}.yaml", "--output-dir", f"out_{name}"]) == 0
            words += ["--adapted-output-dir", f"out_{name}"]
        assert main(["aggregate-sk-adapted", *words, "--output-dir", "out", "--aggregate-wheel-name", "my-ops"]) == 0
    finally:
        os.chdir(before)
    return root / "out" / "operator-sk-adapted"


@pytest.fixture
def selector(adapted, tmp_path):
    """The arch selector of the package, in a folder of its own that a test may fill."""
    folder = tmp_path / "package"
    folder.mkdir()
    text = (adapted / "op_extension/_arch_selector.py").read_text()
    (folder / "_arch_selector.py").write_text(text)
    spec = importlib.util.spec_from_file_location("_arch_selector_of_test", folder / "_arch_selector.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_golden(adapted, check_golden):
    made = {path.relative_to(adapted).as_posix(): path for path in adapted.rglob("*") if path.is_file()}
    del made["csrc/ascendc_ops.h"]  # which is no generated file
    for name, path in made.items():
        # Not as .py: expected outputs are not code of this project, and its style is not asked of them.
        expected = GOLDEN / f"{name}.txt" if name.endswith(".py") else GOLDEN / name
        expected.parent.mkdir(parents=True, exist_ok=True)
        check_golden(expected, path.read_bytes())
    kept = {path.relative_to(GOLDEN).as_posix().removesuffix(".txt") for path in GOLDEN.rglob("*") if path.is_file()}
    assert set(made) == kept


def test_generated_python_compiles_for_the_oldest_interpreter(adapted):
    for path in adapted.rglob("*.py"):
        ast.parse(path.read_text(), feature_version=(3, 8))


def module_name(entry, arch):
    return f"{entry}_{arch.replace('-', '_')}{importlib.machinery.EXTENSION_SUFFIXES[0]}"


def test_modules_are_told_apart(selector):
    folder = Path(selector.__file__).parent
    for name in (module_name("add", "dav-2201"), module_name("add_dav", "dav-3510"), module_name("other", "dav-2201")):
        (folder / name).touch()
    (folder / "add_dav_2201.py").touch()
    assert selector.packaged() == {"dav-2201": ["add"], "dav-3510": ["add_dav"]}
    assert selector.archs_of("add_dav") == ["dav-3510"]


def test_an_arch_is_selected_and_never_guessed(selector, monkeypatch):
    (Path(selector.__file__).parent / module_name("add", "dav-2201")).touch()
    monkeypatch.delenv("SK_ACLGRAPH_NPU_ARCH", raising=False)
    monkeypatch.setattr(selector, "detected_arch", lambda: None)
    with pytest.raises(RuntimeError, match=r"set SK_ACLGRAPH_NPU_ARCH; packaged: dav-2201"):
        selector.select_arch()
    monkeypatch.setattr(selector, "detected_arch", lambda: "dav-3510")
    with pytest.raises(RuntimeError, match="not packaged"):
        selector.select_arch()
    monkeypatch.setenv("SK_ACLGRAPH_NPU_ARCH", "DAV_2201")
    assert selector.select_arch() == "dav-2201"
    monkeypatch.setenv("SK_ACLGRAPH_NPU_ARCH", "dav-3510")
    with pytest.raises(RuntimeError, match="not packaged; packaged: dav-2201"):
        selector.select_arch()


@pytest.mark.parametrize(
    ("environment", "archs"),
    [
        ({"SK_NPU_ARCHS": "dav-3510, dav_2201;dav-3510"}, ["dav-3510", "dav-2201"]),
        ({"SK_TARGET_CHIPS": "ascend-910b1;260", "SK_NPU_ARCHS": "dav-2201"}, ["dav-2201", "dav-3510"]),
        ({"SK_TARGET_CHIPS": " ", "SK_NPU_ARCHS": "dav-2201"}, ["dav-2201"]),
        ({"SK_TARGET_CHIPS": "224,Ascend910B4"}, ["dav-2201"]),
    ],
)
def test_archs_to_build_for(selector, environment, archs):
    assert selector.requested_archs(environment) == archs


@pytest.mark.parametrize(
    ("environment", "part"),
    [
        ({"SK_TARGET_CHIPS": "Ascend910B"}, "Unsupported SK_TARGET_CHIPS values: Ascend910B"),
        ({"SK_NPU_ARCHS": "dav-9999"}, "known archs: dav-2201, dav-3510"),
        ({"SK_NPU_ARCHS": " ,"}, "no arch"),
        ({}, "set SK_NPU_ARCHS"),
    ],
)
def test_archs_that_cannot_be_built_for(selector, monkeypatch, environment, part):
    monkeypatch.setattr(selector, "detected_arch", lambda: None)
    with pytest.raises(RuntimeError, match=part):
        selector.requested_archs(environment)


@pytest.fixture
def build(adapted, tmp_path):
    """Run setup.py in a copy of the tree; return the status, the output and the compiler's command lines."""
    root = tmp_path / "tree"
    shutil.copytree(adapted, root)
    program = bisheng_stand_in.install(tmp_path / "tools")
    fakes = tmp_path / "fakes"
    for name, text in {
        "torch/__init__.py": "class _C:\n    _GLIBCXX_USE_CXX11_ABI = True\n",
        "torch/utils/__init__.py": "",
        "torch/utils/cpp_extension.py": "FLAG = '-std=c++20'\ndef include_paths():\n    return ['/opt/torch/include']\n",
        "torch_npu/__init__.py": "class npu:\n    @staticmethod\n    def get_soc_version():\n        return 224\n",
    }.items():
        (fakes / name).parent.mkdir(parents=True, exist_ok=True)
        (fakes / name).write_text(text)

    def run(*words, torch=True, **environment):
        environment |= {"PATH": f"{program.parent}{os.pathsep}{os.defpath}", "PYTHONPATH": str(fakes) if torch else ""}
        done = subprocess.run(
            [sys.executable, "setup.py", *words],
            cwd=root,
            env={"HOME": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1", **environment},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        return done.returncode, done.stdout + done.stderr, bisheng_stand_in.read_log(program)

    run.root = root
    return run


def test_setup_compiles_each_entry_for_each_arch(build):
    status, output, commands = build("build_ext", "--build-lib", "lib", SK_NPU_ARCHS="dav-2201,dav-3510", SK_BISHENG_JOBS="2")
    assert status == 0, output
    suffix = importlib.machinery.EXTENSION_SUFFIXES[0]
    made = sorted(path.name.removesuffix(suffix) for path in (build.root / "lib/op_extension").iterdir())
    assert made == ["add_dav_2201", "add_dav_3510", "add_dav_dav_2201", "add_dav_dav_3510"]
    assert len(commands) == 4
    command = next(words for words in commands if "-DTORCH_EXTENSION_NAME=add_dav_2201" in words)
    assert command[:5] == ["-x", "asc", "--npu-arch=dav-2201", "-shared", "-fPIC"]
    for word in ("-std=c++20", "-D_GLIBCXX_USE_CXX11_ABI=1", "-DLIMIT=4", "-O3", "-ltorch_npu", "-lc10", "-Icsrc"):
        assert word in command
    assert command.index("csrc/add.asc") < command.index("-ltorch_npu")
    assert "csrc/pybind11_add.asc" in command
    assert "csrc/_support/add/add" in command


def test_setup_needs_neither_torch_nor_an_arch_for_its_name(build):
    status, output, commands = build("--name", "--version", torch=False)
    assert (status, output.split(), commands) == (0, ["my-ops", "0.1.0"], [])


def test_setup_takes_the_arch_of_the_machine(build):
    status, output, commands = build("build_ext", "--build-lib", "lib")
    assert status == 0, output
    assert {word for words in commands for word in words if "npu-arch" in word} == {"--npu-arch=dav-2201"}


@pytest.mark.parametrize(
    ("environment", "part"),
    [
        ({"SK_NPU_ARCHS": "dav-1"}, "known archs"),
        ({"SK_NPU_ARCHS": "dav-2201", "SK_BISHENG_JOBS": "0"}, "must be a positive integer"),
        ({"SK_NPU_ARCHS": "dav-2201", "SK_BISHENG_JOBS": "two"}, "must be a positive integer"),
    ],
)
def test_setup_says_what_is_wrong_before_it_compiles(build, environment, part):
    status, output, commands = build("build_ext", "--build-lib", "lib", **environment)
    assert status != 0
    assert part in output
    assert commands == []


def test_setup_without_torch_says_how_to_build(build):
    status, output, _ = build("build_ext", "--build-lib", "lib", torch=False, SK_NPU_ARCHS="dav-2201")
    assert status != 0
    assert "--no-build-isolation" in output


def test_a_failing_compile_leaves_no_module(build):
    source = build.root / "csrc/add.asc"
    source.write_text(source.read_text() + "#error stand-in\n")
    status, output, _ = build("build_ext", "--build-lib", "lib", SK_NPU_ARCHS="dav-2201")
    assert status != 0
    assert "bisheng failed for add (dav-2201)" in output
    assert not list((build.root / "lib/op_extension").glob("*add_dav_2201*"))


def test_a_built_tree_has_the_package_and_its_modules(build):
    status, output, _ = build("build", "--build-lib", "lib", SK_NPU_ARCHS="dav-2201")
    assert status == 0, output
    names = {path.name for path in (build.root / "lib/op_extension").iterdir()}
    assert {"__init__.py", "_arch_selector.py", "_torch_library.py", module_name("add", "dav-2201")} <= names
