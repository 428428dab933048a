"""All generated and fixed host code compiles against the real torch and torch_npu."""

from __future__ import annotations

from pathlib import Path

import pytest

from skrules import resources
from skrules.aclgraph.bound import bound_entry
from skrules.binding import templates
from skrules.binding.descriptor import render_descriptor
from skrules.binding.runtime import runtime_sources
from skrules.cli import main
from skrules.commands.aggregate_sk_adapted import read_adapted

ROOT = Path(__file__).parents[2]
OPERATORS = sorted(path.parent.name for path in (ROOT / "ops").glob("*/contract.yaml"))


@pytest.fixture(scope="session")
def adapted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """What adapt-sk-from-global makes of every operator of the workspace."""
    made = {}
    for name in OPERATORS:
        asset, output = ROOT / "ops" / name, tmp_path_factory.mktemp(name)
        words = [str(asset), "--output-dir", str(output), "--io-contract", str(asset / "contract.yaml")]
        assert main(["adapt-sk-from-global", *words]) == 0
        made[name] = output
    return made


@pytest.fixture(scope="session")
def precompiled(real, tmp_path_factory):
    """What the sources of a package include first, compiled once: half a minute for each of them otherwise."""
    header = tmp_path_factory.mktemp("precompiled") / "package.h"
    header.write_text((resources.templates() / "aclgraph" / "ascendc_ops.h").read_text())
    real.precompile(header)
    return header


def test_the_binding_runtime(real):
    real.accepts(runtime_sources()[0])


@pytest.mark.parametrize("name", OPERATORS)
def test_kernels_and_host_part_of_a_package(name, adapted, accepts_ascendc, precompiled):
    csrc = adapted[name] / "operator-sk-adapted" / "csrc"
    sources = [path for path in sorted(csrc.glob("*.asc")) if not path.name.startswith("pybind11")]
    assert sources
    folders = sorted(path for path in csrc.rglob("*") if path.is_dir())
    quoted = [word for folder in folders for word in ("-iquote", str(folder))]
    for source in sources:
        accepts_ascendc(source, *quoted, "-include", str(precompiled))


@pytest.mark.parametrize("name", OPERATORS)
def test_pybind11_sources_of_a_package(name, adapted, accepts_ascendc, precompiled):
    sources = sorted((adapted[name] / "operator-sk-adapted" / "csrc").glob("pybind11*.asc"))
    assert sources
    for source in sources:
        accepts_ascendc(source, "-include", str(precompiled))


@pytest.mark.parametrize("name", OPERATORS)
def test_a_descriptor_as_a_module(name, adapted, real, tmp_path):
    entries = [bound_entry(each, name) for file in read_adapted(adapted[name])["per_file"] for each in file["entries"]]
    source = tmp_path / "descriptor.cpp"
    source.write_text(render_descriptor(name, entries, {entry.name: entry.type for entry in entries}))
    module = (f"-DSKRULES_MODULE={name}_dav_2201", "-DSKRULES_ARCH=dav-2201", "-DSKRULES_TOOLCHAIN=bisheng")
    real.accepts(source, *module, f"-I{templates.directory()}")
