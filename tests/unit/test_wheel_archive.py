"""The bytes of a wheel: the same for the same files, and never two files in one place."""

from __future__ import annotations

import csv
import hashlib
import io
import random
import zipfile

import pytest

from skrules.errors import UsageError
from skrules.wheel.archive import Part, pack, read_epoch, record_hash

INFO = "ops-1.0.dist-info"


def part(path: str, data: bytes = b"x", origin: str = "") -> Part:
    return Part(path=path, data=data, origin=origin or f"from {path}")


PARTS = [part("ops/b.so", b"b" * 1000), part("ops/a.py", b"a"), part(f"{INFO}/WHEEL"), part(f"{INFO}/METADATA"), part("zz/c.py")]


def opened(data: bytes) -> zipfile.ZipFile:
    return zipfile.ZipFile(io.BytesIO(data))


def test_the_order_of_what_is_given_does_not_matter():
    first = pack(PARTS, dist_info=INFO, epoch=315532800)
    for seed in range(5):
        shuffled = random.Random(seed).sample(PARTS, len(PARTS))
        assert pack(shuffled, dist_info=INFO, epoch=315532800) == first


def test_metadata_come_last_and_record_at_the_very_end():
    names = opened(pack(PARTS, dist_info=INFO, epoch=315532800)).namelist()
    assert names == ["ops/a.py", "ops/b.so", "zz/c.py", f"{INFO}/METADATA", f"{INFO}/WHEEL", f"{INFO}/RECORD"]


def test_times_and_modes_are_fixed():
    infos = opened(pack(PARTS, dist_info=INFO, epoch=1_700_000_000)).infolist()
    assert {info.date_time for info in infos} == {(2023, 11, 14, 22, 13, 20)}
    assert {(info.filename.endswith(".so"), oct(info.external_attr >> 16)) for info in infos} == {
        (True, "0o100755"),
        (False, "0o100644"),
    }
    assert {info.create_system for info in infos} == {3}


def test_record_has_every_file_with_hash_and_size():
    archive = opened(pack(PARTS, dist_info=INFO, epoch=315532800))
    rows = list(csv.reader(archive.read(f"{INFO}/RECORD").decode().splitlines()))
    assert [row[0] for row in rows] == archive.namelist()
    assert rows[1] == ["ops/b.so", record_hash(b"b" * 1000), "1000"]
    assert rows[-1] == [f"{INFO}/RECORD", "", ""]


def test_record_quotes_what_csv_must():
    archive = opened(pack([part("ops/a,b.py")], dist_info=INFO, epoch=315532800))
    assert archive.read(f"{INFO}/RECORD").decode().startswith('"ops/a,b.py",sha256=')


def test_a_hash_is_as_the_format_wants_it():
    # RFC 4648 base64 with the safe alphabet, without its padding.
    assert record_hash(b"") == "sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU"
    assert len(record_hash(b"x")) == len("sha256=") + 43
    assert hashlib.sha256(b"").digest().hex().startswith("e3b0c442")


def test_two_files_in_one_place_are_both_named():
    with pytest.raises(UsageError) as raised:
        pack([part("ops/a.py", origin="one.py of //a"), part("ops/a.py", origin="two.py of //b")], dist_info=INFO, epoch=0)
    assert str(raised.value) == "error: two files of the wheel are 'ops/a.py'\n  one.py of //a\n  two.py of //b"


def test_record_is_written_by_nobody_else():
    with pytest.raises(UsageError, match="RECORD"):
        pack([part(f"{INFO}/RECORD"), part(f"{INFO}/RECORD", origin="other")], dist_info=INFO, epoch=315532800)


@pytest.mark.parametrize("path", ["", "/a", "../a", "a/../b", "a//b", "./a", "a\\b", "a/"])
def test_a_place_outside_of_the_wheel(path):
    with pytest.raises(UsageError, match="is no place in a wheel"):
        pack([part(path, origin="x")], dist_info=INFO, epoch=315532800)


@pytest.mark.parametrize(
    ("environ", "epoch"),
    [({}, 315532800), ({"SOURCE_DATE_EPOCH": "0"}, 315532800), ({"SOURCE_DATE_EPOCH": "1700000000"}, 1700000000)],
)
def test_the_time_of_files(environ, epoch):
    assert read_epoch(environ) == epoch


def test_a_time_that_zip_cannot_tell_is_its_last():
    pack([part("a")], dist_info=INFO, epoch=read_epoch({"SOURCE_DATE_EPOCH": "9" * 30}))


@pytest.mark.parametrize("text", ["now", "-1", "1.5", "²"])
def test_what_is_no_time(text):
    with pytest.raises(UsageError, match="SOURCE_DATE_EPOCH"):
        read_epoch({"SOURCE_DATE_EPOCH": text})
