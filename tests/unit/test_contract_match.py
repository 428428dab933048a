"""Which contract entry speaks of which kernel."""

from __future__ import annotations

import pytest

from skrules.contract.load import load
from skrules.contract.match import group_kernels, match_entries, parse_target
from skrules.source.kernels import read

KERNELS = """
namespace a { __global__ __vector__ void k(GM_ADDR x) {} }
namespace b { namespace c { __global__ __vector__ void k(GM_ADDR x) {} } }
__global__ __vector__ void only(GM_ADDR x) {}
template <typename T> __global__ __vector__ void t(GM_ADDR x) {}
template <> __global__ __vector__ void t<half>(GM_ADDR x) {}
"""


def matched(entry: str) -> tuple[list[str], list[str]]:
    """Return the kernels that an entry is matched with, and the rules of what is said of it."""
    groups, _ = group_kernels(read(KERNELS.encode(), "k.asc"))
    found = match_entries(groups, load(f"entries: {{{entry}}}".encode(), "c.yaml").entries)
    names = [group.kernel.qualified_name + group.kernel.specialisation for group in groups]
    return [name for name, of in zip(names, found.of, strict=True) if of], [finding.rule for finding in found.findings]


@pytest.mark.parametrize(
    ("entry", "kernels"),
    [
        ("only: {}", ["only"]),
        ("x: {source_entry_name: '::only'}", ["only"]),
        ("x: {source_entry_name: 'c::k'}", ["b::c::k"]),
        ("x: {bind_target: 'b::c::k'}", ["b::c::k"]),
        ("x: {bind_target: 't<float>'}", ["t"]),
        ("x: {bind_target: 't< half >'}", ["t<half>"]),
    ],
)
def test_an_entry_finds_its_kernel(entry: str, kernels: list[str]) -> None:
    assert matched(entry) == (kernels, [])


@pytest.mark.parametrize(
    ("entry", "rule"),
    [
        ("k: {}", "codegen.kernel-name-ambiguous"),
        ("x: {}", "codegen.io-contract-entry-unused"),
        ("x: {source_entry_name: 'nly'}", "codegen.io-contract-entry-unused"),
        ("only: {bind_target: 'other'}", "codegen.io-contract-bind-target-mismatch"),
        ("x: {source_entry_name: only, bind_target: 'a::k'}", "codegen.io-contract-bind-target-mismatch"),
    ],
)
def test_an_entry_that_fits_none_or_two_decides_nothing(entry: str, rule: str) -> None:
    assert matched(entry) == ([], [rule])


def test_kernels_of_one_name_in_two_files_are_told_apart_by_no_line_of_the_contract() -> None:
    groups = [group for name in ("a.asc", "b.asc") for group in group_kernels(read(b"__global__ void k() {}\n", name))[0]]
    entries = load(b"entries:\n  k: {source_entry_name: k}\n", "c.yaml").entries
    (finding,) = match_entries(groups, entries).findings
    assert finding.message == "entry 'k' may mean more than one kernel 'k': a.asc:1:1, b.asc:1:1"
    assert "source_entry_name" not in finding.hint


@pytest.mark.parametrize("text", ["", "f(", "f<", "f<a", "1f", "f<a>>"])
def test_what_is_no_target(text: str) -> None:
    assert parse_target(text) is None
