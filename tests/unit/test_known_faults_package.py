"""Faults of a package that is put together by names of files: what is lost, invented, or taken for something else."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from skrules.cli import main

HEAD = '#include "kernel_operator.h"\n'
WRAPPED = """entries:
  joined:
    inputs: [xs]
    outputs: [z]
    parameters: {xs: tensor_list}
    runtime_wrapper:
      source: host/wrap.asc
      entry: launch_joined
      tensor_list_descriptor_strategy: prepared_workspace_tail
      prepare_entry: prepare_joined
      descriptor_bytes: 64
      descriptor_order: [xs]
"""
WRAPPER = "namespace ascendc_ops {\nint launch_joined();\nint prepare_joined();\n}\n"
Aggregate = Callable[..., tuple[Path, dict[str, Any]]]


def kernel(name: str, parameters: str = "GM_ADDR x", core: str = "__vector__") -> str:
    return f"{HEAD}__global__ {core} void {name}({parameters}) {{ run(); }}\n"


@pytest.fixture
def aggregate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Aggregate:
    """Write files, adapt each of the assets, and return the tree and the manifest of the package of all."""
    monkeypatch.chdir(tmp_path)

    def made(files: Mapping[str, str], *assets: str, contract: str = "") -> tuple[Path, dict[str, Any]]:
        for name, text in {**files, "c.yaml": contract}.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        words: list[str] = []
        for number, asset in enumerate(assets):
            folder = f"out{number}"
            options = ["--io-contract", "c.yaml"] if contract else []
            assert main(["adapt-sk-from-global", asset, "--output-dir", folder, *options]) == 0
            words += ["--adapted-output-dir", folder]
        assert main(["aggregate-sk-adapted", *words, "--output-dir", "all"]) == 0
        return tmp_path / "all/operator-sk-adapted", json.loads((tmp_path / "all/operator-sk-adapted.json").read_bytes())

    return made


def sources(tree: Path) -> list[str]:
    """Return the kernel sources of a tree; all files that its setup.py names are there."""
    named = set(re.findall(r'"(csrc/[^"]+\.(?:asc|cpp))"', (tree / "setup.py").read_text()))
    assert named and all((tree / name).is_file() for name in named)
    return sorted(path.name for path in (tree / "csrc").rglob("*.asc") if not path.name.startswith("pybind11"))


def names(manifest: Mapping[str, Any]) -> list[str]:
    return [entry["public_entry_name"] for file in manifest["per_file"] for entry in file["entries"]]


def test_a_wrapper_that_looks_like_a_kernel_file(aggregate: Aggregate) -> None:
    declared = "__global__ __vector__ void joined(GM_ADDR xs, GM_ADDR z);\n"
    files = {"a/k.asc": kernel("joined", "GM_ADDR xs, GM_ADDR z"), "a/host/wrap.asc": declared + WRAPPER}
    tree, manifest = aggregate(files, "a", contract=WRAPPED)
    assert (sources(tree), names(manifest)) == (["joined.asc"], ["joined"])
    assert WRAPPER in (tree / "csrc/joined.asc").read_text()


def test_a_header_beside_the_asset(aggregate: Aggregate) -> None:
    source = kernel("k").replace(HEAD, f'{HEAD}#include "../common/c.h"\n')
    tree, manifest = aggregate({"ops/a/k.asc": source, "ops/common/c.h": "// c\n"}, "ops/a")
    (folder,) = [name for name in manifest["per_file"][0]["entries"][0]["quote_dirs"] if name.endswith("/a")]
    # As the compiler finds it: from a folder that setup.py names.
    assert (tree / folder / "../common/c.h").read_text() == "// c\n"
    assert f'"{folder}"' in (tree / "setup.py").read_text()


def test_a_source_of_another_name_than_its_kernel(aggregate: Aggregate) -> None:
    tree, manifest = aggregate({"a/csrc/foo.asc": kernel("bar")}, "a")
    assert (sources(tree), names(manifest)) == (["bar.asc"], ["bar"])
    assert not list(tree.rglob("*foo*"))


def test_a_name_that_ends_like_an_arch(aggregate: Aggregate) -> None:
    tree, _ = aggregate({"a/k.asc": kernel("add"), "b/k.asc": kernel("add_dav", core="__cube__")}, "a", "b")
    assert sources(tree) == ["add.asc", "add_dav.asc"]
    package = tree / "op_extension"
    for name in ("add_dav_2201", "add_dav_dav_2201"):  # add for dav-2201, add_dav for dav-2201
        (package / f"{name}{importlib.machinery.EXTENSION_SUFFIXES[0]}").touch()
    spec = importlib.util.spec_from_file_location("selector_of_known_faults", package / "_arch_selector.py")
    assert spec and spec.loader
    selector = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(selector)
    assert selector.packaged() == {"dav-2201": ["add", "add_dav"]}
    assert selector.archs_of("add") == selector.archs_of("add_dav") == ["dav-2201"]
