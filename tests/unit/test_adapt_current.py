"""Files that are bound already are used as they are; only names that CANN changed are brought up to date."""

from __future__ import annotations

from skrules.adapt.adaptation import AdaptedSource, adapt
from skrules.contract.check import resolve
from skrules.contract.load import load
from skrules.source.kernels import read

BOUND = """#include "kernel_operator.h"

namespace ns {
template <typename T>
__global__ __mix__(1, 2) void k(GM_ADDR x, T n) {}

template <typename T>
struct Block {
    GM_ADDR x;
    T n;
};

template <typename T, uint32_t split>
__sk__ __mix__(1, 2) void twin(const Block<T> *block, sk::SkSystemArgs *system) { (void)system->skNumBlocks; }

SK_BIND(k<float>, 5,
        twin<float, 0>, twin<float, 1>);
SK_BIND(static_cast<void (*)(GM_ADDR, int)>(ns::k<int>), 4, twin<int, 0>);
}  // namespace ns
"""
CONTRACT = """
entries:
  of_float: {bind_target: "ns::k<float>", outputs: [x]}
  of_int: {bind_target: "ns::k<int>", outputs: [x]}
"""


def run(source: str) -> AdaptedSource:
    unit = read(source.encode(), "k.asc")
    return adapt(unit, resolve(unit, load(CONTRACT.encode(), "c.yaml")))


def test_a_bound_file_stays_byte_for_byte() -> None:
    source = run(BOUND)
    assert source.status == "already-current"
    assert source.text() == BOUND.encode()


def test_its_entries_say_what_the_file_says() -> None:
    first, second = run(BOUND).entries
    assert (first.sk_function, first.args_struct, first.sk_type) == ("twin", "Block<T>", "__mix__(1, 2)")
    assert (first.mask, first.splits, first.uses_sys_args) == (5, 2, True)
    assert first.bind_line == "SK_BIND(k<float>, 5, twin<float, 0>, twin<float, 1>);"
    assert (second.mask, second.splits) == (4, 1)


def test_legacy_names_are_renamed_in_code_only() -> None:
    old = BOUND.replace("system->skNumBlocks;", "system->skBlockNum + system->SkGetBlockNum();  // skBlockNum")
    source = run(old)
    assert source.status == "completed"
    expected = BOUND.replace("system->skNumBlocks;", "system->skNumBlocks + system->SkGetNumBlocks();  // skBlockNum")
    assert source.text().decode() == expected
    notes = [finding for finding in source.findings if finding.rule == "codegen.inline-sys-args-api-current"]
    assert [str(note.at) for note in notes] == ["k.asc:14:97", "k.asc:14:118"]


def test_comments_do_not_make_a_bound_file() -> None:
    plain = (
        '#include "kernel_operator.h"\n// TODO: __sk__ twin and SK_BIND(k, 4, k_sk)\n__global__ __vector__ void k(GM_ADDR x) {}\n'
    )
    unit = read(plain.encode(), "k.asc")
    source = adapt(unit, resolve(unit, load(b"entries: {k: {outputs: [x]}}", "c.yaml")))
    assert source.status == "completed"
    assert b"SK_BIND(k, 4, k_sk<0>" in source.text()
