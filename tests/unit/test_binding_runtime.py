"""The binding runtime as a build step: flags, key, and that it is compiled once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from skrules.binding.detect import TorchInfo, TorchNpuInfo
from skrules.binding.runtime import runtime_flags, runtime_key, runtime_request, runtime_sources
from skrules.engine.action import NO_LAUNCHER, Action, Launcher
from skrules.errors import BuildError, ToolchainError
from skrules.toolchain.base import Commands, CompileCpp, CompileKernel, Link, Memory

TORCH = TorchInfo(
    python=Path("/usr/bin/python3"),
    python_version="3.11",
    python_abi="cpython-311-x86_64-linux-gnu",
    python_include=Path("/py/include"),
    version="2.13.0+cpu",
    root=Path("/site/torch"),
    standard="c++20",
    cxx11_abi=True,
)
NPU = TorchNpuInfo(version="2.13.0.post1", root=Path("/site/torch_npu"))


@dataclass
class Toolchain:
    """Compiles by writing the defines to the output, or fails."""

    name: str = "host"
    summary: str = "host"
    script: str = 'echo "$1" > "$0"; echo run >> "$2"'
    log: str = ""
    launcher: Launcher = NO_LAUNCHER
    memory: Memory = Memory(kernel=0, link=0)  # noqa: RUF009 - a frozen record
    requests: list[CompileCpp] = field(default_factory=list)

    def key(self) -> Mapping[str, str]:
        return {"compiler": "toy 1"}

    def environment(self) -> Mapping[str, str]:
        return {"PATH": "/usr/bin:/bin"}

    def compile_kernel(self, request: CompileKernel) -> Commands:
        raise NotImplementedError

    def compile_cpp(self, request: CompileCpp) -> Commands:
        self.requests.append(request)
        return (("/bin/sh", "-c", self.script, request.output, " ".join(request.defines), self.log),)

    def link(self, request: Link) -> Commands:
        raise NotImplementedError

    def support(self, archs: object, build_dir: str) -> tuple[Action, ...]:  # noqa: ARG002
        return ()

    def module_inputs(self, build_dir: str) -> tuple[str, ...]:  # noqa: ARG002
        return ()


def test_flags_of_the_host() -> None:
    flags = runtime_flags(replace(TORCH, npu=NPU), "host")
    assert flags.defines == ("_GLIBCXX_USE_CXX11_ABI=1",)
    assert flags.options == ("-std=c++20", "-O2", "-fvisibility=hidden")
    assert flags.include_dirs[1:] == ("/site/torch/include", "/site/torch/include/torch/csrc/api/include", "/py/include")
    assert (flags.library_dirs, flags.libraries) == (("/site/torch/lib",), ("torch_python", "torch", "torch_cpu", "c10"))


def test_flags_of_an_npu() -> None:
    flags = runtime_flags(replace(TORCH, npu=NPU), "bisheng")
    assert flags.defines == ("_GLIBCXX_USE_CXX11_ABI=1", "SKRULES_TORCH_NPU")
    assert "/site/torch_npu/include/third_party/acl/inc" in flags.include_dirs
    assert flags.library_dirs[1] == "/site/torch_npu/lib"
    assert flags.libraries[-2:] == ("torch_npu", "ascendcl")


def test_an_npu_needs_the_torch_npu_of_its_torch() -> None:
    with pytest.raises(ToolchainError, match=r"torch 2\.13\.0\+cpu is there, but no torch_npu") as caught:
        runtime_flags(TORCH, "bisheng")
    assert "pip install torch-npu==2.13.0" in caught.value.hint
    with pytest.raises(ToolchainError, match=r"torch_npu 2\.12\.0 is not made for torch 2\.13\.0\+cpu"):
        runtime_flags(replace(TORCH, npu=replace(NPU, version="2.12.0")), "bisheng")


def test_the_key_holds_no_path_and_everything_else() -> None:
    key = runtime_key(TORCH, "host", {"compiler": "g++ 12"})
    moved = replace(TORCH, root=Path("/elsewhere/torch"), python_include=Path("/else"), python=Path("/p"))
    assert runtime_key(moved, "host", {"compiler": "g++ 12"}) == key
    others = [
        runtime_key(TORCH, "host", {"compiler": "g++ 13"}),
        runtime_key(replace(TORCH, npu=NPU), "bisheng", {"compiler": "g++ 12"}),
        *(runtime_key(replace(TORCH, **change), "host", {"compiler": "g++ 12"}) for change in (  # type: ignore[arg-type]
            {"version": "2.12.0"}, {"cxx11_abi": False}, {"standard": "c++17"}, {"python_abi": "cpython-312"})),
    ]  # fmt: skip
    assert key not in others and len({str(other) for other in others}) == len(others)


def test_device_headers_do_not_matter_to_plain_cpp() -> None:
    keys = [runtime_key(TORCH, "host", {"compiler": "g++ 12", "toolkit headers": digest}) for digest in ("a", "b")]
    assert keys[0] == keys[1]


def test_sources_are_all_that_the_runtime_includes_of_ours() -> None:
    sources = runtime_sources()
    names = {path.name for path in sources}
    assert sources[0].name == "runtime.cpp"
    for path in sources:
        for line in path.read_text().splitlines():
            if line.startswith('#include "'):
                assert line.split('"')[1].rpartition("/")[2] in names


def test_the_object_is_compiled_once_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKRULES_CACHE", str(tmp_path / "cache"))
    log = tmp_path / "log"
    toolchain = Toolchain(log=str(log))
    for workspace in ("one", "two"):
        request = runtime_request(TORCH, toolchain, "build/host")
        assert request.output == "build/host/lib/skrules_binding.o"
        assert (request.action.outputs, request.action.inputs) == ((request.output,), ())
        assert request.action.run is not None
        (tmp_path / workspace).mkdir()
        request.action.run(tmp_path / workspace)
        assert (tmp_path / workspace / request.output).read_text() == "_GLIBCXX_USE_CXX11_ABI=1\n"
    assert log.read_text() == "run\n"
    assert toolchain.requests[0].source.endswith("templates/binding/runtime.cpp")
    assert runtime_request(replace(TORCH, version="2.12.0"), toolchain, "b").action.digest() != request.action.digest()


def test_a_launcher_stands_in_front_of_the_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKRULES_CACHE", str(tmp_path / "cache"))
    words = ("/bin/sh", "-c", 'echo "$CCACHE_DIR" >> "$PLACE"; exec "$@"', "launcher")
    launcher = Launcher(words=words, environment={"CCACHE_DIR": "/c", "PLACE": str(tmp_path / "place")})
    plain = runtime_request(TORCH, Toolchain(log=str(tmp_path / "log")), "build").action
    launched = runtime_request(TORCH, Toolchain(log=str(tmp_path / "log"), launcher=launcher), "build").action
    assert plain.digest() == launched.digest()
    assert launched.run is not None
    launched.run(tmp_path)
    assert ((tmp_path / "place").read_text(), (tmp_path / "log").read_text()) == ("/c\n", "run\n")


def test_a_cache_that_cannot_be_written_costs_time_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cache").write_text("a file, no folder")
    monkeypatch.setenv("SKRULES_CACHE", str(tmp_path / "cache"))
    request = runtime_request(TORCH, Toolchain(log=str(tmp_path / "log")), "build")
    assert request.action.run is not None
    request.action.run(tmp_path)
    assert (tmp_path / request.output).exists()


def test_a_compiler_that_fails_is_told_with_its_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKRULES_CACHE", str(tmp_path / "cache"))
    request = runtime_request(TORCH, Toolchain(script="echo 'no such header' >&2; exit 1"), "build")
    assert request.action.run is not None
    with pytest.raises(BuildError, match=r"the binding runtime does not compile\n  no such header"):
        request.action.run(tmp_path)
    assert not (tmp_path / request.output).exists()
