"""Codegen as a whole: wrappers behind their kernels, marks of conditional kernels, findings at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from skrules.contract.load import load
from skrules.contract.model import Contract
from skrules.errors import NeedsHuman
from skrules.rules.generation import OperatorInput, OperatorText, generate
from skrules.source.kernels import read
from skrules.source.model import SourceUnit

KERNEL = """#include "kernel_operator.h"
__global__ __vector__ void cat(GM_ADDR xs, GM_ADDR out) {}
"""
CONTRACT = """entries:
  cat:
    inputs: [xs]
    outputs: [out]
    parameters: {xs: tensor_list}
    runtime_wrapper:
      source: host/wrapper.cpp
      entry: cat_run
      tensor_list_descriptor_strategy: prepared_workspace_tail
      prepare_entry: cat_prepare
      descriptor_bytes: 64
      descriptor_order: [xs]
"""
WRAPPER = """namespace ascendc_ops {
const char *cat_run(const skrules_launch &launch) { cat<<<launch.blocks, nullptr, launch.stream>>>(nullptr, nullptr); }
const char *cat_prepare(const skrules_prepare &) { return nullptr; }
}"""


def made(kernel: str = KERNEL, contract: str = CONTRACT, wrapper: str | None = WRAPPER) -> OperatorText:
    units = [read(kernel.encode(), "ops/cat/cat.asc")]
    wrappers = {} if wrapper is None else {"host/wrapper.cpp": read(wrapper.encode(), "ops/cat/host/wrapper.cpp")}
    decisions = load(contract.encode(), "ops/cat/contract.yaml")
    return generated("cat", units, decisions, {"ops/cat/cat.asc": "gen/cat.asc"}, {}, wrappers)


def generated(
    name: str,
    units: Sequence[SourceUnit],
    contract: Contract | None,
    paths: Mapping[str, str],
    headers: Mapping[str, Sequence[SourceUnit]],
    wrappers: Mapping[str, SourceUnit] | None = None,
    options: Sequence[str] = (),
) -> OperatorText:
    operator = OperatorInput(
        name=name, units=tuple(units), contract=contract, headers=headers, wrappers=wrappers or {}, options=options
    )
    return generate(operator, paths)


def test_a_wrapper_stands_between_its_kernel_and_the_launchers() -> None:
    text = made().adapted["ops/cat/cat.asc"].decode()
    places = [
        text.index(part) for part in (KERNEL, "SK_BIND(cat,", '#line 1 "ops/cat/host/wrapper.cpp"\n' + WRAPPER, "// Launchers of")
    ]
    assert places == sorted(places)
    # The launchers name the generated file, and their own line of it.
    before, _, after = text.partition("\n// Launchers of")
    assert before.splitlines()[-1] == f'#line {len(before.splitlines()) + 1} "gen/cat.asc"'
    assert "ascendc_ops::cat_run(" in after


def test_a_wrapper_in_a_folder_finds_its_neighbours() -> None:
    assert made().options["ops/cat/cat.asc"] == "-iquote\nops/cat/host\n"


def test_a_byte_order_mark_of_a_wrapper_goes() -> None:
    text = made(wrapper="\N{BYTE ORDER MARK}" + WRAPPER).adapted["ops/cat/cat.asc"]
    assert "\N{BYTE ORDER MARK}".encode() not in text and made().adapted["ops/cat/cat.asc"] == text


def test_the_descriptor_has_the_workspace_of_the_descriptors() -> None:
    assert "&skrules_code_cat, 1, 2, 64, 0}" in made().descriptor


def test_what_is_wrong_with_a_wrapper_stops_the_operator() -> None:
    with pytest.raises(NeedsHuman) as caught:
        made(wrapper=None)
    assert "cat: 1 finding to settle" in str(caught.value)
    assert "there is no file 'host/wrapper.cpp' [codegen.runtime-wrapper-source-missing]" in str(caught.value)
    with pytest.raises(NeedsHuman) as caught:
        made(
            wrapper="int nothing; __global__ void __vector__ hidden(GM_ADDR x) {}",
            kernel=KERNEL.replace("__vector__ ", ""),
        )
    for rule in ("runtime-wrapper-entry-missing", "runtime-wrapper-kernel", "kernel-type-missing"):
        assert rule in str(caught.value)


def test_order_of_descriptors_is_that_of_the_lists() -> None:
    kernel = KERNEL.replace("GM_ADDR xs", "GM_ADDR xs, GM_ADDR ys")
    contract = CONTRACT.replace("[xs]\n    outputs", "[xs, ys]\n    outputs").replace(
        "xs: tensor_list", "xs: tensor_list, ys: tensor_list"
    )
    assert made(kernel, contract.replace("descriptor_order: [xs]", "descriptor_order: [xs, ys]"))
    with pytest.raises(NeedsHuman, match=r"descriptor_order is \[ys, xs\], but the tensor lists are declared as \[xs, ys\]"):
        made(kernel, contract.replace("descriptor_order: [xs]", "descriptor_order: [ys, xs]"))


def test_a_conditional_kernel_is_marked_where_it_stands() -> None:
    kernel = KERNEL.replace("__global__", "#if FAST\n__global__", 1) + "#endif\n"
    text = made(kernel).adapted["ops/cat/cat.asc"].decode()
    mark, condition, launchers = (
        text.index(part) for part in ("#define SKRULES_KERNEL_cat 1", "#endif", "#ifndef SKRULES_KERNEL_cat")
    )
    assert text.index("SK_BIND(cat,") < mark < condition < launchers
    assert "its kernel stands under '#if FAST', which does not hold in this build" in text
    # Lines of the user's file keep their numbers behind the mark.
    assert '#line 4 "ops/cat/cat.asc"\n#endif' in text


def test_two_files_cannot_share_a_wrapper() -> None:
    units = [read(KERNEL.encode(), "a.asc"), read(KERNEL.replace("void cat", "void dog").encode(), "b.asc")]
    contract = CONTRACT + CONTRACT.partition("\n")[2].replace("  cat:", "  dog:", 1)
    wrappers = {"host/wrapper.cpp": read(WRAPPER.encode(), "host/wrapper.cpp")}
    with pytest.raises(NeedsHuman, match=r"host/wrapper\.cpp is the wrapper of kernels in a\.asc and in b\.asc"):
        generated("cat", units, load(contract.encode(), "c.yaml"), {"a.asc": "a", "b.asc": "b"}, {}, wrappers)


def test_a_main_is_renamed_where_there_is_one() -> None:
    assert "-Dmain" not in made().options["ops/cat/cat.asc"]
    renamed = "-Dmain=skrules_main_ops_2fcat_2fcat_2easc\n"
    assert made(kernel=KERNEL + "int main() { return 0; }\n").options["ops/cat/cat.asc"].endswith(renamed)
    # What it includes is compiled with it, and so is its wrapper.
    assert made(wrapper=WRAPPER + "\nint main() { return 0; }\n").options["ops/cat/cat.asc"].endswith(renamed)


def test_a_name_that_the_author_gave_main_stays() -> None:
    unit = read(b"__global__ __vector__ void k() {}\nint main() {}\n", "k.asc")
    contract = load(b"entries: {k: {compile: {defines: [main=trial]}}}", "c.yaml")
    assert generated("k", [unit], contract, {"k.asc": "k.asc"}, {}).options["k.asc"] == "-Dmain=trial\n"
    assert generated("k", [unit], None, {"k.asc": "k.asc"}, {}, {}, ["-Dmain=trial"]).options["k.asc"] == ""
    assert "-Dmain=" in generated("k", [unit], None, {"k.asc": "k.asc"}, {}, {}, ["-Dmainly", "-Umain"]).options["k.asc"]


def test_every_source_has_a_main_of_its_own() -> None:
    paths = ("a/b.asc", "a/b_asc", "a_b.asc", "a_2fb.asc", "\N{LATIN SMALL LETTER E WITH ACUTE}.asc")
    units = [
        read(f"__global__ __vector__ void k{index}() {{}}\nint main() {{}}\n".encode(), path) for index, path in enumerate(paths)
    ]
    options = generated("k", units, None, {path: path for path in paths}, {}).options
    assert len(set(options.values())) == len(paths) and all(text.isascii() for text in options.values())


def test_a_main_in_a_header_counts() -> None:
    header = read(b"int main() { return 0; }", "a/tool.h")
    unit = read(b'#include "tool.h"\n__global__ __vector__ void k() {}', "a/k.asc")
    assert "-Dmain=" in generated("k", [unit], None, {"a/k.asc": "k.asc"}, {"a/k.asc": [header]}).options["a/k.asc"]


TYPED = '#include "kernel_operator.h"\n__global__ __vector__ void k(GM_ADDR x) { DTYPE_X a; GET_TILING_DATA(t, x); }\n'
REGISTERED = "REGISTER_TILING_DEFAULT(int);\n"


def test_a_kernel_of_the_operator_build_is_one_finding() -> None:
    contract = load(b"entries: {k: {outputs: [x], compile: {defines: [DTYPE_X=half]}}}", "c.yaml")
    unit = read((REGISTERED + TYPED).encode(), "k.asc")
    with pytest.raises(NeedsHuman, match="1 finding to settle") as caught:
        generated("k", [read(TYPED.encode(), "k.asc")], None, {"k.asc": "k.asc"}, {})
    assert str(caught.value).count("source.not-direct-launch") == 1
    for words in (["-DDTYPE_X=half"], ["-O2", "-D", "DTYPE_X"], ["-include", "types.h"]):
        assert generated("k", [unit], None, {"k.asc": "k.asc"}, {}, {}, words).adapted
    assert generated("k", [unit], contract, {"k.asc": "k.asc"}, {}).adapted
    with pytest.raises(NeedsHuman, match="generates DTYPE_X"):
        generated("k", [unit], None, {"k.asc": "k.asc"}, {}, {}, ["-UDTYPE_X", "x-DDTYPE_X"])


def test_the_descriptor_has_the_type_that_the_contract_decides() -> None:
    body = "KERNEL_TASK_TYPE(1, KERNEL_TYPE_AIV_ONLY); KERNEL_TASK_TYPE(2, KERNEL_TYPE_MIX_AIC_1_1);"
    unit = read(f'#include "kernel_operator.h"\n__global__ __aicore__ void k() {{ {body} }}\n'.encode(), "k.asc")
    contract = load(b'entries: {k: {sk: {kernel_type: "mix(1, 1)"}}}', "c.yaml")
    text = generated("k", [unit], contract, {"k.asc": "k.asc"}, {})
    assert '{"k", "k", SKRULES_MIX, 1, 1,' in text.descriptor
    assert b"__sk__ __mix__(1, 1) void k_sk(" in text.adapted["k.asc"]
    with pytest.raises(NeedsHuman):
        generated("k", [unit], load(b"entries: {k: {}}", "c.yaml"), {"k.asc": "k.asc"}, {})
