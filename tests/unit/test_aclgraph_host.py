"""What an entry is for Python and torch: schemas, the C++ that is called, and what cannot be packaged."""

from __future__ import annotations

import pytest

from skrules.aclgraph.entry import PackageEntry, PackageParameter, package_parameter
from skrules.aclgraph.host import check_host, with_host_part
from skrules.contract.check import resolve
from skrules.contract.load import load
from skrules.errors import UsageError
from skrules.source.kernels import read


def entries(kernel, contract=""):
    unit = read(f'#include "kernel_operator.h"\n{kernel}'.encode(), "k.asc")
    text = f"schema_version: 1\nentries:\n{contract}"
    resolution = resolve(unit, load(text.encode(), "contract.yaml") if contract else None)
    assert not resolution.findings, [str(finding) for finding in resolution.findings]
    return resolution.entries


def packaged(entry):
    parameters = tuple(package_parameter(parameter) for parameter in entry.parameters)
    return PackageEntry(name=entry.name, csrc_file="csrc/k.asc", parameters=parameters, returned=entry.return_parameter)


def host(kernel, contract=""):
    return with_host_part(b"", entries(kernel, contract), "\n").decode()


def test_schemas_of_every_kind_of_parameter():
    (entry,) = entries(
        "struct T { int a; };\n"
        "__global__ __vector__ void k(GM_ADDR x, GM_ADDR y, GM_ADDR w, half h, bool b, short s, T t, int in) {}\n",
        "  k:\n    inputs: [x]\n    outputs: [y]\n    workspaces: [w]\n"
        "    parameters: {w: {kind: tensor, nullable: true}, t: host_struct}\n",
    )
    known = packaged(entry)
    assert known.schema == "k(Tensor x, Tensor y, Tensor? w, float h, bool b, int s, int[] t, int in_) -> Tensor"
    assert known.launch_schema == (
        "k.launch(Tensor x, Tensor(a0!) y, Tensor(a1!)? w, float h, bool b, int s, int[] t, int in_) -> ()"
    )
    assert known.return_index == 1
    assert known.has_device


def test_a_kernel_of_scalars_returns_nothing():
    (entry,) = entries("__global__ __vector__ void tick(uint32_t x) {}\n")
    known = packaged(entry)
    assert (known.schema, known.return_index, known.has_device) == ("tick(int x) -> ()", None, False)
    text = host("__global__ __vector__ void tick(uint32_t x) {}\n")
    assert "void run_tick(int64_t x) {" in text
    assert "return" not in text.split("namespace ascendc_ops {")[1]


def test_a_tensor_that_is_returned_cannot_be_absent():
    with pytest.raises(UsageError, match="cannot be nullable"):
        entries(
            "__global__ __vector__ void k(GM_ADDR x) {}\n",
            "  k: {inputs: [x], outputs: [x], parameters: {x: {kind: tensor, nullable: true}}}\n",
        )


@pytest.mark.parametrize(
    ("kernel_type", "blocks"),
    [
        ("__vector__", "host::vectorBlocks(1)"),
        ("__cube__", "host::cubeBlocks(1)"),
        ("__aicore__", "host::cubeBlocks(1)"),
        ("__mix__(1, 2)", "host::cubeBlocks(1)"),
        ("__mix__(2, 2)", "host::cubeBlocks(2)"),
        ("__mix__(0, 2)", "host::vectorBlocks(2)"),
    ],
)
def test_blocks_count_the_cores_that_a_kernel_runs_on(kernel_type, blocks):
    assert f"k<<<{blocks}, nullptr" in host(f"__global__ {kernel_type} void k(GM_ADDR x) {{}}\n")


def test_blocks_count_the_cores_of_a_type_that_the_contract_gives():
    decision = '  k: {inputs: [x], outputs: [x], sk: {kernel_type: "vector"}}\n'
    assert "k<<<host::vectorBlocks(1), nullptr" in host("__global__ __aicore__ void k(GM_ADDR x) {}\n", decision)


def test_blocks_of_the_contract():
    contract = "  k: {inputs: [x], outputs: [x], launch: {block_dim: 9}}\n"
    assert "k<<<9, nullptr" in host("__global__ __vector__ void k(GM_ADDR x) {}\n", contract)


def test_specialisations_of_one_template_are_entries_of_their_own():
    kernel = "template <typename T> __global__ __vector__ void k(GM_ADDR x, T v) {}\n"
    contract = "".join(
        f"  k_{name}: {{bind_target: 'k<{name}>', inputs: [x], outputs: [x]}}\n" for name in ("half", "float", "int32_t")
    )
    text = host(kernel, contract)
    assert "k<half><<<" in text
    assert 'host::float16<half>("k_half: v", v)' in text
    assert 'host::real<float>("k_float: v", v)' in text
    assert 'host::integer<int32_t>("k_int32_t: v", v)' in text


def test_types_of_a_namespace_are_named_from_inside_of_it():
    kernel = "namespace a::b { enum class M : uint8_t { X }; __global__ __vector__ void k(GM_ADDR x, M m) {} }\n"
    text = host(kernel)
    assert "using run_k_m = M;" in text
    assert "host::integer<::a::b::run_k_m>" in text
    assert "a::b::k<<<" in text


def test_parameters_may_have_any_name():
    text = host("__global__ __vector__ void k(GM_ADDR k, uint32_t guard, float host) {}\n")
    assert "::k<<<" in text
    assert "c10::OptionalDeviceGuard guard_2(" in text


def test_a_byte_order_mark_stays_first_and_line_ends_stay():
    (entry,) = entries("__global__ __vector__ void k(GM_ADDR x) {}\n")
    made = with_host_part(b"\xef\xbb\xbf// k\r\n", [entry], "\r\n")
    assert made.startswith(b'\xef\xbb\xbf#include "ascendc_ops.h"\r\n// k\r\n')
    assert b"\n" not in made.replace(b"\r\n", b"")


@pytest.mark.parametrize(
    ("kernel", "contract", "rule"),
    [
        ("__global__ __vector__ void pybind11_x(GM_ADDR x) {}\n", "", "codegen.pybind-entry-name-reserved"),
        ("__global__ __vector__ void pybind11(GM_ADDR x) {}\n", "", "codegen.pybind-entry-name-reserved"),
        ("__global__ __mix__(A, B) void k(GM_ADDR x) {}\n", "", "codegen.launch-block-dim-required"),
        (
            "__global__ __vector__ void k(GM_ADDR x, Num n) {}\n",
            "  k: {inputs: [x], outputs: [x], parameters: {n: scalar}}\n",
            "codegen.scalar-type-unresolved",
        ),
    ],
)
def test_what_cannot_be_packaged_is_a_finding(kernel, contract, rule):
    (entry,) = entries(kernel, contract)
    assert [finding.rule for finding in check_host(entry)] == [rule]


def test_parameters_survive_the_manifest():
    (entry,) = entries("__global__ __vector__ void k(GM_ADDR x, half h) {}\n")
    for parameter in packaged(entry).parameters:
        assert PackageParameter.from_json(parameter.to_json()) == parameter
