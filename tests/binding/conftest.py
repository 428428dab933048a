"""Build modules the way a build does, with kernels and a device that are a few lines of plain C++."""

from __future__ import annotations

import ctypes
import importlib.util
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from skrules.arch_file import load_archs
from skrules.binding import templates
from skrules.binding.descriptor import render_descriptor
from skrules.binding.detect import TorchInfo, find_torch
from skrules.binding.launcher import render_launchers
from skrules.binding.package import package_files, table_name
from skrules.binding.runtime import RuntimeFlags, runtime_flags, runtime_key, runtime_sources
from skrules.binding.schema import render_entries
from skrules.contract.entry import Entry, EntryParameter
from skrules.contract.model import EntryContract, ParameterKind, Role, RuntimeWrapper
from skrules.errors import Location
from skrules.source.model import CoreType, Kernel, KernelType, Span

DEVICE = Path(__file__).parent / "device"
NOWHERE = Span(start=0, end=0)
CORES = {
    "cube": KernelType(core=CoreType.CUBE),
    "mixed": KernelType(core=CoreType.MIX, aic="1", aiv="2"),
    "bare": KernelType(core=CoreType.BARE),
    "vectors": KernelType(core=CoreType.MIX, aic="0", aiv="2"),
    "wide": KernelType(core=CoreType.MIX, aic="0", aiv="49"),
}

L = ParameterKind.TENSOR_LIST
T, S, H = ParameterKind.TENSOR, ParameterKind.SCALAR, ParameterKind.HOST_STRUCT
IN, OUT = (Role.INPUT,), (Role.OUTPUT,)


def parameter(name: str, c_type: str, kind: ParameterKind = T, roles: tuple[Role, ...] = (), **more: object) -> EntryParameter:
    return EntryParameter(name=name, c_type=c_type, kind=kind, roles=roles, **more)  # type: ignore[arg-type]


def entry(
    name: str,
    *parameters: EntryParameter,
    target: str = "",
    spaces: tuple[str, ...] = (),
    returns: str = "",
    blocks: int | None = None,
    wrapper: RuntimeWrapper | None = None,
    conditions: tuple[str, ...] = (),
) -> Entry:
    kernel = Kernel(
        name=name, namespaces=spaces, qualifiers=(), type=CORES.get(name, KernelType(core=CoreType.VECTOR)), parameters=(),
        template_parameters=None, span=NOWHERE, name_span=NOWHERE, parameter_span=NOWHERE, body=NOWHERE, line=1, column=1,
        conditions=conditions,
    )  # fmt: skip
    return Entry(
        name=name,
        kernel=kernel,
        contract=EntryContract(name=name, block_dim=blocks, runtime_wrapper=wrapper, at=Location(file="contract.yaml")),
        parameters=parameters,
        bind_target=target or kernel.qualified_name,
        return_parameter=returns,
    )


def add_entry(name: str = "add", element: str = "float") -> Entry:
    pointer = f"__gm__ {element} *"
    return entry(
        name,
        parameter("x", pointer, T, IN),
        parameter("y", pointer, T, IN),
        parameter("z", pointer, T, OUT),
        parameter("n", "uint32_t", S),
        target=f"add<{element}>",
        returns="z",
        blocks=8,
    )


def wrapper(name: str, descriptor_bytes: int = 0) -> RuntimeWrapper:
    prepared = {"prepare_entry": f"{name}_prepare", "descriptor_bytes": descriptor_bytes} if descriptor_bytes else {}
    return RuntimeWrapper(source="wrapper.cpp", entry=f"{name}_run", **prepared)  # type: ignore[arg-type]


SCALARS = {
    "a": "int8_t", "b": "uint8_t", "c": "int16_t", "d": "uint16_t",
    "e": "int32_t", "f": "uint32_t", "g": "int64_t", "h": "uint64_t",
    "i": "float", "j": "double", "k": "half", "l": "bfloat16_t", "m": "bool", "n": "Mode",
}  # fmt: skip

ENTRIES = (
    add_entry(),
    entry("scalars", parameter("out", "GM_ADDR", T, OUT), *(parameter(n, t, S) for n, t in SCALARS.items()), returns="out"),
    entry("tiled", parameter("out", "GM_ADDR", T, OUT), parameter("tiling", "const Tiling", H), spaces=("shapes",)),
    entry(
        "large",
        parameter("out", "GM_ADDR", T, OUT),
        parameter("before", "uint8_t", S),
        parameter("block", "Large", H),
        spaces=("shapes",),
    ),
    entry("maybe", parameter("x", "GM_ADDR", T, IN, nullable=True), parameter("out", "GM_ADDR", T, OUT), returns="x"),
    entry("strict", parameter("x", "GM_ADDR", T, IN, dtype="float16", rank=2), parameter("y", "GM_ADDR", T, OUT)),
    entry("broken", parameter("code", "uint32_t", S)),
    entry(
        "chain",
        parameter("xs", "GM_ADDR", L, IN, dtype="float32", rank=1),
        parameter("out", "__gm__ float *", T, OUT),
        parameter("scratch", "GM_ADDR", T, (Role.WORKSPACE,)),
        parameter("scale", "float", S),
        returns="out",
        blocks=3,
        wrapper=wrapper("chain", 64),
    ),
    entry("spread", parameter("x", "GM_ADDR", T, IN), parameter("outs", "GM_ADDR", L, OUT), blocks=2, wrapper=wrapper("spread")),
    entry("told", parameter("x", "GM_ADDR", T, IN, nullable=True), parameter("out", "GM_ADDR", T, OUT), wrapper=wrapper("told")),
    entry("bare_list", parameter("xs", "GM_ADDR", L, IN), wrapper=wrapper("bare_list", 32), blocks=1),
    entry("gone", parameter("x", "GM_ADDR", T, IN), parameter("big", "Nowhere", H), conditions=("#ifdef NEVER",)),
    entry("nothing"),
    entry("cube"),
    entry("mixed"),
    entry("bare"),
    entry("vectors"),
    entry("wide"),
)


@dataclass(frozen=True, slots=True)
class Stub:
    """The library that stands for the host runtime; `ask` calls one of its functions without arguments."""

    library: ctypes.CDLL

    def ask(self, name: str) -> int:
        return int(getattr(self.library, name)())


@dataclass(frozen=True, slots=True)
class Workshop:
    """Compiles modules; `build` returns the path of one."""

    folder: Path
    torch: TorchInfo
    flags: RuntimeFlags
    runtime: Path
    stub: Path

    def build(
        self,
        operator: str,
        entries: Sequence[Entry],
        *,
        kernels: str | None = None,
        arch: str = "dav-2201",
        edit: Callable[[str], str] = str,
    ) -> Path:
        """`edit` changes the text of the descriptor, for tables that no descriptor of ours has."""
        module = f"{operator}_{arch.replace('-', '_')}"
        folder = self.folder / module
        folder.mkdir(exist_ok=True)
        source = folder / "kernels.cpp"
        text = (DEVICE / "kernels.asc").read_text() if kernels is None else kernels
        source.write_text(text + playable(render_launchers(entries)))
        descriptor = folder / "descriptor.cpp"
        descriptor.write_text(edit(render_descriptor(operator, entries, {one.name: one.kernel.type for one in entries})))
        names = {"SKRULES_MODULE": module, "SKRULES_ARCH": arch, "SKRULES_TOOLCHAIN": "host"}
        output = folder / f"{module}.so"
        run(
            *("g++", "-std=c++17", "-shared", "-fPIC", f"-I{templates.directory()}", f"-I{DEVICE}"),
            # Kernels without an entry, and a struct with an alignment of its own, are meant.
            *("-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-Wno-psabi"),
            *(f"-D{name}={value}" for name, value in names.items()),
            *(source, descriptor, self.runtime, self.stub, "-o", output, f"-Wl,-rpath,{self.stub.parent}"),
            *(f"-L{path}" for path in self.flags.library_dirs),
            *(f"-l{library}" for library in self.flags.libraries),
        )
        return output

    def package(self, folder: Path, operator: str, entries: Sequence[Entry], **how: Any) -> None:
        """Build an operator and write the package that a build makes of it to `folder`."""
        module = self.build(operator, entries, **how)
        folder.mkdir()
        archs = load_archs()
        for path, text in package_files("host", torch=self.torch, key={}, archs=archs).items():
            (folder / path).write_text(text)
        (folder / table_name(operator)).write_text(render_entries(operator, entries))
        shutil.copy(module, folder)


def playable(launchers: str) -> str:
    """Replace launches, which are no C++, by calls."""
    return re.sub(r"(?m)^( +)(\S.*)<<<blocks, nullptr, stream>>>\(", r"\1stub_launch(blocks, stream);\n\1\2(", launchers)


def run(*words: object) -> None:
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def torch_info() -> TorchInfo:
    found = find_torch()
    if found is None:
        pytest.skip("no torch in this interpreter")
    if shutil.which("g++") is None:
        pytest.skip("no g++ to compile modules with")
    return found


@pytest.fixture(scope="session")
def workshop(torch_info: TorchInfo, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Workshop:
    flags = runtime_flags(torch_info, "host")
    folder = tmp_path_factory.mktemp("binding")
    # Half a minute of compiling, kept from one run of the tests to the next.
    key = runtime_key(torch_info, "host", {})["runtime"][:16]
    runtime = request.config.cache.mkdir("binding-runtime") / f"{torch_info.version}-{torch_info.python_abi}-{key}.o"
    if not runtime.exists():
        made = folder / "runtime.o"
        # torch's headers are included as system headers: their warnings are not ours.
        includes = (f"-I{flags.include_dirs[0]}", *(f"-isystem{path}" for path in flags.include_dirs[1:]))
        run(
            *("g++", "-c", "-fPIC", "-Wall", "-Wextra", "-Werror", *flags.options, *includes),
            *(f"-D{define}" for define in flags.defines),
            *(runtime_sources()[0], "-o", made),
        )
        shutil.move(made, runtime)
    stub = folder / "libskrules_stub.so"
    run("g++", "-std=c++17", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", DEVICE / "stub.cpp", "-o", stub)
    return Workshop(folder=folder, torch=torch_info, flags=flags, runtime=runtime, stub=stub)


@pytest.fixture
def on_npu(npu: ModuleType) -> Iterator[None]:  # noqa: ARG001 - the device is there
    """New tensors are at `npu:0`."""
    import torch

    with torch.device("npu"):
        yield


@pytest.fixture(scope="session")
def module(workshop: Workshop) -> ModuleType:
    """The module of the operator "sample" with all of ENTRIES."""
    return load(workshop.build("sample", ENTRIES))


@pytest.fixture(scope="session")
def stub(workshop: Workshop) -> Stub:
    return Stub(ctypes.CDLL(str(workshop.stub)))


@pytest.fixture
def refused(stub: Stub) -> Callable[..., str]:
    """Call a function that must raise `kind` without a launch, and return the message."""

    def check(kind: type[Exception], function: Callable[..., object], *args: object, **named: object) -> str:
        before = stub.ask("stub_launches")
        with pytest.raises(kind) as caught:
            function(*args, **named)
        assert type(caught.value) is kind
        assert stub.ask("stub_launches") == before
        return str(caught.value)

    return check


def zeros_of_scalars() -> Mapping[str, object]:
    return {**dict.fromkeys(SCALARS, 0), "m": False}
