"""The package of a build tree without torch: a torch of a few lines, and modules that are text."""

from __future__ import annotations

import importlib
import json
import sys
import sysconfig
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from skrules import resources
from skrules.arch_file import load_archs
from skrules.binding.detect import TorchInfo, TorchNpuInfo
from skrules.binding.package import module_name, package_files, package_paths, table_name

ARCHS = load_archs(resources.toolchains() / "ascend.yaml")
NAME = "built_operators"
X = {"name": "x", "c_type": "GM_ADDR", "kind": "tensor", "nullable": False, "dtype": "float16", "rank": 2}
ADD = {
    "schema": "(Tensor x) -> ()",
    "launch_schema": "(Tensor x) -> ()",
    "returned": None,
    "prepares": False,
    "parameters": [X, {**X, "name": "rest", "kind": "tensor_list", "rank": None}],
}
MODULE = """__skrules_operator__, __skrules_arch__, __skrules_toolchain__ = "{}", "{}", "{}"
__skrules_entries__ = {}
{}"""


def torch_info(npu: str = "") -> TorchInfo:
    return TorchInfo(
        python=Path(sys.executable),
        python_version="3.11",
        python_abi=sysconfig.get_config_var("SOABI"),
        python_include=Path("include"),
        version="2.13.0+cpu",
        root=Path("torch"),
        standard="c++20",
        cxx11_abi=True,
        npu=TorchNpuInfo(version=npu, root=Path("torch_npu")) if npu else None,
    )


class Library:
    """Records what is defined, in the namespace itself."""

    def __init__(self, _name: str, _kind: str) -> None:
        self.ops = sys.modules["torch"].ops.ascendc_ops

    def define(self, schema: str) -> None:
        setattr(self.ops, schema.partition("(")[0], type("Packet", (), {"default": staticmethod(lambda *_: None)}))

    def impl(self, name: str, function: object, key: str) -> None:
        setattr(self.ops, f"{name}:{key}", function)


class Place:
    """A package in a folder of its own, with a torch that this process does not have."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder / NAME
        self.folder.mkdir()
        self.patch = monkeypatch
        self.toolchain = ""
        self.write_package("host")
        self.operator("add", "dav-2201")
        self.torch: Any = ModuleType("torch")
        self.torch.__version__ = "2.13.0+cpu"
        self.torch._C = type("C", (), {"_GLIBCXX_USE_CXX11_ABI": True})
        self.torch.is_grad_enabled = lambda: True
        self.torch.autograd = type("Autograd", (), {"forward_ad": type("ForwardAd", (), {"_current_level": -1})})
        self.torch.library = type("Library", (), {"Library": Library})
        self.torch.ops = type("Ops", (), {"ascendc_ops": ModuleType("ascendc_ops")})
        monkeypatch.setitem(sys.modules, "torch", self.torch)
        monkeypatch.setitem(sys.modules, "torch_npu", None)  # not to be imported
        monkeypatch.delitem(sys.modules, "skrules.hostnpu", raising=False)  # of this process, not of that torch
        monkeypatch.syspath_prepend(folder)
        for variable in ("SK_ACLGRAPH_NPU_ARCH", "ASCEND_HOME_PATH", "SKRULES_HOST_ARCH", "SKRULES_HOST_SOC"):
            monkeypatch.delenv(variable, raising=False)

    def write(self, path: str, text: str) -> None:
        (self.folder / path).write_text(text)

    def write_package(self, toolchain: str, npu: str = "", **key: str) -> None:
        self.toolchain = toolchain
        for path, text in package_files(toolchain, torch=torch_info(npu), key=key, archs=ARCHS).items():
            self.write(path, text)

    def operator(self, name: str, *archs: str, entries: tuple[str, ...] = (), says: tuple[str, ...] = ()) -> None:
        table = dict.fromkeys(entries or (name,), ADD)
        self.write(table_name(name), json.dumps({"format": 1, "operator": name, "entries": table}))
        functions = "".join(f"run_{entry} = lambda *_: ({name!r}, {entry!r})\n" for entry in table)
        for arch in archs:
            own = says or (name, arch, self.toolchain)
            self.write(f"{module_name(name, arch)}.py", MODULE.format(*own, list(table), functions))

    def for_devices(self, **answers: object) -> None:
        """Make the package one for devices, beside a torch_npu."""
        self.write_package("bisheng", "2.13.0", toolkit="8.2.RC1")
        self.operator("add", "dav-2201", "dav-3510")
        torch_npu: Any = ModuleType("torch_npu")
        torch_npu.__version__ = "2.13.0"
        self.patch.setitem(sys.modules, "torch_npu", torch_npu)
        self.device(**(answers or {"get_soc_version": 224}))

    def device(self, **answers: object) -> None:
        """Give torch an npu that answers so."""
        self.torch.npu = type(
            "Npu", (), {name: staticmethod(lambda value=value: value) for name, value in answers.items()}
        )  # fmt: skip

    def record(self, change: Callable[[dict[str, Any]], object]) -> None:
        record = json.loads((self.folder / "_build.json").read_text())
        change(record)
        self.write("_build.json", json.dumps(record))

    def load(self) -> Any:
        importlib.invalidate_caches()
        return importlib.import_module(NAME)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    def forget() -> None:
        for name in [name for name in sys.modules if name.partition(".")[0] == NAME]:
            del sys.modules[name]

    forget()
    yield Place(tmp_path, monkeypatch)
    forget()


def importing(place: Place) -> str:
    with pytest.raises(ImportError) as raised:
        place.load()
    assert not any(name.startswith(f"{NAME}.add") for name in sys.modules)
    return str(raised.value)


def test_the_module_of_an_operator_and_arch():
    assert module_name("add_custom", "dav-2201") == "add_custom_dav_2201"


def test_the_paths_are_those_of_the_files():
    files = package_files("host", torch=torch_info(), key={}, archs=ARCHS)
    assert tuple(files) == package_paths()
    assert next(iter(files)) == "__init__.py"


def test_what_a_package_for_devices_was_built_with():
    def built(toolchain: str, toolkit: str) -> Any:
        files = package_files(toolchain, torch=torch_info("2.13.0"), key={"toolkit": toolkit}, archs=ARCHS)
        record = json.loads(files["_build.json"])
        return record["torch_npu"], record["cann"]

    assert built("bisheng", "8.2.RC1") == ("2.13.0", "8.2.RC1")
    assert built("bisheng", "unknown") == ("2.13.0", None)
    assert built("host", "8.2.RC1") == (None, None)


def test_importing_the_package_loads_no_operator(place):
    package = place.load()
    assert "built_operators.add_dav_2201" not in sys.modules
    assert package.modules() == ["add_dav_2201"]
    module = package.load("add", "DAV_2201")
    assert module.__name__ == "built_operators.add_dav_2201"
    assert package.load("add", "dav-2201") is module


def test_loading_one_operator_loads_no_other(place):
    place.operator("mul", "dav-2201")
    place.load().load("mul", "dav-2201")
    assert "built_operators.mul_dav_2201" in sys.modules
    assert "built_operators.add_dav_2201" not in sys.modules


def test_an_operator_named_like_another_with_a_part_of_an_arch(place):
    place.operator("add_dav", "dav-2201")
    place.operator("add_dav_2201", "dav-3510")
    package = place.load()
    assert package.modules() == ["add_dav_2201", "add_dav_2201_dav_3510", "add_dav_dav_2201"]
    for operator, arch in (("add", "dav-2201"), ("add_dav", "dav-2201"), ("add_dav_2201", "dav-3510")):
        assert package.load(operator, arch).__skrules_operator__ == operator
    with pytest.raises(RuntimeError, match=r"add_dav is not built for dav-3510; it is built for: dav-2201\Z"):
        package.load("add_dav", "dav-3510")


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (("add", "dav-3510"), "add is not built for dav-3510; it is built for: dav-2201"),
        (("add", ""), "load(): '' is no arch; archs: dav-2201, dav-3510"),
        (("sub", "dav-2201"), "built_operators has no operator 'sub'; it has: add"),
        (("../add", "dav-2201"), "built_operators has no operator '../add'; it has: add"),
        (("add",), "no NPU is seen here, so there is no arch to choose: set SK_ACLGRAPH_NPU_ARCH; packaged: dav-2201"),
    ],
)
def test_what_was_not_built_is_refused_with_what_was(place, wanted, message):
    package = place.load()
    with pytest.raises(RuntimeError) as raised:
        package.load(*wanted)
    assert str(raised.value) == message


def test_operators_that_come_later_are_found(place):
    package = place.load()
    place.operator("mul", "dav-3510")
    importlib.invalidate_caches()
    assert package.modules() == ["add_dav_2201", "mul_dav_3510"]
    assert package.load("mul", "dav-3510").__name__ == "built_operators.mul_dav_3510"


def test_functions_of_entries(place):
    place.operator("add", "dav-2201", entries=("add", "add_scalar"))
    place.patch.setenv("SK_ACLGRAPH_NPU_ARCH", "dav-2201")
    package = place.load()
    assert {"run_add", "run_add_scalar", "SELECTED_NPU_ARCH"} <= set(dir(package))
    assert package.run_add_scalar() == ("add", "add_scalar")
    assert not hasattr(package, "run_gone")
    assert not hasattr(package, "prepare_add")


def test_an_entry_of_two_operators_is_never_guessed(place):
    place.operator("mul", "dav-2201", entries=("add", "mul"))
    place.patch.setenv("SK_ACLGRAPH_NPU_ARCH", "dav-2201")
    with pytest.warns(UserWarning, match=r"torch\.ops\.ascendc_ops\.add is not defined: add and mul have an entry of that name"):
        package = place.load()
    assert not hasattr(place.torch.ops.ascendc_ops, "add")
    assert hasattr(place.torch.ops.ascendc_ops, "mul")
    with pytest.raises(RuntimeError, match=r"add and mul have an entry 'add' each: call load\(operator\)\.run_add"):
        package.run_add  # noqa: B018


def test_a_name_that_another_package_has_defined(place):
    place.torch.ops.ascendc_ops.add = object()
    with pytest.raises(ImportError, match=r"built_operators cannot define torch\.ops\.ascendc_ops\.add: another package"):
        place.load()
    assert not hasattr(place.torch.ops.ascendc_ops, "add_")


def test_launches_have_names_that_no_entry_has(place):
    names = place.load()._torch_library.launch_names({"add", "add_", "mul"})
    assert names == {"add": "add__", "add_": "add___", "mul": "mul_"}


def test_the_environment_decides_over_the_device_of_the_emulation(place):
    place.operator("add", "dav-2201", "dav-3510")
    place.device(get_device_name="skrules-host-dav-2201")
    place.patch.setenv("SK_ACLGRAPH_NPU_ARCH", " DAV_3510 ")
    assert place.load().SELECTED_NPU_ARCH == "dav-3510"


@pytest.mark.parametrize(
    ("answers", "arch"),
    [
        ({"get_soc_version": 224}, "dav-2201"),
        ({"get_soc_version": 260}, "dav-3510"),
        ({"get_soc_version": 224, "get_device_name": "anything"}, "dav-2201"),
        ({"get_soc_version": 99999, "get_device_name": "Ascend910_9391"}, "dav-2201"),
        ({"get_device_name": "ascend910b3"}, "dav-2201"),
        ({"get_device_name": "Ascend 910B4-1"}, "dav-2201"),
        ({"get_device_name": "skrules-host-dav-3510"}, "dav-3510"),
    ],
)
def test_the_device_tells_the_arch(place, answers, arch):
    place.operator("add", "dav-2201", "dav-3510")
    place.device(**answers)
    assert place.load().selected_arch() == arch


REFUSED = {
    "unknown arch": ({}, "dav-9", "SK_ACLGRAPH_NPU_ARCH: 'dav-9' is no arch; archs: dav-2201, dav-3510"),
    "chip for an arch": ({}, "Ascend910B3", "SK_ACLGRAPH_NPU_ARCH: 'Ascend910B3' is no arch; archs: dav-2201, dav-3510"),
    "not packaged": ({}, "dav-3510", "SK_ACLGRAPH_NPU_ARCH is dav-3510, which is not packaged; packaged: dav-2201"),
    "no device": ({}, "", "no NPU is seen here, so there is no arch to choose: set SK_ACLGRAPH_NPU_ARCH; packaged: dav-2201"),
    "unknown chip": (
        {"get_device_name": "Ascend310P3"},
        "",
        "the device, Ascend310P3, is of no known arch: set SK_ACLGRAPH_NPU_ARCH; packaged: dav-2201",
    ),
    "name that says too little": (
        {"get_device_name": "Ascend910B"},
        "",
        "the device, Ascend910B, is of no known arch: set SK_ACLGRAPH_NPU_ARCH; packaged: dav-2201",
    ),
    "unknown number": (
        {"get_soc_version": 1},
        "",
        "the device, SoC version 1, is of no known arch: set SK_ACLGRAPH_NPU_ARCH; packaged: dav-2201",
    ),
    "device of another arch": (
        {"get_soc_version": 260},
        "",
        "the device, SoC version 260, is dav-3510, which is not packaged; packaged: dav-2201",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_an_arch_is_never_guessed(place, case):
    answers, variable, message = REFUSED[case]
    if answers:
        place.device(**answers)
    place.patch.setenv("SK_ACLGRAPH_NPU_ARCH", variable)
    package = place.load()
    with pytest.raises(RuntimeError) as raised:
        package.run_add  # noqa: B018
    assert str(raised.value) == message


def test_a_package_for_devices(place):
    place.for_devices()
    package = place.load()
    assert package.selected_arch() == "dav-2201"
    assert package.load("add").__skrules_toolchain__ == "bisheng"


def test_an_environment_that_contradicts_the_device(place):
    place.for_devices()
    place.patch.setenv("SK_ACLGRAPH_NPU_ARCH", "dav-3510")
    with pytest.raises(RuntimeError) as raised:
        place.load().selected_arch()
    assert str(raised.value) == (
        "SK_ACLGRAPH_NPU_ARCH is dav-3510, but the device, SoC version 224, is dav-2201; packaged: dav-2201, dav-3510"
    )


def test_the_environment_helps_where_the_chip_is_unknown(place):
    place.for_devices(get_soc_version=777)
    place.patch.setenv("SK_ACLGRAPH_NPU_ARCH", "dav-3510")
    assert place.load().selected_arch() == "dav-3510"


def test_all_differences_are_told_at_once(place):
    place.for_devices()
    place.record(lambda record: record.update(python="cpython-399-x86_64-linux-gnu", cxx11_abi=False, torch_npu="2.12.0"))
    place.torch.__version__ = "2.14.1"
    assert importing(place) == (
        "built_operators was built for another environment:\n"
        f"  Python: built with cpython-399-x86_64-linux-gnu, here is {sysconfig.get_config_var('SOABI')}\n"
        "  torch: built with 2.13.0, here is 2.14.1\n"
        "  torch's C++ ABI: built with _GLIBCXX_USE_CXX11_ABI=0, here is _GLIBCXX_USE_CXX11_ABI=1\n"
        "  torch_npu: built with 2.12.0, here is 2.13.0"
    )


def test_a_torch_for_another_processor_is_the_same_torch(place):
    place.torch.__version__ = "2.13.0+cu130"
    assert place.load().modules()


@pytest.mark.parametrize("name", ["torch", "torch_npu"])
def test_without_torch_or_torch_npu(place, name):
    place.for_devices()
    place.patch.setitem(sys.modules, name, None)
    assert f"\n  {name}: built with 2.13.0" in (message := importing(place))
    assert "and it cannot be imported here: " in message


@pytest.mark.parametrize(
    ("installed", "told"), [("8.2.RC2", ""), ("8.5.0", "CANN: built with 8.2, here is 8.5"), ("", "")], ids=str
)
def test_the_cann_of_the_environment(place, tmp_path, installed, told):
    place.for_devices()
    place.patch.setenv("ASCEND_HOME_PATH", str(tmp_path / "cann"))
    if installed:
        (tmp_path / "cann").mkdir()
        (tmp_path / "cann" / "version.info").write_text(f"Version={installed}\n")
    if told:
        assert importing(place) == f"built_operators was built for another environment:\n  {told}"
    else:
        assert place.load().modules()


def test_emulated_modules_beside_a_real_npu(place):
    place.patch.setitem(sys.modules, "torch_npu", ModuleType("torch_npu"))
    assert importing(place) == (
        "built_operators was built by the host toolchain, which emulates the NPU on the CPU, and torch_npu is here: its results "
        "would pass for those of the device. Build it with TOOLCHAIN=bisheng"
    )


def test_a_real_npu_that_comes_after_the_package(place):
    package = place.load()
    place.patch.setitem(sys.modules, "torch_npu", ModuleType("torch_npu"))
    with pytest.raises(ImportError, match="built by the host toolchain"):
        package.load("add", "dav-2201")
    assert "built_operators.add_dav_2201" not in sys.modules


def test_emulated_modules_on_the_emulated_npu(place):
    place.patch.setitem(sys.modules, "torch_npu", ModuleType("torch_npu"))
    place.device(get_device_name="skrules-host-dav-2201", __skrules_emulated__=True)
    assert place.load().load("add").__skrules_arch__ == "dav-2201"


def test_modules_for_devices_on_the_emulated_npu(place):
    place.for_devices()
    place.patch.setitem(sys.modules, "skrules.hostnpu", ModuleType("skrules.hostnpu"))
    assert "built for an NPU, and the npu of this process is emulated by skrules.hostnpu" in importing(place)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"format": 2, "operator": "add", "entries": {}}', '{"format": 1, "operator": "mul", "entries": {}}']
)
def test_a_damaged_table(place, text):
    place.write("add.entries.json", text)
    assert importing(place) == "add.entries.json of built_operators is no table of its operator: build it again"


DAMAGED = {
    "no library": (b"text", "add_dav_2201.so of built_operators is no library: build it again"),
    "empty": (b"", "add_dav_2201.so of built_operators is no library: build it again"),
    "cut off": (
        b"\x7fELF" + bytes(36) + (4096).to_bytes(8, "little") + bytes(16),
        "add_dav_2201.so of built_operators is cut off: build it again",
    ),
    "another file": (b"\x7fELF" + bytes(60), "add_dav_2201 of built_operators cannot be loaded: "),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_a_damaged_module(place, case):
    data, message = DAMAGED[case]
    (place.folder / "add_dav_2201.py").unlink()
    (place.folder / "add_dav_2201.so").write_bytes(data)
    package = place.load()
    with pytest.raises(RuntimeError) as raised:
        package.load("add", "dav-2201")
    assert str(raised.value).startswith(message)


@pytest.mark.parametrize(
    ("says", "message"),
    [
        (("mul", "dav-2201", "host"), "says that its operator is mul, not add: build it again"),
        (("add", "dav-3510", "host"), "says that its arch is dav-3510, not dav-2201: build it again"),
        (("add", "dav-2201", "bisheng"), "says that its toolchain is bisheng, not host: build it again"),
    ],
)
def test_a_module_under_another_name(place, says, message):
    place.operator("add", "dav-2201", says=says)
    with pytest.raises(RuntimeError) as raised:
        place.load().load("add", "dav-2201")
    assert str(raised.value) == f"built_operators.add_dav_2201 {message}"


def test_a_module_and_a_table_that_differ(place):
    place.write("add.entries.json", json.dumps({"format": 1, "operator": "add", "entries": {"add": ADD, "more": ADD}}))
    with pytest.raises(RuntimeError, match=r"add_dav_2201 and the table of add differ in more: build it again"):
        place.load().load("add", "dav-2201")


def test_an_installed_package_knows_what_it_came_with(place):
    record = {"operators": {"add": {"archs": ["dav-2201", "dav-3510"]}}, "modules": {"add_dav_2201.so": "0" * 64}}
    place.write("built_with.json", json.dumps(record))
    package = place.load()
    with pytest.raises(RuntimeError, match=r"add_dav_3510 of built_operators is gone: install it again\Z"):
        package.load("add", "dav-3510")
    (place.folder / "add_dav_2201.py").unlink()
    (place.folder / "add_dav_2201.so").write_bytes(b"\x7fELF" + bytes(60))
    with pytest.raises(RuntimeError, match=r"add_dav_2201.so of built_operators is not the file that was packaged: install it"):
        package.load("add", "dav-2201")


@pytest.mark.parametrize("name", ["_build.json", "_archs.json"])
@pytest.mark.parametrize("text", [None, "", "{", "[]", "{}", "\x00"])
def test_a_record_that_is_gone_or_damaged(place, name, text):
    package = place.load() if name == "_archs.json" else None
    if text is None:
        (place.folder / name).unlink()
    else:
        place.write(name, text)
    with pytest.raises(ImportError, match=rf"{name} of built_operators is gone or damaged: build it again\Z"):
        (package or place.load()).load("add", "dav-3510")


@pytest.mark.parametrize("text", ['{"format": 1, "operator": "add", "entries": 5}', '{"format": 1, "operator": "add"}', "[]"])
def test_a_table_that_is_none(place, text):
    place.write("add.entries.json", text)
    with pytest.raises(ImportError, match=r"add\.entries\.json of built_operators is no table of its operator: build it again"):
        place.load()


@pytest.mark.parametrize("text", ["{", "[]", '{"operators": []}', '{"modules": 1}'])
def test_a_damaged_record_of_an_installed_package(place, text):
    place.write("built_with.json", text)
    with pytest.raises(RuntimeError, match=r"built_with.json of built_operators is damaged: install it again"):
        place.load().load("add", "dav-3510")


class Tensor:
    def __init__(self, dtype: str = "float16", *shape: int, device: str = "meta", requires_grad: bool = False) -> None:
        self.dtype, self.shape, self.device = f"torch.{dtype}", shape, device
        self.requires_grad = requires_grad

    def dim(self) -> int:
        return len(self.shape)


GOOD = Tensor("float16", 2, 2)


@pytest.mark.parametrize(
    ("given", "kind", "message"),
    [
        ((None, []), TypeError, "'x' (GM_ADDR) takes a torch.Tensor, got None (NoneType)"),
        ((Tensor("float32", 2, 2), []), TypeError, "'x' (GM_ADDR) must be float16, got float32"),
        ((Tensor("float16", 4), []), ValueError, "'x' (GM_ADDR) must have rank 2, got rank 1, shape [4]"),
        ((GOOD, [GOOD, Tensor("int8")]), TypeError, "'rest[1]' (GM_ADDR) must be float16, got int8"),
        (
            (GOOD, [Tensor("float16", 1, device="cpu")]),
            ValueError,
            "'rest[0]' (GM_ADDR) is on cpu, but 'x' (GM_ADDR) is on meta",
        ),
        (
            (Tensor("float16", 2, 2, requires_grad=True), []),
            RuntimeError,
            "'x' (GM_ADDR) requires grad, and there is no backward; call it under torch.no_grad()",
        ),
    ],
)
def test_a_traced_call_is_checked(place, given, kind, message):
    place.load()
    trace = getattr(place.torch.ops.ascendc_ops, "add_:Meta")
    assert trace(GOOD, [GOOD, Tensor("float16", 1)]) is None
    with pytest.raises(kind) as raised:
        trace(*given)
    assert str(raised.value) == f"add: run_add(): {message}"
