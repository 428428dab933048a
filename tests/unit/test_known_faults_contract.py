"""Faults in what is concluded: the form of a file from its comments, kinds of parameters from parts of their types."""

from __future__ import annotations

import pytest

from skrules.aclgraph.entry import PackageEntry, package_parameter
from skrules.aclgraph.host import with_host_part
from skrules.adapt.adaptation import adapt
from skrules.contract.check import resolve
from skrules.contract.entry import Entry
from skrules.contract.load import load
from skrules.contract.model import ParameterKind
from skrules.errors import UsageError
from skrules.source.form import SkForm, classify
from skrules.source.kernels import read
from skrules.source.model import SourceUnit

HEAD = '#include "kernel_operator.h"\n'
BOUND = (
    "__global__ __vector__ void k(GM_ADDR x) {}\nstruct KArgs { GM_ADDR x; };\n"
    "template <uint32_t splitidx>\n__sk__ __vector__ void k_sk(const KArgs *args) {}\nSK_BIND(k, 4, k_sk<0>);\n"
)


def unit_of(text: str) -> SourceUnit:
    return read(f"{HEAD}{text}".encode(), "ops/k.asc")


def entries(text: str, contract: str = "") -> tuple[Entry, ...]:
    resolution = resolve(unit_of(text), load(contract.encode(), "c.yaml") if contract else None)
    assert resolution.findings == ()
    return resolution.entries


def schema(entry: Entry) -> str:
    parameters = tuple(package_parameter(parameter) for parameter in entry.parameters)
    return PackageEntry(name=entry.name, csrc_file="csrc/k.asc", parameters=parameters, returned=entry.return_parameter).schema


@pytest.mark.parametrize(
    "note",
    ["// TODO: add a `__sk__` twin and `SK_BIND(k, 4, k_sk<0>);`\n", 'const char *kTodo = "__sk__ SK_BIND(k, 4, k_sk<0>);";\n'],
)
def test_comments_and_strings_do_not_bind_a_kernel(note: str) -> None:
    unit = unit_of(f"{note}__global__ __vector__ void k(GM_ADDR x) {{ run(x); }}\n")
    assert classify(unit).form is SkForm.NONE
    source = adapt(unit, resolve(unit, None))
    assert (source.status, source.findings, len(source.entries)) == ("completed", (), 1)
    assert source.text().decode().rpartition(note)[2].count("SK_BIND(k, 4, k_sk<0>") == 1


def test_a_kernel_beside_a_bound_one() -> None:
    unit = unit_of(BOUND + "__global__ __cube__ void other(GM_ADDR x) {}\n")
    form = classify(unit)
    assert (form.form, form.bound, form.unbound) == (SkForm.PARTIAL, ("k",), ("other",))
    source = adapt(unit, resolve(unit, None))
    assert source.status == "needs-human"
    (found,) = source.findings
    assert (found.rule, str(found.at)) == ("codegen.unknown-sk-form", "ops/k.asc:5:1")
    assert "not bound: other" in found.message


def test_a_kernel_of_scalars_only() -> None:
    text = "__global__ __vector__ void tick(uint32_t x) { run(x); }\n"
    (entry,) = entries(text)
    assert schema(entry) == "tick(int x) -> ()"
    host = with_host_part(b"", [entry], "\n").decode()
    assert "void run_tick(int64_t x)" in host and "return x" not in host


@pytest.mark.parametrize(
    ("c_type", "schema_type", "cpp", "conversion"),
    [
        ("half", "float", "double", "float16<half>"),
        ("bfloat16_t", "float", "double", "bfloat16<bfloat16_t>"),
        ("float", "float", "double", "real<float>"),
        ("short", "int", "int64_t", "integer<short>"),
        ("unsigned", "int", "int64_t", "integer<unsigned>"),
        ("bool", "bool", "bool", "boolean"),
    ],
)
def test_scalars(c_type: str, schema_type: str, cpp: str, conversion: str) -> None:
    """Each is a scalar without a contract, and Python, C++ and the kernel agree on it."""
    (entry,) = entries(f"__global__ __vector__ void k(GM_ADDR x, {c_type} s) {{ run(x, s); }}\n")
    assert entry.parameters[1].kind is ParameterKind.SCALAR
    assert schema(entry) == f"k(Tensor x, {schema_type} s) -> Tensor"
    host = with_host_part(b"", [entry], "\n").decode()
    assert f"at::Tensor run_k(const at::Tensor &x, {cpp} s)" in host
    assert f"host::{conversion}" in host


def test_a_tensor_that_is_returned_cannot_be_absent() -> None:
    contract = b"entries:\n  k:\n    inputs: [x]\n    outputs: [z]\n    parameters:\n      z: {kind: tensor, nullable: true}\n"
    with pytest.raises(UsageError, match=r"c\.yaml:6:10: 'z' is returned and cannot be nullable"):
        load(contract, "c.yaml")
    other = contract.decode().replace("z: {", "x: {")
    (entry,) = entries("__global__ __vector__ void k(GM_ADDR x, GM_ADDR z) {}\n", other)
    assert schema(entry) == "k(Tensor? x, Tensor z) -> Tensor"


def test_two_specialisations_of_one_template() -> None:
    text = "template <typename T>\n__global__ __vector__ void k(GM_ADDR x, T s) { run<T>(x, s); }\n"
    contract = "entries:\n" + "".join(f"  k_{t}: {{bind_target: 'k<{t}>', inputs: [x], outputs: [x]}}\n" for t in ("half", "int"))
    made = entries(text, contract)
    assert [schema(entry) for entry in made] == ["k_half(Tensor x, float s) -> Tensor", "k_int(Tensor x, int s) -> Tensor"]
    unit = unit_of(text)
    adapted = adapt(unit, resolve(unit, load(contract.encode(), "c.yaml"))).text().decode()
    for name in ("half", "int"):
        assert f"SK_BIND(k<{name}>, 4, k_sk<{name}, 0>, k_sk<{name}, 1>, k_sk<{name}, 2>, k_sk<{name}, 3>);" in adapted
