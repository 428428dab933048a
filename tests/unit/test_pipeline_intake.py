"""`intake`, `plan`, `analyze-sk-conversion` and the scaffolds: the published documents, from code and not from comments."""

from __future__ import annotations

import json

import pytest

from skrules.cli import main
from skrules.pipeline.conversion import Asked, analyse
from skrules.pipeline.delivery import manifest_of
from skrules.pipeline.inventory import take_inventory

KERNEL = """#include "kernel_operator.h"
// SK_BIND(scale, 4, scale_sk<0>); __sk__ in a comment
__global__ __vector__ void scale(GM_ADDR x, GM_ADDR y, uint32_t n) {
    (void)x;
}
"""
BOUND = """#include "kernel_operator.h"
__global__ __vector__ void scale(GM_ADDR x, uint32_t n) { (void)x; }
struct ScaleArgs { GM_ADDR x; uint32_t n; };
template <uint32_t splitidx> __sk__ __vector__ void scale_sk(const ScaleArgs *args) { (void)args; }
SK_BIND(scale, 4, scale_sk<0>, scale_sk<1>, scale_sk<2>, scale_sk<3>);
"""
CONTRACT = "schema_version: 1\nentries:\n  scale: {inputs: [x], outputs: [y], launch: {block_dim: 4}}\n"


@pytest.fixture
def asset(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "scale"
    folder.mkdir()
    (folder / "scale.asc").write_text(KERNEL)
    return folder


def load(path):
    return json.loads(path.read_text())


@pytest.mark.usefixtures("asset")
def test_intake_and_plan_write_the_published_files(tmp_path):
    assert main(["intake", "scale", "--output-dir", "out"]) == main(["plan", "scale", "--output-dir", "other"]) == 0
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == [
        "operator-asset-manifest.json",
        "operator-delivery-checklist.md",
        "operator-delivery-execution-plan.md",
        "operator-delivery-report.md",
        "operator-delivery-summary.json",
    ]
    assert [(tmp_path / "out" / name).read_bytes() for name in names] == [
        (tmp_path / "other" / name).read_bytes() for name in names
    ]


def test_a_source_alone_lacks_all_but_its_kernel(asset):
    manifest = manifest_of(take_inventory(asset))
    assert manifest["asset_level"] == "source-only"
    assert manifest["kernel_entries"] == [{"name": "scale", "file": "scale.asc", "line": 3, "column": 1}]
    assert not any(manifest["sk_markers"].values())
    assert manifest["missing_contracts"] == [
        "build_contract",
        "test_contract",
        "package_contract",
        "delivery_docs_contract",
        "sk_binding_contract",
        "operator_semantics_contract",
    ]
    assert manifest["capabilities"]["entry_binding"]["confidence"] == "high"
    assert manifest["delivery_plan"]["phase"] == "contract-completion"


def test_levels_go_by_what_there_is(asset):
    (asset / "SConscript").write_text('operator(name="scale", srcs=["scale.asc"], archs=["dav-2201"])\n')
    assert manifest_of(take_inventory(asset))["asset_level"] == "buildable-op"
    (asset / "cases.yaml").write_text("cases: []\n")
    assert manifest_of(take_inventory(asset))["asset_level"] == "testable-op"
    (asset / "contract.yaml").write_text(CONTRACT)
    manifest = manifest_of(take_inventory(asset))
    assert (manifest["asset_level"], manifest["build_quality"]["level"]) == ("deliverable-op", "toolchain-contract")


def test_nothing_to_work_on_is_blocked(tmp_path):
    (tmp_path / "notes.txt").write_text("")
    manifest = manifest_of(take_inventory(tmp_path))
    assert (manifest["asset_level"], manifest["hard_blockers"]) == ("unsupported-asset", ["no_supported_operator_source_files"])
    assert analyse(Asked(asset=tmp_path), None)["status"] == "blocked"


@pytest.mark.usefixtures("asset")
def test_what_cannot_be_done_is_refused(capsys):
    assert main(["intake", "scale", "--output-dir", "out", "--with-ai"]) == 2
    assert main(["intake", "nowhere", "--output-dir", "out"]) == 2
    assert main(["analyze-sk-conversion", "scale", "--output-dir", "out", "--ascend-arch", "dav-2201"]) == 2
    assert "--ascend-cann-path" in capsys.readouterr().err


def test_an_analysis_says_what_is_missing(asset):
    analysis = analyse(Asked(asset=asset), None)
    assert analysis["status"] == "needs-contracts"
    assert {each["name"]: each["status"] for each in analysis["conversion_inputs"]} == {
        "source": "present",
        "entry_signature": "present",
        "sk_binding": "missing",
        "build_contract": "missing",
        "test_contract": "missing",
        "package_contract": "missing",
        "delivery_docs": "missing",
        "runtime_inputs": "not-collected",
        "correctness_oracle": "not-collected",
    }
    assert analysis["supported_next_actions"] == [
        "adapt_sk_binding",
        "generate_minimal_build_contract",
        "generate_minimal_test_contract",
    ]


@pytest.mark.usefixtures("asset")
def test_kernels_that_need_a_contract_are_blocked_without_one(tmp_path, capsys):
    assert main(["analyze-sk-conversion", "scale", "--output-dir", "out"]) == 0
    assert main(["adapt-sk-binding-scaffold", "out"]) == 1
    document = load(tmp_path / "out/operator-sk-binding-scaffold.json")
    assert document["status"] == "blocked"
    assert "codegen.pybind-return-tensor-unresolved" in document["blocked_reasons"]
    assert not (tmp_path / "out/operator-sk-binding-scaffold").exists()
    assert "scale.asc:3" in capsys.readouterr().err


def test_the_scaffold_has_the_text_of_a_build(asset, tmp_path):
    (asset / "contract.yaml").write_text(CONTRACT)
    assert main(["analyze-sk-conversion", "scale", "--output-dir", "out"]) == 0
    assert main(["adapt-sk-binding-scaffold", "out"]) == 0
    document = load(tmp_path / "out/operator-sk-binding-scaffold.json")
    assert document["adapted_entries"][0]["generated_path"] == "operator-sk-binding-scaffold/src/scale_sk_binding.asc"
    assert main(["adapt", "scale/scale.asc", "--contract", "scale/contract.yaml", "-o", "plain.asc"]) == 0
    made = (tmp_path / "out" / document["adapted_entries"][0]["generated_path"]).read_bytes()
    # The text names the source and the contract that it comes from.
    assert made == (tmp_path / "plain.asc").read_bytes().replace(b"scale/", b"")
    assert main(["adapt-sk-binding-scaffold", "out"]) == 2  # it is there already


def test_an_analysis_of_another_state_is_refused(asset, capsys):
    assert main(["analyze-sk-conversion", "scale", "--output-dir", "out"]) == 0
    (asset / "scale.asc").write_text(KERNEL + "\n")
    assert main(["adapt-sk-binding-scaffold", "out"]) == main(["generate-sk-source-scaffold", "out"]) == 2
    assert "not current" in capsys.readouterr().err


@pytest.mark.usefixtures("asset")
@pytest.mark.parametrize("text", ["", "[]", "{}", '{"ascend_compile_contract": 1}', "null"])
def test_what_is_no_analysis_is_refused(tmp_path, text):
    (tmp_path / "out").mkdir()
    (tmp_path / "out/operator-sk-conversion-analysis.json").write_text(text)
    assert main(["adapt-sk-binding-scaffold", "out"]) == 2


def test_a_bound_source_needs_no_binding_and_becomes_a_project(asset, tmp_path):
    (asset / "scale.asc").write_text(BOUND)
    (asset / "SConscript").write_text("")
    (asset / "cases.yaml").write_text("cases: []\n")
    assert main(["analyze-sk-conversion", "scale", "--output-dir", "out"]) == 0
    assert load(tmp_path / "out/operator-sk-conversion-analysis.json")["status"] == "ready-for-sk-generation"
    assert main(["adapt-sk-binding-scaffold", "out"]) == 0
    assert load(tmp_path / "out/operator-sk-binding-scaffold.json")["status"] == "not-needed"
    assert main(["generate-sk-source-scaffold", "out"]) == 0
    project = tmp_path / "out/operator-sk-source-scaffold"
    assert (project / "src/scale.asc").read_text() == BOUND
    assert "find_package(ASC REQUIRED)" in (project / "CMakeLists.txt").read_text()


def test_a_toolkit_of_this_machine_is_found(asset, tmp_path):
    root = tmp_path / "cann"
    (root / "tools/bisheng_compiler/bin").mkdir(parents=True)
    (root / "tools/bisheng_compiler/bin/bisheng").write_text("")
    (root / "x86_64-linux/asc/include").mkdir(parents=True)
    contract = analyse(Asked(asset=asset, cann=str(root), arch="dav-2201"), None)["ascend_compile_contract"]
    assert contract["derived_include_dirs"] == [str(root / "x86_64-linux/asc/include"), str(root / "x86_64-linux/asc")]
    assert contract["compile_options"] == ["-std=c++17"]
