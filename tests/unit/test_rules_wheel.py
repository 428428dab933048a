"""Which wheels a request makes, and the step that writes one; the modules are libraries of a few bytes."""

from __future__ import annotations

import json
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from skrules.arch_file import load_archs
from skrules.binding.detect import TorchInfo, TorchNpuInfo
from skrules.engine.action import NO_LAUNCHER
from skrules.errors import BuildError, SkrulesError, ToolchainError, UsageError
from skrules.rules import wheel as wheel_rule
from skrules.rules.context import make_context
from skrules.rules.declaration import read_package
from skrules.rules.graph import make_graph
from skrules.rules.request import read_request
from skrules.rules.wheel_plan import DEFAULT_LABEL, plan_wheels
from skrules.rules.workspace import load_workspace
from skrules.toolchain.base import Memory
from skrules.toolchain.bisheng import BishengToolchain, Toolkit
from skrules.wheel.verify import verify
from tests.data.tiny_library import tiny_library, tiny_module

ARCHS = load_archs()
TORCH = TorchInfo(
    python=Path("python"),
    python_version="3.11",
    python_abi="cpython-311-x86_64-linux-gnu",
    python_include=Path("/python/include"),
    version="2.13.0+cpu",
    root=Path("/somewhere/torch"),
    standard="c++20",
    cxx11_abi=True,
    npu=TorchNpuInfo(version="2.13.0.post1", root=Path("/somewhere/torch_npu")),
)


class Emulation:
    """The host toolchain as far as a wheel knows it, on a machine without a compiler."""

    name = "host"
    launcher = NO_LAUNCHER
    memory = Memory(kernel=0, link=0)
    summary = ""

    def key(self):
        return {"toolchain": "host", "compiler": "gcc version 12"}

    def files(self):
        return ()

    def environment(self):
        return {}

    def compile_kernel(self, _request):
        return ()

    device_environment = compile_cpp = link = compile_kernel

    def support(self, _archs, _build):
        return ()

    def module_inputs(self, build):
        return (f"{build}/lib/libskrules_host.so",)


def operator(name: str, archs: tuple[str, ...] = ("dav-2201", "dav-3510")) -> str:
    return f'operator(name="{name}", srcs=["{name}.asc"], archs={list(archs)})\n'


def write(root: Path, files: dict[str, str | bytes]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())


@pytest.fixture
def root(tmp_path):
    write(
        tmp_path,
        {
            "LICENSE": "Do as you like.\n",
            "ops/add/SConscript": operator("add"),
            "ops/add/add.asc": "",
            "ops/mul/SConscript": operator("mul", ("dav-3510",)),
            "ops/mul/mul.asc": "",
        },
    )
    return tmp_path


def declare(root, text, package="ops"):
    write(root, {f"{package}/SConscript": text})


def graph_of(root, *words, environ=None, torch=TORCH, toolchain=None, **variables):
    request = read_request(words, variables)
    workspace = load_workspace(root, ["ops"], request.patterns)
    context = make_context(root=root, build="build", archs=ARCHS, toolchain=toolchain or Emulation(), torch=torch)
    return make_graph(workspace, request, context, plan_wheels(workspace, request, environ or {}))


def make(root, graph, *, entries=None, emulated=True):
    """Write what a build makes before its wheel, run the step, and return the wheel's path."""
    (wheel,) = graph.wheels
    for each in graph.operators:
        names = (entries or {}).get(each.label.name, [each.label.name])
        table = "".join(f'    {{"{name}", "k", 0}},\n' for name in names)
        text = f"const skrules_entry entries[] = {{\n{table}}};\n"
        write(root, {each.build.generated.descriptor: text})
        for path in each.build.results:
            module = path.endswith(".so")
            write(root, {path: tiny_module(Path(path).stem, emulated=emulated) if module else f"# {Path(path).name}\n"})
    if emulated:
        write(root, {"build/host/lib/libskrules_host.so": tiny_library(soname="libskrules_host.so")})
    wheel.action.run(root)
    return root / wheel.output


def plans_of(root, *words, environ=None, **variables):
    request = read_request(words, variables)
    return plan_wheels(load_workspace(root, ["ops"], request.patterns), request, environ or {})


def names(plans):
    return {plan.label: [target.label.name for target in plan.operators] for plan in plans}


BOTH = (
    'wheel(name="all_ops", ops=["//ops/..."], version="1.0")\nwheel(name="fast", ops=["//ops/add"], version="2.0")\n'
)  # fmt: skip


def test_the_default_build_makes_no_wheel(root):
    declare(root, BOTH)
    assert plans_of(root) == plans_of(root, "//ops/...") == plans_of(root, "ops/add") == plans_of(root, "compare") == ()
    assert not graph_of(root).wheels


def test_the_verb_makes_all_that_are_declared(root):
    declare(root, BOTH)
    assert names(plans_of(root, "wheel")) == {"//ops:all_ops": ["add", "mul"], "//ops:fast": ["add"]}


def test_a_wheel_is_made_when_it_is_named(root):
    declare(root, BOTH)
    assert names(plans_of(root, "ops:fast")) == {"//ops:fast": ["add"]}
    assert names(plans_of(root, "wheel", "//ops:fast")) == {"//ops:fast": ["add"]}
    assert names(plans_of(root, "ops")) == {"//ops:all_ops": ["add", "mul"], "//ops:fast": ["add"]}


def test_a_package_with_operators_is_its_operators(root):
    write(root, {"ops/add/SConscript": operator("add") + 'wheel(name="only", ops=[":add"], version="1")\n'})
    assert plans_of(root, "ops/add") == ()
    assert names(plans_of(root, "ops/add:only")) == {"//ops/add:only": ["add"]}


def test_without_a_declared_wheel_there_is_one_of_all(root):
    assert names(plans_of(root, "wheel")) == {DEFAULT_LABEL: ["add", "mul"]}
    assert names(plans_of(root, "wheel", "ops/mul")) == {DEFAULT_LABEL: ["mul"]}
    graph = graph_of(root, "wheel")
    assert graph.wheels[0].output == "build/host/dist/op_extension-0.1.0+host-cp311-cp311-linux_x86_64.whl"


def test_name_and_version_of_the_command_line(root):
    graph = graph_of(root, "wheel", WHEEL_NAME="my-ops", WHEEL_VERSION="3.1")
    assert graph.wheels[0].output == "build/host/dist/my_ops-3.1+host-cp311-cp311-linux_x86_64.whl"


def test_all_that_a_declaration_says(root):
    declare(
        root,
        'wheel(name="fast", ops=["//ops/add"], version="2.0", distribution="fast-ops", package="fast_ops",\n'
        '      license="apache-2.0", description="Fast.", readme="READ.md", license_files=["TERMS"],\n'
        '      requires=["numpy>=1.26"], python_requires=">=3.11")\n',
    )
    write(root, {"ops/READ.md": "# Fast\n", "ops/TERMS": "Terms.\n"})
    path = make(root, graph_of(root, "wheel"))
    assert path.name == "fast_ops-2.0+host-cp311-cp311-linux_x86_64.whl"
    folder = "fast_ops-2.0+host.dist-info"
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        own = ("__init__.py", "add_dav_2201.so", "add_dav_3510.so", "built_with.json", "lib/libskrules_host.so")
        assert {f"fast_ops/{name}" for name in own} <= set(names)
        assert names[-4:] == [f"{folder}/{name}" for name in ("METADATA", "WHEEL", "licenses/ops/TERMS", "RECORD")]
        assert all(name.startswith("fast_ops/") for name in names[:-4])
        assert archive.read(f"{folder}/METADATA").decode() == (
            "Metadata-Version: 2.4\nName: fast-ops\nVersion: 2.0+host\nSummary: Fast. (emulated on the CPU, not for a device)\n"
            "Keywords: dav-2201,dav-3510\nLicense-Expression: Apache-2.0\nLicense-File: ops/TERMS\nRequires-Python: >=3.11\n"
            "Requires-Dist: numpy>=1.26\nRequires-Dist: torch==2.13.0\nDescription-Content-Type: text/markdown\n\n# Fast\n"
        )
    assert verify(path.read_bytes(), path.name) == ()


def test_what_it_was_built_with_is_inside(root):
    path = make(root, graph_of(root, "wheel"), entries={"add": ["add", "add_scalar"]})
    with zipfile.ZipFile(path) as archive:
        record = json.loads(archive.read("op_extension/built_with.json"))
        licence = archive.read("op_extension-0.1.0+host.dist-info/licenses/LICENSE")
    assert licence == b"Do as you like.\n"
    assert record["operators"] == {
        "add": {"archs": ["dav-2201", "dav-3510"], "entries": ["add", "add_scalar"]},
        "mul": {"archs": ["dav-3510"], "entries": ["mul"]},
    }
    assert (record["toolchain"], record["emulated"], record["cann"]) == ("host", True, None)
    assert record["torch"] == {"version": "2.13.0+cpu", "cxx11_abi": True}
    assert record["torch_npu"] is None


def test_a_wheel_for_devices(root):
    home = root / "cann"
    write(root, {"cann/bisheng": "compiler"})
    toolkit = Toolkit(home=home, version="8.2.RC1")
    bisheng = BishengToolchain(program=home / "bisheng", toolkit=toolkit, environ={"HOME": str(root)}, why="")
    path = make(root, graph_of(root, "wheel", toolchain=bisheng), emulated=False)
    assert path.name == "op_extension-0.1.0-cp311-cp311-linux_x86_64.whl"
    with zipfile.ZipFile(path) as archive:
        record = json.loads(archive.read("op_extension/built_with.json"))
        metadata = archive.read("op_extension-0.1.0.dist-info/METADATA").decode()
        assert not any("lib/" in name for name in archive.namelist())
    assert (record["cann"], record["emulated"], record["torch_npu"]) == ("8.2.RC1", False, "2.13.0.post1")
    assert "Requires-Dist: torch-npu==2.13.0.post1\nRequires-Dist: torch==2.13.0\n" in metadata
    assert "emulated" not in metadata.lower()


def test_the_same_bytes_in_another_folder(root, tmp_path_factory):
    other = tmp_path_factory.mktemp("a-much-longer-name") / "workspace"
    write(other, {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()})
    assert make(root, graph_of(root, "wheel")).read_bytes() == make(other, graph_of(other, "wheel")).read_bytes()


def test_the_wheel_of_another_version_is_removed_and_nothing_else(root):
    first = make(root, graph_of(root, "wheel", WHEEL_VERSION="1.0"))
    write(root, {"build/host/dist/op_extension_more-1.0-cp311-cp311-linux_x86_64.whl": b""})
    second = make(root, graph_of(root, "wheel", WHEEL_VERSION="1.1"))
    assert not first.exists()
    assert sorted(path.name for path in second.parent.iterdir()) == [
        second.name,
        "op_extension_more-1.0-cp311-cp311-linux_x86_64.whl",
    ]


def test_a_version_is_in_the_key_and_modules_are_inputs(root):
    one, two = (graph_of(root, "wheel", WHEEL_VERSION=version).wheels[0].action for version in ("1.0", "1.1"))
    assert one.inputs == two.inputs
    assert one.components()["version"] != two.components()["version"]
    assert {"build/host/op_extension/add_dav_2201.so", "build/host/op_extension/__init__.py", "LICENSE"} <= set(one.inputs)
    assert json.dumps(dict(one.components())).find(str(root)) == -1


def test_an_entry_of_two_operators(root):
    with pytest.raises(UsageError) as raised:
        make(root, graph_of(root, "wheel"), entries={"mul": ["mul", "add"]})
    assert "two operators of the wheel have an entry 'add': //ops/add and //ops/mul" in str(raised.value)
    assert not list(root.glob("build/host/dist/*"))


def test_a_path_of_two_files(root):
    graph = graph_of(root, "wheel")
    (wheel,) = graph.wheels
    more = "build/host/op_extension/built_with.json"
    broken = [
        replace(each, build=replace(each.build, modules_of={**each.build.modules_of, "more": more})) for each in graph.operators
    ]
    members = {each.label: wheel_rule.Member(label=each.label, archs=each.archs, build=each.build) for each in broken}
    request = read_request(("wheel",), {})
    workspace = load_workspace(root, ["ops"])
    context = make_context(root=root, build="build", archs=ARCHS, toolchain=Emulation(), torch=TORCH)
    (wheel,) = wheel_rule.wheel_actions(plan_wheels(workspace, request, {}), members, request, context)
    with pytest.raises(UsageError) as raised:
        make(root, replace(graph, operators=tuple(broken), wheels=(wheel,)))
    assert str(raised.value).splitlines() == [
        "error: two files of the wheel are 'op_extension/built_with.json'",
        "  build/host/op_extension/built_with.json of //ops/mul",
        f"  written for {DEFAULT_LABEL}",
    ]


def test_what_is_wrong_is_not_written(root):
    graph = graph_of(root, "wheel")
    with pytest.raises(BuildError, match="is not emulated") as raised:
        _with_device_module(root, graph)
    assert str(raised.value).startswith("error: //skrules:wheel: the wheel is not what it should be\n")
    assert not list(root.glob("build/host/dist/*"))


def _with_device_module(root, graph):
    make(root, graph)
    for path in root.glob("build/host/dist/*"):
        path.unlink()
    write(root, {"build/host/op_extension/add_dav_2201.so": tiny_module("add_dav_2201", emulated=False)})
    graph.wheels[0].action.run(root)


def test_a_module_that_tells_where_it_was_built(root):
    graph = graph_of(root, "wheel")
    make(root, graph)
    told = tiny_module("add_dav_2201", note=f"{root}/ops/add/add.asc".encode())
    write(root, {"build/host/op_extension/add_dav_2201.so": told})
    with pytest.raises(BuildError, match="holds the path") as raised:
        graph.wheels[0].action.run(root)
    assert "-fdebug-compilation-dir=." in raised.value.hint


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('wheel(name="w", ops=["//ops/none"], version="1")', "//ops:w: no operator matches '//ops/none'"),
        ('wheel(name="w", ops=["//ops/..."], version="one")', "ops/SConscript:1: 'one' is no version"),
        ('wheel(name="w", ops=["//ops/..."], version="1", requires=["a b"])', "'a b' is no requirement"),
        ('wheel(name="w", ops=["//ops/..."], version="1", license="free")', "'free' is no SPDX licence expression"),
        ('wheel(name="w", ops=["//ops/..."], version="1", distribution="a/b")', "'a/b' is no name for a wheel"),
        ('wheel(name="w", ops=["//ops/..."], version="1", package="class")', "package='class' is a word of Python"),
        ('wheel(name="w", ops=["//ops/..."], version="1", package="torch")', "package='torch' is the name of what is there"),
        ('wheel(name="w", ops=["//ops/..."], version="1", package="json")', "package='json' is the name of what is there"),
        (
            'wheel(name="w", ops=["//ops/..."], version="1")\nwheel(name="v", ops=["//ops/..."], version="2", distribution="W")',
            "//ops:w and //ops:v are both called 'w'",
        ),
    ],
)
def test_declarations_that_cannot_be_made(root, text, said):
    declare(root, text + "\n")
    with pytest.raises(UsageError) as raised:
        graph_of(root, "wheel")
    assert said in str(raised.value) and "ops/SConscript:" in str(raised.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('wheel(name="w", ops=[], version="1")', "ops is empty"),
        ('wheel(name="w", ops=["a b"], version="1")', "'a b' is not a label"),
        ('wheel(name="w", ops="//ops/...", version="1")', "ops must be a list of strings"),
        ('wheel(name="w", ops=["//ops/..."])', "wheel() needs version"),
        ('wheel(name="w", ops=["//ops/..."], version=1.0)', "version must be a string, not 1.0"),
        ('wheel(name="w", ops=["//ops/..."], version="1", description="a\\nb")', "control characters"),
        ('wheel(name="w", ops=["//ops/..."], version="1", package="my-ops")', "package must be a C identifier"),
    ],
)
def test_declarations_that_cannot_be_read(root, text, said):
    declare(root, text + "\n")
    with pytest.raises(UsageError) as raised:
        read_package(root, "ops")
    assert said in str(raised.value)


def test_an_arch_that_nothing_of_the_wheel_is_for(root):
    declare(root, 'wheel(name="w", ops=["//ops/mul"], version="1")\n')
    with pytest.raises(SkrulesError, match=r"no(ne of its| requested) operator"):
        graph_of(root, "wheel", ARCH="dav-2201")


@pytest.mark.parametrize(
    ("words", "variables", "said"),
    [
        ((), {"WHEEL_VERSION": "2"}, "WHEEL_VERSION is given, and no wheel is made"),
        (("wheel",), {"WHEEL_NAME": "x"}, "WHEEL_NAME is given for 2 wheels: //ops:all_ops, //ops:fast"),
    ],
)
def test_variables_that_no_wheel_can_have(root, words, variables, said):
    declare(root, BOTH)
    with pytest.raises(UsageError, match=said):
        plans_of(root, *words, **variables)


def test_without_torch(root, monkeypatch):
    monkeypatch.setattr(wheel_rule, "find_torch", lambda: None)
    with pytest.raises(ToolchainError) as raised:
        graph_of(root, "wheel", torch=None)
    assert raised.value.exit_code == 4
    assert "pip install torch" in raised.value.hint
    assert graph_of(root, torch=None).operators


def test_with_a_torch_that_cannot_be_used(root, monkeypatch):
    monkeypatch.setattr(wheel_rule, "find_torch", lambda: replace(TORCH, npu=None))
    toolkit = Toolkit(home=root, version="8.2.RC1")
    write(root, {"bisheng": "compiler"})
    bisheng = BishengToolchain(program=root / "bisheng", toolkit=toolkit, environ={"HOME": str(root)}, why="")
    with pytest.raises(ToolchainError, match="no torch_npu"):
        graph_of(root, "wheel", torch=None, toolchain=bisheng)
