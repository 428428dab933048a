"""The operators of a package in a real torch: the calling form, what compilers are told, and calls that no module serves."""

from __future__ import annotations

import importlib
import sys
import types

import pytest

from skrules.aclgraph.entry import PackageEntry, PackageParameter
from skrules.aclgraph.package import IMPORT_PACKAGE, Package, render_package
from skrules.arch_file import load_archs
from skrules.contract.model import ParameterKind, Role

torch = pytest.importorskip("torch")


def tensor(name, *roles, nullable=False):
    return PackageParameter(name=name, c_type="GM_ADDR", kind=ParameterKind.TENSOR, roles=roles, nullable=nullable)


def scalar(name, dtype="int32"):
    return PackageParameter(name=name, c_type="int32_t", kind=ParameterKind.SCALAR, dtype=dtype)


ENTRIES = (
    PackageEntry(
        name="test_add",
        csrc_file="csrc/test_add.asc",
        parameters=(tensor("x", Role.INPUT), tensor("in", Role.INPUT, nullable=True), tensor("z", Role.OUTPUT), scalar("n")),
        returned="z",
    ),
    PackageEntry(name="test_tick", csrc_file="csrc/test_tick.asc", parameters=(scalar("n"),), returned=""),
    PackageEntry(name="test_gone", csrc_file="csrc/test_gone.asc", parameters=(tensor("x", Role.OUTPUT),), returned="x"),
)


class Native:
    """Stands for a native module."""

    ticks: tuple[int, ...] = ()

    def run_test_add(self, x, other, z, n):
        z.copy_(x * n if other is None else x * n + other)

    def run_test_tick(self, n):
        Native.ticks += (n,)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """The `_torch_library` of the package, served by `Native` for CPU tensors too."""
    folder = tmp_path_factory.mktemp("package")
    package = Package(name="p", version="1", entries=ENTRIES)
    for path, data in render_package(package, load_archs(), "m").items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    # Not by importing the package: that would look for the NPU.
    shell = types.ModuleType("op_extension_of_test")
    shell.__path__ = [str(folder / IMPORT_PACKAGE)]
    sys.modules[shell.__name__] = shell
    module = importlib.import_module(f"{shell.__name__}._torch_library")
    module.set_custom_ops_libs({"test_add": Native(), "test_tick": Native()}, "dav-2201")
    module.register_torch_ops()
    module.register_torch_ops()
    for entry in ("test_add", "test_gone"):
        module._state["library"].impl(f"{entry}.launch", module._launched(entry), "CPU")
    return module


@pytest.fixture
def add(library):
    del library
    return torch.ops.ascendc_ops.test_add


def test_a_call_returns_the_tensor_it_wrote(add):
    x, z = torch.arange(4.0), torch.zeros(4)
    assert add(x, x, z, 2).data_ptr() == z.data_ptr()
    assert z.tolist() == [0.0, 3.0, 6.0, 9.0]
    assert add(x, None, z=z, n=3).tolist() == [0.0, 3.0, 6.0, 9.0]


def test_shapes_are_known_without_a_device(add):
    z = torch.empty(2, 3, device="meta")
    assert add(z, None, z, 1).shape == (2, 3)


def test_a_traced_graph_keeps_what_is_written(add):
    from functorch.compile import make_boxed_func
    from torch._dynamo.backends.common import aot_autograd

    graphs = []

    def keep(module, _inputs):
        graphs.append(module.code)
        return make_boxed_func(module.forward)

    @torch.compile(backend=aot_autograd(fw_compiler=keep))
    def use(x, z):
        before = z + 1
        result = add(x, None, z, 2)
        return before, result * 10, z + 100

    x, z = torch.arange(3.0), torch.zeros(3)
    before, result, after = use(x, z)
    assert before.tolist() == [1.0, 1.0, 1.0]
    assert result.tolist() == [0.0, 20.0, 40.0]
    assert after.tolist() == [100.0, 102.0, 104.0]
    assert z.tolist() == [0.0, 2.0, 4.0]
    assert "test_add.launch" in graphs[0]


def test_the_launch_passes_the_checks_of_torch_for_its_schema(add):
    z = torch.zeros(3)
    torch.library.opcheck(add.launch, (torch.arange(3.0), None, z, 2), test_utils=("test_schema", "test_faketensor"))


def test_a_call_without_tensors(library):
    del library
    assert torch.ops.ascendc_ops.test_tick(7) is None
    assert Native.ticks == (7,)


def test_an_entry_that_no_module_serves(library):
    del library
    with pytest.raises(RuntimeError, match=r"test_gone is not packaged for dav-2201; it is for: <unspecified>"):
        torch.ops.ascendc_ops.test_gone(torch.zeros(1))
