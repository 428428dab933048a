"""`generate-standalone-compare`: what it writes, what it refuses, and that nothing is half-written."""

from __future__ import annotations

import json

import pytest

from skrules.aclgraph.host import with_host_part, without_host_part
from skrules.cli import main

KERNEL = """#include "kernel_operator.h"
__global__ __vector__ void scale(GM_ADDR x, GM_ADDR y, uint32_t n) {
    (void)x;
}
"""
CONTRACT = """schema_version: 1
entries:
  scale: {inputs: [x], outputs: [y], pybind_return_tensor: y, launch: {block_dim: 4}}
"""
FIXTURE = {
    "block_dim": 2,
    "parameters": [
        {"name": "x", "kind": "device_buffer", "bytes": 64, "fill": 258},
        {"name": "y", "bytes": 64, "compare": True},
        {"name": "n", "kind": "scalar", "value": 64},
    ],
}


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scale.asc").write_text(KERNEL)
    (tmp_path / "contract.yaml").write_text(CONTRACT)
    assert main(["adapt-sk-from-global", "scale.asc", "--output-dir", "adapted", "--io-contract", "contract.yaml"]) == 0
    return tmp_path


def generate(*words):
    return main(["generate-standalone-compare", "adapted", "--output-dir", "out", *words])


def document(place):
    return json.loads((place / "out/operator-sk-standalone-verify.json").read_text())


def fixture(place, **changes):
    (place / "fixtures/scale").mkdir(parents=True)
    (place / "fixtures/scale/operator-sk-runtime-fixture.json").write_text(json.dumps({**FIXTURE, **changes}))


def test_the_project_has_the_parts_of_a_build(place, capsys):
    fixture(place)
    assert generate("--npu-arch", "dav-2201", "--runtime-fixture-dir", "fixtures") == 0
    tree = place / "out/operator-sk-standalone-verify"
    kernels = (tree / "csrc/scale/scale.asc").read_text()
    assert kernels.startswith('#include "kernel_operator.h"\n')
    assert "SK_BIND(scale, 4," in kernels
    assert "skrules_launch_scale" in kernels
    for absent in ("ascendc_ops", "pybind11", "at::Tensor"):
        assert absent not in kernels
    assert '{"scale", "scale", SKRULES_VECTOR, 0, 1, 4, 3,' in (tree / "csrc/scale/descriptor.cpp").read_text()
    assert (tree / "fixtures/scale/plan.txt").read_text().splitlines() == [
        "skrules-plan 2",
        "case scale scale 2",
        "tensor x 64 in inputs/scale.x.bin 3 64",
        "tensor y 64 out - 3 64",
        "scalar n 40000000",
        "end",
    ]
    assert (tree / "fixtures/scale/inputs/scale.x.bin").read_bytes() == b"\x02" * 64
    assert "find_package(ASC REQUIRED)" in (tree / "CMakeLists.txt").read_text()
    made = document(place)
    assert (made["status"], made["npu_arch"], made["entries"]) == ("generated", "dav-2201", ["scale"])
    assert made["entry_targets"] == {"scale": "runtime_compare"}
    assert made["runtime_fixtures"]["scale"]["device_runnable"] is True
    assert capsys.readouterr().err == ""


def test_equal_inputs_give_equal_projects(place):
    files = []
    for name in ("one", "two"):
        assert main(["generate-standalone-compare", "adapted", "--output-dir", name, "--npu-arch", "dav-2201"]) == 0
        root = place / name / "operator-sk-standalone-verify"
        files.append({path.relative_to(root): path.read_bytes() for path in root.rglob("*") if path.is_file()})
    assert files[0] == files[1]


def test_an_entry_without_a_fixture_is_said(place, capsys):
    assert generate("--npu-arch", "dav-2201") == 0
    assert "its comparison will be skipped, not passed" in capsys.readouterr().err
    assert document(place)["runtime_fixtures"]["scale"]["status"] == "insufficient"


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ([], "missing-npu-arch-and-target-chip"),
        (["--target-chip", "Ascend1"], "unsupported-target-chip"),
        (["--target-chip", "Ascend910B1,Ascend950"], "ambiguous-target-chip-arches"),
    ],
)
def test_an_arch_that_is_not_known_needs_a_human(place, words, reason, capsys):
    assert generate(*words) == 5
    made = document(place)
    assert (made["status"], made["reason"], made["cmake"]) == ("needs-target-arch", reason, "")
    assert (place / "out/operator-sk-standalone-verify/csrc/scale/scale.asc").is_file()
    assert not (place / "out/operator-sk-standalone-verify/CMakeLists.txt").exists()
    assert "--npu-arch, one of" in capsys.readouterr().err


def test_a_chip_gives_its_arch(place):
    assert generate("--target-chip", "Ascend910B1, Ascend910B2") == 0
    assert document(place)["target_arch_resolution"]["source"] == "target-chip-source-backed"
    assert document(place)["npu_arch"] == "dav-2201"


def test_the_explicit_arch_goes_before_a_chip_that_is_not_known(place):
    assert generate("--target-chip", "ascend-910b", "--npu-arch", "dav-2201") == 0
    assert document(place)["target_arch_resolution"]["unsupported"] == ["ascend-910b"]


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["--npu-arch", "dav-9"], 4),
        (["--npu-arch", "dav-3510", "--target-chip", "Ascend910B1"], 2),
        (["--npu-arch", "dav-2201", "--runtime-fixture-dir", "nowhere"], 2),
    ],
)
def test_wrong_options_write_nothing(place, words, status):
    assert generate(*words) == status
    assert not (place / "out").exists()


def without(*names):
    return [each for each in FIXTURE["parameters"] if each["name"] not in names]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"blocks": 1}, "unknown key 'blocks'"),
        ({"block_dim": True}, "'block_dim' must be a whole number from 1"),
        ({"parameters": without("n")}, "the parameter 'n' of entry 'scale' is not given"),
        ({"parameters": [*without("n"), {"name": "m", "kind": "scalar", "value": 1}]}, "no parameter 'm'"),
        ({"parameters": [*without("n"), {"name": "n", "kind": "scalar", "value": None}]}, "must be a number"),
        ({"parameters": [*without("n"), {"name": "n", "kind": "scalar", "value": -1}]}, "does not fit"),
        ({"parameters": [*without("n"), {"name": "n", "bytes": 4}]}, "is a scalar by its contract"),
        ({"parameters": [*without("y"), {"name": "y", "bytes": 64}]}, "is a result by its contract"),
        ({"parameters": [*without("y"), {"name": "y", "bytes": True, "compare": True}]}, "'bytes' must be a whole number"),
    ],
)
def test_a_wrong_fixture_is_refused_whole(place, changes, said, capsys):
    fixture(place, **changes)
    assert generate("--npu-arch", "dav-2201", "--runtime-fixture-dir", "fixtures") == 2
    assert said in capsys.readouterr().err
    assert not (place / "out").exists()


def test_a_source_that_was_changed_behind_its_end_is_refused(place, capsys):
    source = place / "adapted/operator-sk-adapted/csrc/scale.asc"
    source.write_text(source.read_text().replace("// What Python calls", "// what"))
    assert generate("--npu-arch", "dav-2201") == 2
    assert "adapt the operator again" in capsys.readouterr().err


def test_an_output_of_an_earlier_version_is_refused(place, capsys):
    path = place / "adapted/operator-sk-adapted.json"
    made = json.loads(path.read_text())
    del made["per_file"][0]["entries"][0]["binding"]
    path.write_text(json.dumps(made))
    assert generate("--npu-arch", "dav-2201") == 2
    assert "does not have what a comparison needs" in capsys.readouterr().err


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_the_host_part_is_cut_off_where_it_was_put(newline, mark):
    text = mark + KERNEL.replace("\n", newline).encode()
    assert without_host_part(with_host_part(text, [], newline)) == text
