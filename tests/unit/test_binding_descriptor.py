"""The descriptor as text, and that it is C++ which stands alone."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from test_binding_launcher import AT, VECTOR, check_golden, entry, parameter, scale

from skrules.binding import templates
from skrules.binding.descriptor import render_descriptor
from skrules.binding.templates import c_string
from skrules.contract.dtypes import DTYPES
from skrules.contract.entry import Entry
from skrules.contract.model import EntryContract, SuperKernelDecision
from skrules.errors import Location, NeedsHuman, UsageError
from skrules.source.model import CoreType, KernelType


def rendered(*entries: Entry, kernel_type: KernelType = VECTOR) -> str:
    return render_descriptor("sample", entries, {one.name: kernel_type for one in entries})


def test_a_descriptor_as_a_whole() -> None:
    check_golden("descriptor.cpp", rendered(scale(), entry("nothing")))


@pytest.mark.parametrize("standard", ["c++17", "c++20"])
def test_a_descriptor_compiles_alone(tmp_path: Path, standard: str) -> None:
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("no g++")
    source = tmp_path / "descriptor.cpp"
    source.write_text(rendered(scale(), entry("nothing")))
    command = [
        compiler,
        f"-std={standard}",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-pedantic",
        f"-I{templates.directory()}",
        "-c",
        str(source),
    ]
    module = ["-DSKRULES_MODULE=sample_dav_2201", "-DSKRULES_ARCH=dav-2201", "-DSKRULES_TOOLCHAIN=host"]
    for defines, expected in (([], ""), (module, "")):
        done = subprocess.run([*command, *defines, "-o", str(tmp_path / "d.o")], capture_output=True, text=True, check=False)
        assert done.stderr == expected
    assert b"PyInit_sample_dav_2201" in (tmp_path / "d.o").read_bytes()
    done = subprocess.run([*command, *module[:1], "-o", str(tmp_path / "d.o")], capture_output=True, text=True, check=False)
    assert "SKRULES_MODULE needs SKRULES_ARCH and SKRULES_TOOLCHAIN" in done.stderr


@pytest.mark.parametrize(
    ("kernel_type", "row"),
    [
        (VECTOR, "SKRULES_VECTOR, 0, 1"),
        (KernelType(core=CoreType.CUBE), "SKRULES_CUBE, 1, 0"),
        (KernelType(core=CoreType.MIX, aic="1", aiv=" 2 "), "SKRULES_MIX, 1, 2"),
        (KernelType(core=CoreType.BARE), "SKRULES_BARE, 0, 0"),
    ],
)
def test_cores_of_a_block(kernel_type: KernelType, row: str) -> None:
    assert f'{{"nothing", "nothing", {row}, 0, 0,' in rendered(entry("nothing"), kernel_type=kernel_type)


@pytest.mark.parametrize("ratio", [("", ""), ("1", "N"), ("1", "-2"), ("1", "256"), ("1", "²")])
def test_a_ratio_that_is_no_number_is_for_a_human(ratio: tuple[str, str]) -> None:
    with pytest.raises(NeedsHuman, match=r"contract\.yaml:3:5: entry 'nothing' is __mix__\(.*the number of cores"):
        rendered(entry("nothing"), kernel_type=KernelType(core=CoreType.MIX, aic=ratio[0], aiv=ratio[1]))


def test_a_kernel_without_a_type_is_for_a_human() -> None:
    with pytest.raises(NeedsHuman, match="entry 'nothing' has no core type"):
        rendered(entry("nothing"), kernel_type=KernelType(core=CoreType.NONE))


def test_block_dim_of_the_contract() -> None:
    fixed = replace(entry("nothing"), contract=EntryContract(name="nothing", at=AT, block_dim=20))
    assert '{"nothing", "nothing", SKRULES_VECTOR, 0, 1, 20, 0,' in rendered(fixed)


def test_an_entry_that_has_the_most_blocks() -> None:
    accepting = EntryContract(name="nothing", at=AT, sk=SuperKernelDecision(helper_block_num="accept"))
    assert "&skrules_code_nothing, -1, -1, 0, 0}" in rendered(entry("nothing"))
    assert "&skrules_code_nothing, -1, -1, 0, 1}" in rendered(replace(entry("nothing"), contract=accepting))


def test_an_unknown_dtype_names_its_place() -> None:
    place = Location(file="contract.yaml", line=9, column=12)
    contract = EntryContract(name="a", at=AT, positions={"parameters.x": place})
    wrong = replace(entry("a", parameter("x", "GM_ADDR", dtype="flaot16")), contract=contract)
    with pytest.raises(UsageError) as caught:
        rendered(wrong)
    assert "contract.yaml:9:12: a: parameter 'x' has the unknown dtype 'flaot16'" in str(caught.value)
    assert caught.value.hint == "did you mean 'float16'?"


@pytest.mark.parametrize("rank", [-1, 128])
def test_a_rank_that_cannot_be(rank: int) -> None:
    with pytest.raises(UsageError, match=f"parameter 'x' has the rank {rank}"):
        rendered(entry("a", parameter("x", "GM_ADDR", rank=rank)))


def test_an_operator_without_entries() -> None:
    with pytest.raises(UsageError, match="operator 'sample' has no entries to bind"):
        rendered()


@pytest.mark.parametrize(
    ("text", "literal"),
    [
        ("plain <T>", '"plain <T>"'),
        ('say "x"\\', '"say \\042x\\042\\134"'),
        ("a\n1", '"a\\0121"'),
        ("\xc3\xa4", '"\\303\\244"'),
        ("量", '"\\351\\207\\217"'),
        ("??/", '"\\077\\077/"'),
    ],
)
def test_text_as_a_literal(text: str, literal: str) -> None:
    assert c_string(text) == literal


def test_the_runtime_knows_every_dtype_of_a_contract() -> None:
    header = (templates.directory() / "runtime" / "entry.h").read_text()
    assert set(re.findall(r'\{"(\w+)", at::k\w+\}', header)) == set(DTYPES)
