from __future__ import annotations

import pytest

from skrules.contract.check import check_wrapper, resolve, resolve_units
from skrules.contract.entry import Resolution
from skrules.contract.load import load
from skrules.contract.model import ParameterKind, Role
from skrules.findings import Finding, Severity
from skrules.source.kernels import read
from skrules.source.tokens import tokenize

ADD = """__global__ __vector__ void add(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t n)
{
}
"""
SCALE = """namespace ns {
template <typename T, int N = 8>
__global__ __vector__ void scale(__gm__ T *x, T factor, Box<N> box)
{
}
}
"""


def _resolve(source: str, contract: str = "") -> Resolution:
    return resolve(read(source.encode(), "k.asc"), load(contract.encode(), "c.yaml") if contract else None)


def _rules(resolution: Resolution) -> list[str]:
    return [finding.rule.removeprefix("codegen.") for finding in resolution.findings]


def _only(resolution: Resolution) -> Finding:
    (finding,) = resolution.findings
    assert resolution.entries == () or finding.severity is not Severity.BLOCKER
    return finding


def test_a_contract_decides_everything() -> None:
    resolution = _resolve(ADD, "entries: {add: {inputs: [x, y], outputs: [z], parameters: {x: {dtype: float16, rank: 1}}}}")
    (entry,) = resolution.entries
    assert (resolution.findings, entry.name, entry.bind_target, entry.return_parameter) == ((), "add", "add", "z")
    assert [(each.name, each.kind, each.roles) for each in entry.parameters] == [
        ("x", ParameterKind.TENSOR, (Role.INPUT,)),
        ("y", ParameterKind.TENSOR, (Role.INPUT,)),
        ("z", ParameterKind.TENSOR, (Role.OUTPUT,)),
        ("n", ParameterKind.SCALAR, ()),
    ]
    assert (entry.parameters[0].dtype, entry.parameters[0].rank, entry.parameters[3].c_type) == ("float16", 1, "uint32_t")


class TestWithoutContract:
    def test_one_tensor_is_changed_in_place_and_returned(self) -> None:
        (entry,) = _resolve("__global__ __vector__ void k(GM_ADDR x, unsigned n) {}").entries
        assert entry.parameters[0].roles == (Role.INPUT, Role.OUTPUT) and entry.return_parameter == "x"
        assert str(entry.contract.at) == "k.asc:1:1"

    def test_no_tensor_returns_nothing(self) -> None:
        (entry,) = _resolve("__global__ __vector__ void k(short n, char c) {}").entries
        assert entry.return_parameter == "" and [each.kind.value for each in entry.parameters] == ["scalar", "scalar"]

    def test_several_tensors_need_one(self) -> None:
        finding = _only(_resolve("\n" + ADD))
        assert finding.rule == "codegen.pybind-return-tensor-unresolved" and str(finding.at) == "k.asc:2:1"

    def test_the_hint_is_a_contract_that_loads_and_fits_once_filled(self) -> None:
        hint = _only(_resolve(ADD)).hint
        text = hint.split("\n", 1)[1]
        assert _rules(_resolve(ADD, text)) == ["io-contract-tensor-incomplete"]
        filled = text.replace("inputs: []", "inputs: [x, y]").replace("outputs: []", "outputs: [z]")
        assert _resolve(ADD, filled).findings == () and len(_resolve(ADD, filled).entries) == 1

    def test_all_that_applies_is_said_at_once(self) -> None:
        head = "struct Cfg { int a; };\ntemplate <typename T>\n"
        source = head + "__global__ __vector__ void k(__gm__ T *x, GM_ADDR y, Cfg c,\n  Far f, T t) {}"
        resolution = _resolve(source)
        assert _rules(resolution) == [
            "template-bind-target-required",
            "pybind-return-tensor-unresolved",
            "runtime-parameter-contract-required",
            "runtime-parameter-contract-required",
        ]
        assert [str(finding.at) for finding in resolution.findings[2:]] == ["k.asc:3:54", "k.asc:4:3"]

    def test_a_kernel_that_the_contract_leaves_out(self) -> None:
        source = ADD + ADD.replace("add", "sub")
        resolution = _resolve(source, "entries: {add: {inputs: [x, y], outputs: [z]}}")
        assert [entry.name for entry in resolution.entries] == ["add"]
        assert _rules(resolution) == ["pybind-return-tensor-unresolved"]
        assert "add to the entries of c.yaml" in resolution.findings[0].hint


class TestParameters:
    def test_findings_stand_where_they_are_settled(self) -> None:
        contract = """entries:
  add:
    inputs: [x, q, n]
    outputs: [z]
    parameters:
      n: host_struct
      zz: scalar
      y: {kind: tensor, dtype: float16}
"""
        resolution = _resolve(ADD, contract)
        assert {(each.rule.removeprefix("codegen."), str(each.at)) for each in resolution.findings} == {
            ("io-contract-tensor-incomplete", "c.yaml:2:3"),
            ("io-contract-tensor-invalid", "c.yaml:3:17"),
            ("io-contract-tensor-invalid", "c.yaml:3:20"),
            ("io-contract-parameter-kind-mismatch", "c.yaml:6:7"),
            ("io-contract-parameter-invalid", "c.yaml:7:7"),
        }
        assert resolution.entries == ()

    def test_a_misspelt_tensor_gets_a_suggestion(self) -> None:
        source = "__global__ __vector__ void k(GM_ADDR source, GM_ADDR target) {}"
        resolution = _resolve(source, "entries: {k: {inputs: [sorce], outputs: [target]}}")
        assert "did you mean 'source'?" in resolution.findings[-1].hint

    def test_structs_are_declared_not_guessed(self) -> None:
        source = "__global__ __vector__ void k(GM_ADDR x, TilingData t) {}"
        finding = _only(_resolve(source, "entries: {k: {outputs: [x]}}"))
        assert finding.rule == "codegen.runtime-parameter-contract-required" and "t: host_struct" in finding.hint
        for kind in ("host_struct", "scalar"):
            (entry,) = _resolve(source, f"entries: {{k: {{outputs: [x], parameters: {{t: {kind}}}}}}}").entries
            assert entry.parameters[1].kind == kind

    def test_a_struct_of_the_file_is_no_scalar(self) -> None:
        source = "struct T { int a; };\n__global__ __vector__ void k(GM_ADDR x, T t) {}"
        assert _rules(_resolve(source, "entries: {k: {outputs: [x], parameters: {t: scalar}}}")) == [
            "io-contract-parameter-kind-mismatch"
        ]

    def test_an_enum_is_a_scalar_with_its_encoding(self) -> None:
        source = "enum class Mode : uint8_t { A };\n__global__ __vector__ void k(GM_ADDR x, Mode m) {}"
        (entry,) = _resolve(source).entries
        assert (entry.parameters[1].kind, entry.parameters[1].dtype) == (ParameterKind.SCALAR, "uint8")

    @pytest.mark.parametrize(
        ("decision", "message"),
        [
            ("n: {nullable: true}", "a scalar cannot be nullable"),
            ("n: {rank: 1}", "a scalar has no rank"),
            ("n: {dtype: int32}", "its type is uint32, not int32"),
            ("s: {kind: host_struct, dtype: int32}", "a host_struct has no dtype"),
        ],
    )
    def test_attributes_fit_the_kind(self, decision: str, message: str) -> None:
        source = "__global__ __vector__ void k(GM_ADDR x, uint32_t n, S s) {}"
        both = decision if decision.startswith("s") else f"{decision}, s: host_struct"
        finding = _only(_resolve(source, f"entries: {{k: {{outputs: [x], parameters: {{{both}}}}}}}"))
        assert finding.rule == "codegen.io-contract-parameter-invalid" and message in finding.message

    def test_unnamed_parameters_and_void(self) -> None:
        assert _rules(_resolve("__global__ __vector__ void k(GM_ADDR x, uint32_t) {}")) == ["kernel-parameter-unnamed"]
        assert len(_resolve("__global__ __vector__ void k(void) {}").entries) == 1

    def test_parameters_under_a_condition(self) -> None:
        source = "__global__ __vector__ void k(GM_ADDR x\n#ifdef A\n, uint32_t n\n#endif\n) {}"
        unit = read(source.encode(), "k.asc")
        assert [each.rule for each in unit.findings] == ["source.conditional-signature"]
        assert _rules(_resolve(source)) == []  # the reader has said it: nothing is said twice


class TestTensorLists:
    SOURCE = "__global__ __vector__ void k(GM_ADDR a, GM_ADDR b, GM_ADDR z) {}"

    def _check(self, rest: str) -> Resolution:
        text = f"entries: {{k: {{inputs: [a, b], outputs: [z], parameters: {{b: tensor_list, a: tensor_list}}{rest}}}}}"
        return _resolve(self.SOURCE, text)

    def test_a_wrapper_is_required(self) -> None:
        assert _rules(self._check("")) == ["tensor-list-runtime-wrapper-required"]

    def test_prepared_state_is_required(self) -> None:
        assert _rules(self._check(", runtime_wrapper: {source: w.cpp, entry: f}")) == [
            "tensor-list-prepared-runtime-state-required"
        ]

    def test_descriptors_stand_in_the_declared_order(self) -> None:
        wrapper = (
            ", runtime_wrapper: {source: w.cpp, entry: f, tensor_list_descriptor_strategy: prepared_workspace_tail, "
            "prepare_entry: p, descriptor_bytes: 64, descriptor_order: ["
        )
        assert _rules(self._check(wrapper + "a, b]}")) == ["tensor-list-descriptor-order-mismatch"]
        assert len(self._check(wrapper + "b, a]}").entries) == 1

    def test_a_list_is_not_returned(self) -> None:
        text = (
            "entries: {k: {inputs: [a, b], outputs: [z], parameters: {z: tensor_list}, runtime_wrapper: {source: w, entry: f}}}"
        )
        assert "pybind-return-tensor-invalid" in _rules(_resolve(self.SOURCE, text))


class TestTemplates:
    def test_one_entry_for_each_specialisation(self) -> None:
        contract = """entries:
  scale_half: {bind_target: "ns::scale<half>", outputs: [x], parameters: {box: host_struct}}
  scale_float: {bind_target: " :: ns :: scale < float , 4 > ", outputs: [x], parameters: {box: host_struct}}
"""
        resolution = _resolve(SCALE, contract)
        assert resolution.findings == ()
        assert [(each.name, each.bind_target, each.template_arguments) for each in resolution.entries] == [
            ("scale_half", "ns::scale<half>", ("half", "8")),
            ("scale_float", "ns::scale<float, 4>", ("float", "4")),
        ]
        assert [each.c_type for each in resolution.entries[0].parameters] == ["__gm__ half*", "half", "Box<8>"]

    def test_a_target_is_required(self) -> None:
        finding = _only(_resolve(SCALE, "entries: {scale: {outputs: [x], parameters: {box: host_struct}}}"))
        assert finding.rule == "codegen.template-bind-target-required" and str(finding.at) == "c.yaml:1:11"

    @pytest.mark.parametrize(
        ("target", "message"),
        [
            ("ns::scale<half, 4, 5>", "3 template arguments for 2 parameters"),
            ("ns::scale<>", "template parameter T has no argument"),
            ("ns::scale<T, N>", "template parameter T has no argument"),
            ("ns::scale<half,>", "template parameter N has no argument"),
            ("ns::scale<Box<half>", "is no kernel with template arguments"),
        ],
    )
    def test_arguments_fit_the_parameters(self, target: str, message: str) -> None:
        text = f'entries: {{scale: {{bind_target: "{target}", outputs: [x], parameters: {{box: host_struct}}}}}}'
        resolution = _resolve(SCALE, text)
        assert "io-contract-bind-target-mismatch" in _rules(resolution) and resolution.entries == ()
        assert any(message in finding.message for finding in resolution.findings)

    def test_a_plain_kernel_has_no_arguments(self) -> None:
        finding = _only(_resolve(ADD, 'entries: {add: {bind_target: "add<half>", inputs: [x, y], outputs: [z]}}'))
        assert finding.rule == "codegen.io-contract-bind-target-mismatch"

    def test_two_entries_for_one_specialisation(self) -> None:
        both = "bind_target: 'scale<half>', outputs: [x], parameters: {box: host_struct}"
        resolution = _resolve(SCALE, f"entries:\n  a: {{{both}}}\n  b: {{{both}}}\n")
        assert _rules(resolution) == ["pybind-entry-specialization-ambiguous"]

    def test_a_pack_cannot_be_bound(self) -> None:
        source = "template <typename... T> __global__ __vector__ void k(GM_ADDR x) {}"
        resolution = _resolve(source, "entries: {k: {bind_target: 'k<int, int>', outputs: [x]}}")
        assert "a parameter pack cannot be bound" in resolution.findings[0].message

    def test_explicit_specialisations(self) -> None:
        source = """template <typename T> __global__ __vector__ void k(__gm__ T *x) {}
template <> __global__ __vector__ void k<float>(__gm__ float *x) {}
"""
        contract = "entries:\n  a: {bind_target: k<half>, outputs: [x]}\n  b: {bind_target: 'k< float >', outputs: [x]}\n"
        resolution = _resolve(source, contract)
        assert resolution.findings == ()
        assert [(each.name, each.bind_target, each.kernel.line) for each in resolution.entries] == [
            ("a", "k<half>", 1),
            ("b", "k<float>", 2),
        ]


class TestMatching:
    def test_unused_entries(self) -> None:
        contract = "entries:\n  add: {inputs: [x, y], outputs: [z]}\n  sub: x\n  mul: {outputs: [x], source_entry_name: ad}\n"
        resolution = _resolve(ADD, contract)
        assert [(each.rule, str(each.at)) for each in resolution.findings] == [
            ("codegen.io-contract-entry-unused", "c.yaml:3:3"),
            ("codegen.io-contract-entry-unused", "c.yaml:4:42"),
        ]
        assert "did you mean 'add'?" in resolution.findings[1].hint
        assert [entry.name for entry in resolution.entries] == ["add"]

    def test_source_and_public_names(self) -> None:
        roles = "inputs: [x, y], outputs: [z]"
        for text in (f"other: {{source_entry_name: add, {roles}}}", f"other: {{bind_target: add, {roles}}}"):
            assert [entry.name for entry in _resolve(ADD, f"entries: {{{text}}}").entries] == ["other"]
        (entry,) = _resolve(ADD, f"entries: {{other: {{public_entry_name: add, {roles}}}}}").entries
        assert entry.name == "add"

    def test_bind_target_against_source_name(self) -> None:
        source = ADD + ADD.replace("add", "sub")
        contract = "entries: {e: {source_entry_name: add, bind_target: sub, inputs: [x, y], outputs: [z]}}"
        resolution = _resolve(source, contract)
        assert "io-contract-bind-target-mismatch" in _rules(resolution) and not resolution.entries

    def test_bind_target_against_the_key(self) -> None:
        finding = _only(_resolve(ADD, "entries: {add: {bind_target: 'sub<half>', inputs: [x, y], outputs: [z]}}"))
        assert finding.rule == "codegen.io-contract-bind-target-mismatch" and "the entry's key is one: 'add'" in finding.message

    def test_kernels_of_two_namespaces(self) -> None:
        one = "namespace {} {{ __global__ __vector__ void k(GM_ADDR x) {{}} }}\n"
        source = one.format("a") + one.format("b")
        assert _rules(_resolve(source)) == ["pybind-entry-specialization-ambiguous"]
        finding = _resolve(source, "entries: {k: {outputs: [x]}}").findings[0]
        assert finding.rule == "codegen.kernel-name-ambiguous" and "a::k or b::k" in finding.message
        contract = "entries:\n  ka: {source_entry_name: a::k, outputs: [x]}\n  kb: {bind_target: b::k, outputs: [x]}\n"
        resolution = _resolve(source, contract)
        assert [(each.name, each.bind_target) for each in resolution.entries] == [("ka", "a::k"), ("kb", "b::k")]

    def test_overloads(self) -> None:
        source = "__global__ __vector__ void k(GM_ADDR x) {}\n__global__ __vector__ void k(GM_ADDR x, int n) {}\n"
        finding = _only(_resolve(source, "entries: {k: {outputs: [x]}}"))
        assert finding.rule == "codegen.kernel-overloaded" and str(finding.at) == "k.asc:2:1"

    def test_twins_in_branches_are_one_kernel(self) -> None:
        source = f"#if A\n{ADD}#else\n{ADD}#endif\n"
        resolution = _resolve(source, "entries: {add: {inputs: [x, y], outputs: [z]}}")
        assert resolution.findings == () and [entry.kernel.line for entry in resolution.entries] == [2]

    def test_twins_with_other_parameters(self) -> None:
        source = "#if A\n{}#else\n{}#endif\n".format(ADD, ADD.replace("uint32_t n", "int n"))
        assert _rules(_resolve(source, "entries: {add: {inputs: [x, y], outputs: [z]}}")) == ["kernel-overloaded"]

    def test_twins_of_other_kernel_types_are_a_warning(self) -> None:
        source = "#if A\n{}#else\n{}#endif\n".format(ADD, ADD.replace("__vector__", "__cube__"))
        resolution = _resolve(source, "entries: {add: {inputs: [x, y], outputs: [z]}}")
        assert resolution.findings[0].severity is Severity.WARNING and len(resolution.entries) == 1

    def test_one_contract_for_several_files(self) -> None:
        contract = load(
            b"entries:\n  add: {inputs: [x, y], outputs: [z]}\n  sub: {inputs: [x, y], outputs: [z]}\n  no: x\n", "c.yaml"
        )
        units = [read(ADD.encode(), "a.asc"), read(ADD.replace("add", "sub").encode(), "b.asc")]
        first, second = resolve_units(units, contract)
        assert ([each.name for each in first.entries], [each.name for each in second.entries]) == (["add"], ["sub"])
        assert (_rules(first), _rules(second)) == (["io-contract-entry-unused"], [])

    def test_one_kernel_name_in_two_files(self) -> None:
        source = b"__global__ __vector__ void k(GM_ADDR x) {}"
        first, second = resolve_units([read(source, "a.asc"), read(source, "b.asc")], None)
        assert _rules(first) == ["pybind-entry-specialization-ambiguous"] * 2 and not first.entries and not second.entries


def test_runtime_wrapper_sources() -> None:
    contract = load(b"entries:\n  k: {outputs: [x], runtime_wrapper: {source: w.cpp, entry: launch}}\n  j: x\n", "c.yaml")
    with_wrapper, without = contract.entries
    (missing,) = check_wrapper(with_wrapper, None)
    assert (missing.rule, str(missing.at)) == ("codegen.runtime-wrapper-source-missing", "c.yaml:2:47")
    assert check_wrapper(with_wrapper, tokenize("at::Tensor launch (int n) {}")) == ()
    (absent,) = check_wrapper(with_wrapper, tokenize('// launch(\nconst char *s = "launch("; int launch = 3;'))
    assert (absent.rule, str(absent.at)) == ("codegen.runtime-wrapper-entry-missing", "c.yaml:2:61")
    assert check_wrapper(without, None) == ()
