"""The arch table: what the real file says, and what a wrong file is told."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from skrules.arch import ArchTable, SkBind
from skrules.arch_file import load_archs
from skrules.errors import ToolchainError, UsageError

TABLE = """\
sources:
  book: https://example.org/book
archs:
  dav-1234:
    npu_arch: { source: book, value: 1234 }
    memory: { source: book, ub: 1024, l1: 2048, l0a: 64, l0b: 64, l0c: 128, bt: 16, fb: 16 }
    mix: { source: book, value: ["1:1", "1:2"] }
    sk_bind: { source: book, value: documented }
    reference_chip: { source: book, value: Chip1 }
    families: { source: book, value: [ChipAll] }
    chips: { source: book, Chip1: [2, 4], Chip_2-x: [1, 2] }
    soc_versions: { source: book, 7: Chip1, 8: ChipAll }
not_supported:
  dav-1000:
    chips: { source: book, value: [Chip] }
    soc_versions: { source: book, value: [3] }
"""


def load(tmp_path: Path, text: str) -> ArchTable:
    path = tmp_path / "archs.yaml"
    path.write_text(text)
    return load_archs(path)


@pytest.fixture(scope="module")
def real() -> ArchTable:
    return load_archs()


@pytest.mark.parametrize("name", ["dav-2201", "dav_2201", "DAV-2201", " Dav_2201 "])
def test_an_arch_is_found_in_every_spelling(real, name):
    assert real.arch(name).name == "dav-2201"
    assert real.arch(name).suffix == "dav_2201"


@pytest.mark.parametrize("name", ["", "2201", "dav2201", "dav-2202", "dav-2201 dav-3510", "a2"])
def test_an_unknown_arch_lists_the_known_ones(real, name):
    with pytest.raises(ToolchainError) as caught:
        real.arch(name)
    assert caught.value.allowed == ("dav-2201", "dav-3510")
    assert caught.value.exit_code == 4


def test_a_chip_given_as_arch_is_told_apart(real):
    with pytest.raises(ToolchainError, match=r"Ascend910B3 is a chip of dav-2201"):
        real.arch("Ascend910B3")


@pytest.mark.parametrize(
    ("chip", "arch"),
    [
        ("Ascend910B1", "dav-2201"),
        ("ascend910b4-1", "dav-2201"),
        ("Ascend910B4_1", "dav-2201"),
        ("Ascend910_9391", "dav-2201"),
        ("ascend-910_93", "dav-2201"),
        ("Ascend950PR_9599", "dav-3510"),
        ("ASCEND950", "dav-3510"),
    ],
)
def test_a_chip_leads_to_its_arch(real, chip, arch):
    assert real.arch_of_chip(chip).name == arch


def test_plain_910b_is_not_910b1(real):
    with pytest.raises(ToolchainError) as caught:
        real.arch_of_chip("Ascend910B")
    text = str(caught.value)
    assert "dav-1001" in text
    assert "Ascend910B3" in text
    assert "set ARCH=" in text


@pytest.mark.parametrize("chip", ["Ascend910", "Ascend910A", "Ascend310P3", "Ascend910B5", "Ascend950PR", "910B1", ""])
def test_no_other_chip_is_guessed(real, chip):
    with pytest.raises(ToolchainError, match="set ARCH="):
        real.arch_of_chip(chip)


def test_an_unknown_chip_lists_all_known_ones(real):
    with pytest.raises(ToolchainError) as caught:
        real.arch_of_chip("Ascend999")
    for arch in real.archs:
        for chip in arch.chips:
            assert chip.name in str(caught.value)


@pytest.mark.parametrize(("number", "arch"), [(220, "dav-2201"), (225, "dav-2201"), (256, "dav-2201"), (260, "dav-3510")])
def test_a_soc_version_leads_to_its_arch(real, number, arch):
    assert real.arch_of_soc_version(number).name == arch


@pytest.mark.parametrize("number", [104, 202, 240, 0, -1, 226, 257, 261])
def test_other_soc_versions_are_errors(real, number):
    with pytest.raises(ToolchainError):
        real.arch_of_soc_version(number)


def test_cores_differ_by_chip(real):
    cores = {chip.name: (chip.aic, chip.aiv) for arch in real.archs for chip in arch.chips}
    assert cores["Ascend910B1"] == (24, 48)
    assert cores["Ascend910B3"] == (20, 40)
    assert all(aiv == 2 * aic for aic, aiv in cores.values())


def test_facts_of_the_two_archs(real):
    a2, a5 = real.archs
    assert (a2.npu_arch, a2.memory.ub, a2.memory.l0c) == (2201, 192 * 1024, 128 * 1024)
    assert (a5.npu_arch, a5.memory.ub, a5.memory.l0c) == (3510, 248 * 1024, 256 * 1024)
    assert (a2.sk_bind, a5.sk_bind) == (SkBind.DOCUMENTED, SkBind.NOT_DOCUMENTED)
    assert a2.mix == ((1, 1), (1, 2))


def test_every_fact_has_a_public_source(real):
    for arch in real.archs:
        names = {field.name for field in dataclasses.fields(arch)} - {"name", "sources"}
        assert set(arch.sources) == names
        for urls in arch.sources.values():
            assert urls
            assert all(url.startswith("https://") for url in urls)


def test_a_table_of_ones_own(tmp_path):
    table = load(tmp_path, TABLE)
    arch = table.arch("dav-1234")
    assert arch.reference_chip.aiv == 4
    assert table.arch_of_chip("chip2x") is arch
    assert table.arch_of_soc_version(8) is arch
    with pytest.raises(ToolchainError, match="dav-1000"):
        table.arch_of_soc_version(3)


@pytest.mark.parametrize(
    ("old", "new", "message", "line"),
    [
        ("npu_arch: { source: book, value: 1234 }", "npu_arch: { value: 1234 }", "'source' is missing", 5),
        ("npu_arch: { source: book, value: 1234 }", "npu_arch: 1234", "a mapping is expected", 5),
        ("chips: { source: book, Chip1", "chips: { Chip1", "'source' is missing", 11),
        ("sk_bind: { source: book", "sk_bind: { source: bok", "unknown source 'bok'", 8),
        ("sk_bind: { source: book", "sk_bind: { source: []", "names no source", 8),
        ("value: documented", "value: perhaps", "unknown value 'perhaps'", 8),
        ("ub: 1024", "ub: -1", "a positive whole number", 6),
        ("ub: 1024", "ub: 1KB", "a positive whole number", 6),
        ("ub: 1024, ", "", "'ub' is missing", 6),
        ("ub: 1024", "ub: 1024, uc: 1", "'uc' is unknown", 6),
        ("ub: 1024", "ub: 1024, ub: 2", "duplicate key 'ub'", 6),
        ("value: 1234", "value: 4321", "must be called dav-4321", 5),
        ("value: Chip1", "value: Chip9", "not among the chips", 9),
        ("Chip1: [2, 4]", "Chip1: [2]", "two numbers", 11),
        ('"1:2"', '"1:x"', "not a ratio", 7),
        ("7: Chip1", "7: Chip9", "neither a chip nor a family", 12),
        ("7: Chip1", "seven: Chip1", "not a number", 12),
        ("value: [Chip]", "value: [chip-1]", "belongs to dav-1234 and to dav-1000", 4),
        ("value: [3]", "value: [7]", "belongs to dav-1234 and to dav-1000", 4),
        ("families:", "familys:", "did you mean 'families'?", 10),
        ("not_supported:", "unsupported:", "unknown key 'unsupported'", 13),
    ],
)
def test_a_wrong_table_is_refused_with_its_place(tmp_path, old, new, message, line):
    assert old in TABLE
    with pytest.raises(UsageError) as caught:
        load(tmp_path, TABLE.replace(old, new, 1))
    assert message in str(caught.value)
    assert caught.value.at is not None
    assert caught.value.at.line == line


@pytest.mark.parametrize("text", ["", "[]", "a: [", "\t", "archs: {}\nsources: {}\nnot_supported: {}\n", "&a [*a]"])
def test_a_file_that_is_no_table_is_an_error(tmp_path, text):
    with pytest.raises(UsageError):
        load(tmp_path, text)


def test_no_file(tmp_path):
    with pytest.raises(ToolchainError, match="cannot read"):
        load_archs(tmp_path / "none.yaml")
