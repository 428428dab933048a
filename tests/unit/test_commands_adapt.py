"""`skrules adapt-sk-from-global`: what is completed, what needs a human, and what is left behind in either case."""

from __future__ import annotations

import json

import pytest

from skrules.cli import main

HEAD = '#include "kernel_operator.h"\n'
PAIR = HEAD + 'extern "C" __global__ __vector__ void pair(GM_ADDR x, GM_ADDR z, uint32_t n)\n{\n}\n'
ONE = HEAD + 'extern "C" __global__ __vector__ void one(GM_ADDR x, uint32_t n)\n{\n}\n'
BOUND = ONE + (
    "struct OneArgs { GM_ADDR x; uint32_t n; };\n"
    "template <uint32_t splitidx> __sk__ __vector__ void one_sk(const OneArgs *args) {}\n"
    "SK_BIND(one, 2, one_sk<0>);\n"
)
CONTRACT = "schema_version: 1\nentries:\n  pair: {inputs: [x], outputs: [z]}\n"


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(place, **files):
    for name, text in files.items():
        path = place / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def adapt(*words):
    return main(["adapt-sk-from-global", *words])


def manifest(folder):
    return json.loads((folder / "operator-sk-adapted.json").read_bytes())


def tree(folder):
    root = folder / "operator-sk-adapted"
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())


def test_one_tensor_needs_no_contract(place):
    write(place, a__one_dot_asc=ONE)
    assert adapt("a", "--output-dir", "out") == 0
    document = manifest(place / "out")
    assert document["status"] == "completed"
    assert document["pybind_layout"] == "aclgraph-canonical"
    assert document["pybind_module"] == "one_sk_pkg_lib"
    assert (document["mask"], document["num_splits"], document["with_sys_args"]) == (4, 4, "auto")
    (file,) = document["per_file"]
    assert (file["status"], file["form_before"], file["form_after"]) == ("adapted", "none", "current-sk-bind")
    (entry,) = file["entries"]
    assert entry["pybind_return_source"] == "single-tensor-default"
    assert entry["pybind_return_tensor"] == "x"
    assert entry["args_struct_name"] == "OneArgs"
    assert entry["csrc_file"] == "csrc/one.asc"
    assert tree(place / "out") == [
        "csrc/ascendc_ops.h",
        "csrc/one.asc",
        "csrc/pybind11.asc",
        "csrc/pybind11_one.asc",
        "op_extension/__init__.py",
        "op_extension/_arch_selector.py",
        "op_extension/_torch_library.py",
        "setup.py",
    ]
    assert document["canonical_written_files"] == [f"operator-sk-adapted/{name}" for name in tree(place / "out")]


def test_the_adapted_text_is_that_of_the_build(place, capsysbinary):
    write(place, a__pair_dot_asc=PAIR, contract_dot_yaml=CONTRACT)
    assert adapt("a", "--output-dir", "out", "--io-contract", "contract.yaml") == 0
    assert main(["adapt", "a/pair.asc", "--contract", "contract.yaml"]) == 0
    made = (place / "out/operator-sk-adapted/csrc/pair.asc").read_bytes()
    assert made.startswith(b'#include "ascendc_ops.h"\n' + capsysbinary.readouterr().out + b"\n// What Python calls")


def test_undecided_tensors_exit_5_and_leave_the_findings_only(place, capsys):
    write(place, a__pair_dot_asc=PAIR, a__one_dot_asc=ONE)
    assert adapt("a", "--output-dir", "out") == 5
    document = manifest(place / "out")
    assert document["status"] == "needs-human"
    assert [file["status"] for file in document["per_file"]] == ["adapted", "needs-human"]
    (escalation,) = document["escalations"]
    assert escalation["rule_id"] == escalation["finding_id"] == "codegen.pybind-return-tensor-unresolved"
    assert (escalation["file"], escalation["line"], escalation["severity"]) == ("a/pair.asc", 2, "blocker")
    assert tree(place / "out") == []
    assert "a/pair.asc:2:12" in capsys.readouterr().err
    write(place, contract_dot_yaml=CONTRACT)
    assert adapt("a", "--output-dir", "out", "--io-contract", "contract.yaml") == 0


def test_a_completed_tree_is_not_written_over(place):
    write(place, a__one_dot_asc=ONE)
    assert adapt("a", "--output-dir", "out") == 0
    before = manifest(place / "out")
    assert adapt("a", "--output-dir", "out", "--mask", "1") == 2
    assert manifest(place / "out") == before


@pytest.mark.parametrize("option", [["--mask", "8"], ["--num-splits", "0"], ["--with-sys-args", "no"], ["--io-contact", "c"]])
def test_options_outside_of_their_range_exit_2(place, option):
    write(place, a__one_dot_asc=ONE)
    with pytest.raises(SystemExit) as caught:
        adapt("a", "--output-dir", "out", *option)
    assert caught.value.code == 2
    assert not (place / "out").exists()


@pytest.mark.parametrize(
    "words",
    [
        ["--io-contract", "nowhere.yaml"],
        ["--package-name", "a b"],
        ["--package-version", "one"],
        ["--support-dir", "nowhere"],
        ["--name-resolution", "a/one.asc"],
        ["--understanding", "a/one.asc"],
    ],
)
def test_wrong_inputs_exit_2_and_write_nothing(place, words):
    write(place, a__one_dot_asc=ONE)
    assert adapt("a", "--output-dir", "out", *words) == 2
    assert not (place / "out").exists()


def test_an_unknown_chip_exits_4(place):
    write(place, a__one_dot_asc=ONE)
    assert adapt("a", "--output-dir", "out", "--target-chip", "Ascend999") == 4
    assert adapt("a", "--output-dir", "out", "--target-chip", "Ascend910B1,Ascend950") == 0
    assert manifest(place / "out")["target_chips"] == "Ascend910B1,Ascend950"


def test_decisions_of_the_command_line(place):
    write(place, a__one_dot_asc=ONE)
    assert adapt("a", "--output-dir", "out", "--mask", "3", "--num-splits", "2", "--with-sys-args", "always") == 0
    text = (place / "out/operator-sk-adapted/csrc/one.asc").read_text()
    assert "SK_BIND(one, 3, one_sk<0>, one_sk<1>);" in text
    assert "sk::SkSystemArgs *sysArgs" in text
    assert manifest(place / "out")["per_file"][0]["entries"][0]["uses_sys_args"] is True


def test_a_decision_against_the_contract_is_refused(place, capsys):
    write(place, a__pair_dot_asc=PAIR, contract_dot_yaml=CONTRACT.replace("[z]}", "[z], sk: {mask: 2}}"))
    assert adapt("a", "--output-dir", "out", "--io-contract", "contract.yaml", "--mask", "1") == 2
    assert "contract.yaml:3" in capsys.readouterr().err
    assert adapt("a", "--output-dir", "out", "--io-contract", "contract.yaml", "--mask", "2") == 0


def test_bound_sources_are_reused_byte_for_byte(place):
    bound = BOUND.replace("GM_ADDR x, uint32_t n)", "GM_ADDR x, GM_ADDR y)")
    write(place, a__deep__bound_dot_asc=bound)
    assert adapt("a", "--output-dir", "out") == 0
    document = manifest(place / "out")
    assert document["per_file"][0]["status"] == "already_current"
    assert document["per_file"][0]["pybind_layout"] == "source-passthrough"
    assert document["pybind_layout"] is None
    assert (place / "out/operator-sk-adapted/deep/bound.asc").read_text() == bound


def test_a_bound_source_with_a_known_call_is_packaged(place):
    write(place, a__bound_dot_asc=BOUND)
    assert adapt("a", "--output-dir", "out") == 0
    made = (place / "out/operator-sk-adapted/csrc/one.asc").read_text()
    assert made.startswith('#include "ascendc_ops.h"\n' + BOUND)
    assert manifest(place / "out")["per_file"][0]["entries"][0]["mask"] == 2


def test_two_files_never_share_a_place(place, capsys):
    bound = BOUND.replace("one", "kept").replace("GM_ADDR x, uint32_t n)", "GM_ADDR x, GM_ADDR y)")
    write(place, a__csrc__one_dot_asc=bound, a__k_dot_asc=ONE)
    assert adapt("a", "--output-dir", "out") == 2
    assert "two files of the tree would be csrc/one.asc" in capsys.readouterr().err
    assert not (place / "out").exists()


def test_a_partly_bound_source_needs_a_human(place):
    write(place, a__half_dot_asc=BOUND + ONE.replace("void one", "void other").removeprefix(HEAD))
    assert adapt("a", "--output-dir", "out") == 5
    assert manifest(place / "out")["escalations"][0]["rule_id"] == "codegen.unknown-sk-form"


def test_headers_are_kept_where_includes_find_them(place):
    source = HEAD + '#include "../common/share.h"\n#include "shared/far.h"\n' + ONE.removeprefix(HEAD)
    write(place, a__src__one_dot_asc=source, a__common__share_dot_h='#include "deep/inner.h"\n')
    write(place, a__common__deep__inner_dot_h="// inner\n", far__far_dot_h="// far\n")
    assert adapt("a", "--output-dir", "out", "--support-dir", "shared=far") == 0
    kept = [name for name in tree(place / "out") if "_support" in name]
    base = "csrc/_support/one"
    assert kept == [
        f"{base}/_dirs/shared/far.h",
        f"{base}/a/common/deep/inner.h",
        f"{base}/a/common/share.h",
        f"{base}/a/src/.folder",
    ]
    entry = manifest(place / "out")["per_file"][0]["entries"][0]
    assert entry["quote_dirs"] == [f"{base}/a/src", f"{base}/a", f"{base}/_dirs", base]
    assert list(manifest(place / "out")["support_directories"][0]["sha256"]) == ["far.h"]


MAKES = "#define MAKE(NAME) __global__ __vector__ void NAME(GM_ADDR x) {}\n"


def test_a_macro_of_a_support_folder_makes_the_kernel(place):
    write(place, a__made_dot_asc=HEAD + '#include "shared/make.h"\nMAKE(made)\n', far__make_dot_h=MAKES)
    assert adapt("a/made.asc", "--output-dir", "out") == 5
    assert manifest(place / "out")["escalations"][0]["rule_id"] == "codegen.no-kernel"
    assert adapt("a/made.asc", "--output-dir", "full", "--support-dir", "shared=far") == 0
    text = (place / "full/operator-sk-adapted/csrc/made.asc").read_text()
    assert text.index("MAKE(made)\n") < text.index("SK_BIND(made, 4, made_sk<0>")


def test_a_folder_has_the_sources_that_a_header_gives_kernels(place):
    use = HEAD + '#include "make.h"\n'
    write(place, a__made_dot_asc=f"{use}MAKE(made)\n", a__make_dot_h=MAKES, a__host_dot_cpp=f"{use}// MAKE(none)\nint main();\n")
    assert adapt("a", "--output-dir", "out") == 0
    document = manifest(place / "out")
    assert [file["file"] for file in document["per_file"]] == ["made.asc"]
    assert document["ignored_support_files"] == [{"file": "host.cpp", "reason": "no_kernel_signal"}]
    assert main(["detect-sk-form", "a", "--output-dir", "form"]) == 0
    (file,) = json.loads((place / "form/operator-sk-form-analysis.json").read_bytes())["per_file"]
    assert (file["form"], file["has_global"], file["unbound_kernels"]) == ("none", True, ["made"])


def test_a_macro_that_two_headers_define_differently_stops_the_folder(place):
    other = MAKES.replace("GM_ADDR x", "GM_ADDR x, int n")
    source = HEAD + '#include "one.h"\n#include "two.h"\nMAKE(made)\n'
    write(place, a__made_dot_asc=source, a__one_dot_h=MAKES, a__two_dot_h=other)
    assert adapt("a", "--output-dir", "out") == 5
    assert "source.macro-kernel" in [each["rule_id"] for each in manifest(place / "out")["escalations"]]


def test_one_source_is_printed_with_headers_of_a_folder(place, capsysbinary):
    write(place, made_dot_asc=HEAD + "#include <make.h>\nMAKE(made)\n", far__make_dot_h=MAKES)
    assert main(["adapt", "made.asc", "-I", "far"]) == 0
    assert b"SK_BIND(made, 4," in capsysbinary.readouterr().out
    assert main(["adapt", "made.asc"]) == 5
    assert b"codegen.no-kernel" in capsysbinary.readouterr().err


def test_a_header_from_elsewhere_is_not_taken_in_silence(place):
    write(place, x__y__a__one_dot_asc='#include "../../../secret.h"\n' + ONE, secret_dot_h="// secret\n")
    assert adapt("x/y/a", "--output-dir", "out") == 5
    finding = manifest(place / "out")["escalations"][0]
    assert (finding["rule_id"], finding["line"]) == ("codegen.support-header-unresolved", 1)


@pytest.mark.parametrize("word", ["a", "a/src", ".", "one=far", "b/d=far"])
def test_support_folders_that_cannot_be(place, word):
    write(place, a__src__one_dot_asc=ONE, far__far_dot_h="//\n")
    words = ["--support-dir", "one=far"] if word == "one=far" else []
    assert adapt("a", "--output-dir", "out", "--support-dir", word, *words) == 2


def test_public_names_come_from_a_name_resolution(place):
    item = {"asset_path": str(place / "a"), "asset_key": "a", "source_entry_name": "one", "public_entry_name": "a__one"}
    item |= {"renamed": True, "rename_reason": "duplicate-entry", "asset_namespace": "a", "collision_group": "one"}
    report = {"schema_version": 1, "policy": "namespace", "renamed_entry_count": 1, "resolutions": [item]}
    write(place, a__k_dot_asc=ONE, names_dot_json=json.dumps(report))
    assert adapt("a", "--output-dir", "out", "--name-resolution", "names.json") == 0
    entry = manifest(place / "out")["per_file"][0]["entries"][0]
    assert (entry["public_entry_name"], entry["source_entry_name"]) == ("a__one", "one")
    assert entry["name_resolution"]["rename_reason"] == "duplicate-entry"
    text = (place / "out/operator-sk-adapted/csrc/a__one.asc").read_text()
    assert "SK_BIND(one, 4, one_sk<0>" in text
    assert "run_a__one(" in text
    packaged = json.loads((place / "out/operator-sk-adapted/op_extension/_name_resolution.json").read_bytes())
    assert packaged["resolutions"][0]["asset_path"] == "a"


def test_chips_come_from_an_understanding(place):
    unit = {"entry_name": "one", "supported_soc_versions": ["Ascend910B1"], "supported_arches": ["dav-2201"]}
    write(place, a__k_dot_asc=ONE, u_dot_json=json.dumps({"operator_units": [unit]}))
    assert adapt("a", "--output-dir", "out", "--understanding", "u.json") == 0
    assert manifest(place / "out")["per_file"][0]["entries"][0]["supported_arches"] == ["dav-2201"]
    assert '"supported_arches": ["dav-2201"]' in (place / "out/operator-sk-adapted/setup.py").read_text()


def test_legacy_names_are_brought_up_to_date_and_said(place):
    old = BOUND.replace("const OneArgs *args) {}", "const OneArgs *args, sk::SkSystemArgs *s) { uint32_t b = s->skBlockNum; }")
    write(place, a__bound_dot_asc=old)
    assert adapt("a", "--output-dir", "out") == 0
    (round_one,) = manifest(place / "out")["per_file"][0]["inline_remediations"]
    assert round_one["round"] == 1
    assert round_one["results"][0]["status"] == "applied"
    assert "s->skNumBlocks" in (place / "out/operator-sk-adapted/csrc/one.asc").read_text()


def test_aggregate(place, capsys):
    write(place, a__one_dot_asc='#include "../common/c.h"\n' + ONE, common__c_dot_h="// c\n")
    write(place, b__pair_dot_asc=PAIR, contract_dot_yaml=CONTRACT)
    assert adapt("a", "--output-dir", "oa", "--target-chip", "Ascend950") == 0
    assert adapt("b", "--output-dir", "ob", "--io-contract", "contract.yaml") == 0
    capsys.readouterr()
    words = ["--adapted-output-dir", "oa", "--adapted-output-dir", "ob", "--aggregate-wheel-name", "my-ops"]
    assert main(["aggregate-sk-adapted", *words, "--package-version", "1.2", "--output-dir", "agg"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said == {"status": "completed", "package_name": "my-ops", "package_version": "1.2", "entries": ["one", "pair"]}
    document = manifest(place / "agg")
    assert document["aggregate"] is True
    assert [file["file"] for file in document["per_file"]] == ["a/one.asc", "b/pair.asc"]
    assert document["target_chips"] == "Ascend950"
    names = tree(place / "agg")
    assert "csrc/_support/one/common/c.h" in names
    for name in ("one", "pair"):
        assert (place / f"agg/operator-sk-adapted/csrc/{name}.asc").read_bytes() == (
            place / f"o{'a' if name == 'one' else 'b'}/operator-sk-adapted/csrc/{name}.asc"
        ).read_bytes()
    assert main(["aggregate-sk-adapted", *words, "--output-dir", "agg"]) == 2


def test_what_cannot_be_aggregated(place, capsys):
    write(place, a__one_dot_asc=ONE, b__pair_dot_asc=PAIR)
    assert adapt("a", "--output-dir", "oa") == 0
    assert adapt("b", "--output-dir", "ob") == 5
    for folders, part in ((["oa", "oa"], "duplicate kernel entry"), (["ob"], "not completed"), (["nowhere"], "cannot read")):
        words = [word for folder in folders for word in ("--adapted-output-dir", folder)]
        assert main(["aggregate-sk-adapted", *words, "--output-dir", "agg"]) == 2
        assert part in capsys.readouterr().err
    assert not (place / "agg").exists()
    document = manifest(place / "oa")
    del document["per_file"][0]["entries"][0]["quote_dirs"]
    (place / "oa/operator-sk-adapted.json").write_text(json.dumps(document))
    assert main(["aggregate-sk-adapted", "--adapted-output-dir", "oa", "--output-dir", "agg"]) == 2
    assert "adapt the operator again" in capsys.readouterr().err


WRAPPED = """schema_version: 1
entries:
  joined:
    inputs: [xs]
    outputs: [z]
    workspaces: [w]
    parameters: {xs: tensor_list}
    runtime_wrapper:
      source: host/launch.cpp
      entry: launch_joined
      tensor_list_descriptor_strategy: prepared_workspace_tail
      prepare_entry: prepare_descriptors
      descriptor_bytes: 64
      descriptor_order: [xs]
"""
JOINED = HEAD + "__global__ __vector__ void joined(GM_ADDR xs, GM_ADDR z, GM_ADDR w)\n{\n}\n"
LAUNCH = '#include "part.h"\nnamespace ascendc_ops {\nint launch_joined();\nint prepare_descriptors();\n}\n'


def test_a_runtime_wrapper_is_packaged_with_its_kernel(place):
    write(place, a__k_dot_asc=JOINED, a__host__launch_dot_cpp=LAUNCH, a__host__part_dot_h="// part\n", c_dot_yaml=WRAPPED)
    assert adapt("a", "--output-dir", "out", "--io-contract", "c.yaml") == 0
    text = (place / "out/operator-sk-adapted/csrc/joined.asc").read_text()
    kernel, rest = text.split("// launch.cpp\n")
    assert "SK_BIND(joined" in kernel
    assert rest.startswith(LAUNCH)
    assert "ascendc_ops::launch_joined(context, xs_view, z_view, w_view)" in rest
    assert "ascendc_ops::prepare_descriptors(context, xs_view, z_view, w_view)" in rest
    assert 'host::Views views("joined", 64);' in rest
    names = tree(place / "out")
    assert {"csrc/ascendc_wrapper.h", "csrc/skrules_wrapper.h", "csrc/_support/joined/a/host/part.h"} <= set(names)
    assert "prepare_joined = _function(" in (place / "out/operator-sk-adapted/op_extension/__init__.py").read_text()
    entry = manifest(place / "out")["per_file"][0]["entries"][0]
    assert entry["io_contract"]["runtime_wrapper"]["prepare_entry"] == "prepare_descriptors"
    assert main(["aggregate-sk-adapted", "--adapted-output-dir", "out", "--output-dir", "agg"]) == 0
    assert tree(place / "agg") == names


@pytest.mark.parametrize(
    ("files", "rule"),
    [
        ({}, "codegen.runtime-wrapper-source-missing"),
        ({"a__host__launch_dot_cpp": "// launch_joined( in a comment\n"}, "codegen.runtime-wrapper-entry-missing"),
    ],
)
def test_a_runtime_wrapper_that_is_not_there(place, files, rule):
    write(place, a__k_dot_asc=JOINED, c_dot_yaml=WRAPPED, **files)
    assert adapt("a", "--output-dir", "out", "--io-contract", "c.yaml") == 5
    assert rule in [each["rule_id"] for each in manifest(place / "out")["escalations"]]


def test_a_kernel_under_a_condition_says_when_it_is_not_there(place):
    write(place, a__k_dot_asc=HEAD + "#if defined(WIDE)\n" + ONE.removeprefix(HEAD) + "#endif\n")
    assert adapt("a", "--output-dir", "out") == 0
    text = (place / "out/operator-sk-adapted/csrc/one.asc").read_text()
    assert text.index("#define SKRULES_KERNEL_one 1") < text.index("#endif\n")
    assert "#ifndef SKRULES_KERNEL_one\nat::Tensor run_one(const at::Tensor &x, int64_t n) { TORCH_CHECK(false, " in text


def test_a_fault_of_ours_is_said_to_be_one(place, monkeypatch, capsys):
    write(place, a__one_dot_asc=ONE)
    monkeypatch.setattr("skrules.commands.adapt_sk_from_global.adapt_asset", lambda _request: 1 / 0)
    assert adapt("a", "--output-dir", "out") == 70
    assert "fault of skrules" in capsys.readouterr().err
    assert not (place / "out").exists()
