"""The step cache: what is found, restored, refused and thrown away; damage of any kind is a miss."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import multiprocessing
import os
import random
import resource
import stat
from pathlib import Path

import pytest

from skrules.engine import blobs, cache, usage
from skrules.engine.cache import DEFAULT_LIMIT, StepCache, limit_from
from skrules.engine.entries import LARGEST, Blob, Variant, decode, encode
from skrules.errors import UsageError

KEY = hashlib.sha256(b"one step").hexdigest()
OTHER = hashlib.sha256(b"another step").hexdigest()
OUTPUTS = ("out/a.o", "out/b.d")


class Workspace:
    """A folder with outputs of a step, and digests of it."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def write(self, **files: str) -> None:
        for name, text in files.items():
            place = self.root / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)

    def digest(self, path: str) -> str:
        place = self.root / path
        return hashlib.sha256(place.read_bytes()).hexdigest()[:40] if place.is_file() else ""

    def digests(self, *paths: str) -> dict[str, str]:
        return {path: self.digest(path) for path in paths}

    def make(self, text: str) -> None:
        self.write(**{"out/a.o": text * 100, "out/b.d": text})
        (self.root / "out/a.o").chmod(0o755)

    def made(self) -> dict[str, str]:
        return {path: (self.root / path).read_text() for path in OUTPUTS if (self.root / path).exists()}

    def wipe(self) -> None:
        for path in OUTPUTS:
            (self.root / path).unlink(missing_ok=True)

    def litter(self) -> list[str]:
        return [path.name for path in self.root.rglob(".*")]


@pytest.fixture
def space(tmp_path):
    made = Workspace(tmp_path / "workspace")
    made.write(**{"src/a.h": "one", "src/b.h": "two"})
    made.make("A")
    return made


@pytest.fixture
def store(tmp_path):
    return StepCache(tmp_path / "cache", warn=pytest.fail)


def none_else(_):
    return ()


def find(store, space, key=KEY, outputs=OUTPUTS, also_found=none_else):
    return store.find(key, outputs, space.digest, also_found)


def test_a_result_comes_back_as_it_was(store, space):
    store.store(KEY, space.root, OUTPUTS, space.digests("src/a.h"))
    made = space.made()
    space.wipe()
    found = find(store, space)
    assert found is not None
    assert found.source == "local"
    assert store.restore(found, space.root)
    assert space.made() == made
    assert (space.root / "out/a.o").stat().st_mode & 0o111
    assert not (space.root / "out/b.d").stat().st_mode & 0o111
    assert space.litter() == []


def test_restored_files_have_the_permissions_of_any_file(store, space, tmp_path):
    store.store(KEY, space.root, OUTPUTS, {})
    before = os.umask(0o027)
    try:
        assert store.restore(find(store, space), tmp_path / "new")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new/out/a.o").stat().st_mode) == 0o750
    assert stat.S_IMODE((tmp_path / "new/out/b.d").stat().st_mode) == 0o640


def test_nothing_is_found_for_another_key_or_other_outputs(store, space):
    store.store(KEY, space.root, OUTPUTS, {})
    assert find(store, space, OTHER) is None
    assert find(store, space, outputs=OUTPUTS[:1]) is None
    assert find(store, space, outputs=(*OUTPUTS, "out/c")) is None


def test_another_header_is_another_result_and_the_old_one_comes_back(store, space):
    store.store(KEY, space.root, OUTPUTS, space.digests("src/a.h"))
    first = space.made()
    space.write(**{"src/a.h": "edited"})
    assert find(store, space) is None
    space.make("B")
    store.store(KEY, space.root, OUTPUTS, space.digests("src/a.h"))
    second = space.made()
    for text, made in (("one", first), ("edited", second)):
        space.write(**{"src/a.h": text})
        assert store.restore(find(store, space), space.root)
        assert space.made() == made


def test_a_header_that_must_not_exist_and_does(store, space):
    store.store(KEY, space.root, OUTPUTS, {**space.digests("src/a.h"), "early/a.h": ""})
    assert find(store, space) is not None
    space.write(**{"early/a.h": "one"})
    assert find(store, space) is None


def test_a_vanished_header(store, space):
    store.store(KEY, space.root, OUTPUTS, space.digests("src/a.h"))
    (space.root / "src/a.h").unlink()
    assert find(store, space) is None


def test_a_file_that_now_hides_a_header_makes_a_miss(store, space):
    store.store(KEY, space.root, OUTPUTS, space.digests("src/a.h"))
    asked = []
    assert find(store, space, also_found=lambda paths: asked.append(tuple(paths)) or ("early/a.h",)) is None
    assert asked == [("src/a.h",)]
    store.store(KEY, space.root, OUTPUTS, {**space.digests("src/a.h"), "early/a.h": ""})
    assert find(store, space, also_found=lambda _: ("early/a.h",)) is not None


def test_the_newest_variants_are_kept(store, space):
    for number in range(20):
        space.write(**{"src/a.h": str(number)})
        store.store(KEY, space.root, OUTPUTS, space.digests("src/a.h"))
    there = []
    for number in range(20):
        space.write(**{"src/a.h": str(number)})
        there.append(find(store, space) is not None)
    assert there == [False] * 4 + [True] * 16


def test_storing_the_same_again_replaces(store, space):
    for text in "AB":
        space.make(text)
        store.store(KEY, space.root, OUTPUTS, space.digests("src/a.h"))
    assert store.restore(find(store, space), space.root)
    assert space.made()["out/b.d"] == "B"
    (entry,) = (store.folder / "ac").glob("*/*")
    assert len(decode(KEY, entry.read_bytes())) == 1


def test_an_output_that_is_tampered_with_does_not_change_the_cache(store, space):
    store.store(KEY, space.root, OUTPUTS, {})
    assert store.restore(find(store, space), space.root)
    with (space.root / "out/b.d").open("a") as file:
        file.write("tampered")
    assert store.restore(find(store, space), space.root)
    assert space.made()["out/b.d"] == "A"


def test_two_outputs_of_one_content(store, space):
    space.write(**{"out/a.o": "same", "out/b.d": "same"})
    store.store(KEY, space.root, OUTPUTS, {})
    space.wipe()
    assert store.restore(find(store, space), space.root)
    assert set(space.made().values()) == {"same"}


def blob_of(store, text):
    digest = hashlib.sha256(text.encode()).hexdigest()
    return store.folder / "cas" / digest[:2] / digest


def overwrite(place, data):
    place.chmod(0o644)
    place.write_bytes(data)


@pytest.mark.parametrize("damage", ["truncated", "flipped", "longer", "empty", "folder", "pipe", "loop", "gone"])
def test_a_damaged_content_restores_nothing_and_heals(store, space, damage):
    store.store(KEY, space.root, OUTPUTS, {})
    good = blob_of(store, "A" * 100).read_bytes()
    place = blob_of(store, "A" * 100)
    if damage in ("truncated", "flipped", "longer", "empty"):
        overwrite(place, {"truncated": good[:-1], "flipped": b"B" + good[1:], "longer": good + b"A", "empty": b""}[damage])
    else:
        place.unlink()
        if damage == "folder":
            place.mkdir()
        elif damage == "pipe":
            os.mkfifo(place)
        elif damage == "loop":
            place.symlink_to(place)
    space.write(**{"out/a.o": "before", "out/b.d": "before"})
    if damage != "folder":
        assert not store.restore(find(store, space), space.root)
        assert space.made() == {"out/a.o": "before", "out/b.d": "before"}
        assert space.litter() == []
        aside = list((store.folder / "quarantine").glob("*"))
        assert [path.name for path in aside] == ([place.name] if damage in ("truncated", "flipped", "longer", "empty") else [])
        space.make("A")
        store.store(KEY, space.root, OUTPUTS, {})
        space.wipe()
        assert store.restore(find(store, space), space.root)
    else:
        assert not store.restore(find(store, space), space.root)


def test_the_quarantine_stays_small(store, space):
    for number in range(20):
        text = str(number)
        space.write(**{"out/a.o": text, "out/b.d": text})
        store.store(KEY, space.root, OUTPUTS, {})
        overwrite(blob_of(store, text), b"x")
        assert not store.restore(find(store, space), space.root)
    assert len(list((store.folder / "quarantine").iterdir())) == 8


def test_an_output_place_that_is_a_folder_restores_nothing(store, space):
    store.store(KEY, space.root, OUTPUTS, {})
    space.wipe()
    (space.root / "out/b.d").mkdir()
    assert not store.restore(find(store, space), space.root)
    assert not (space.root / "out/a.o").exists()
    assert space.litter() == []


def test_damaged_entries_are_misses(store, space):
    store.store(KEY, space.root, OUTPUTS, space.digests("src/a.h"))
    (entry,) = (store.folder / "ac").glob("*/*")
    good = entry.read_bytes()
    rng = random.Random(4)
    for _ in range(2000):
        data = bytearray(good)
        for _ in range(rng.randint(1, 3)):
            match rng.randrange(4):
                case 0:
                    del data[rng.randrange(len(data)) :]
                case 1:
                    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
                case 2:
                    at = rng.randrange(len(data))
                    data[at:at] = rng.randbytes(rng.randint(1, 20))
                case _:
                    at = rng.randrange(len(data))
                    del data[at : at + rng.randint(1, 20)]
            data = data or bytearray(b"\n")
        if bytes(data) != good:
            assert decode(KEY, bytes(data)) is None
    for data in (b"", b"\0" * 5000, good[:-1], good * 2, b"{}", good.replace(KEY.encode(), OTHER.encode())):
        overwrite(entry, data)
        assert find(store, space) is None
    store.store(KEY, space.root, OUTPUTS, space.digests("src/a.h"))
    assert find(store, space) is not None


def signed(body) -> bytes:
    text = body if isinstance(body, bytes) else json.dumps(body).encode()
    return b"skrules-step 1 " + hashlib.sha256(text).hexdigest().encode() + b"\n" + text


@pytest.mark.parametrize(
    "value", [None, 1, "x", [], {}, True, [1], {"a": 1}, ["0" * 64, -1, True], ["0" * 64, True, True], 1e999]
)
def test_entries_with_a_right_digest_and_wrong_content(value):
    blob = ["0" * 64, 1, True]
    good = {"key": KEY, "variants": [{"found": {"a": "b"}, "outputs": {"o": blob}}]}
    assert decode(KEY, signed(good))
    bad = [
        value,
        {"key": KEY, "variants": value},
        {"key": KEY, "variants": [value]},
        {"key": KEY, "variants": [{"found": value, "outputs": {"o": blob}}]},
        {"key": KEY, "variants": [{"found": {}, "outputs": value}]},
        {"key": KEY, "variants": [{"found": {}, "outputs": {"o": value}}]},
        {"key": value, "variants": []},
    ]
    for body in bad:
        assert not decode(KEY, signed(body)) or value == {}
    assert decode(KEY, signed(b"[" * 100_000)) is None
    assert decode(KEY, signed(b"\xff\xfe")) is None


@pytest.mark.parametrize("path", ["/etc/passwd", "../a", "a/../../b", "", ".", "a//b", "a/", "a\0b", "\ud800"])
def test_no_entry_reaches_out_of_the_workspace(path):
    for found, output in (({path: "x"}, "o"), ({"h": "x"}, path)):
        body = {"key": KEY, "variants": [{"found": found, "outputs": {output: ["0" * 64, 1, False]}}]}
        assert decode(KEY, signed(body)) is None
    with pytest.raises(ValueError):
        Variant(found={path: "x"}, outputs={})


def test_an_entry_that_is_too_large_is_not_read_whole(store, space):
    place = store.folder / "ac" / KEY[:2] / KEY
    place.parent.mkdir(parents=True)
    with place.open("wb") as file:
        file.truncate(LARGEST * 1000)
    assert find(store, space) is None


@pytest.mark.parametrize("key", ["", "x" * 64, "../" + "a" * 61, KEY.upper(), KEY[:40]])
def test_keys_are_digests(store, space, key):
    with pytest.raises(ValueError):
        find(store, space, key)
    with pytest.raises(ValueError):
        store.store(key, space.root, OUTPUTS, {})


def test_steps_without_whole_outputs_are_not_kept(store, space):
    (space.root / "out/b.d").unlink()
    store.store(KEY, space.root, OUTPUTS, {})
    (space.root / "out/b.d").mkdir()
    store._warn = lambda _: None
    store.store(KEY, space.root, OUTPUTS, {})
    (space.root / "out/b.d").rmdir()
    os.mkfifo(space.root / "out/b.d")
    store.store(KEY, space.root, OUTPUTS, {})
    assert find(store, space) is None


def tree(folder: Path) -> dict[str, tuple[int, int]]:
    return {str(path): (path.lstat().st_mtime_ns, path.lstat().st_mode) for path in (folder, *folder.rglob("*"))}


def test_a_readonly_cache_is_read_and_never_touched(store, space):
    store.store(KEY, space.root, OUTPUTS, {})
    for place in store.folder.rglob("*"):
        os.utime(place, (1, 1))
    overwrite(blob_of(store, "A"), b"X")
    before = tree(store.folder)
    reader = StepCache(store.folder, readonly=True, limit=1, warn=pytest.fail)
    assert not reader.restore(find(reader, space), space.root)
    overwrite(blob_of(store, "A"), b"A")
    before = tree(store.folder)
    assert reader.restore(find(reader, space), space.root)
    reader.store(OTHER, space.root, OUTPUTS, {})
    reader.close()
    assert tree(store.folder) == before


def test_a_folder_that_cannot_be_made_is_said_once(space, tmp_path):
    (tmp_path / "file").write_text("")
    said = []
    store = StepCache(tmp_path / "file" / "cache", warn=said.append)
    for _ in range(3):
        store.store(KEY, space.root, OUTPUTS, {})
        assert find(store, space) is None
    store.close()
    assert len(said) == 1
    assert "cannot be written" in said[0]


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES, errno.ENOSPC, errno.EIO, errno.ESTALE])
def test_a_folder_that_refuses_writes_is_still_read(store, space, monkeypatch, number):
    store.store(KEY, space.root, OUTPUTS, {})
    true_open, said = os.open, []
    store._warn = said.append

    def refuse(place, flags, *rest, **named):
        if flags & os.O_ACCMODE and str(place).startswith(str(store.folder)):
            raise OSError(number, os.strerror(number), str(place))
        return true_open(place, flags, *rest, **named)

    monkeypatch.setattr(os, "open", refuse)
    space.wipe()
    assert store.restore(find(store, space), space.root)
    store.store(OTHER, space.root, OUTPUTS, {})
    store.close()
    assert find(store, space, OTHER) is None
    assert said == [f"cache {store.folder} cannot be written: {os.strerror(number)}"]


def test_a_disk_that_becomes_full_leaves_nothing_wrong(store, space):
    """The kernel refuses to write more of a file, as it does on a full disk: in the middle, after a part was written."""
    space.write(**{"out/a.o": "A" * 100_000})
    store.store(KEY, space.root, OUTPUTS, {})
    said = []
    store._warn = said.append

    def in_child():
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, resource.RLIM_INFINITY))
        store.store(OTHER, space.root, OUTPUTS, {})
        space.write(**{"out/b.d": "before"})
        (space.root / "out/a.o").unlink()
        ok = not store.restore(find(store, space), space.root)
        ok = ok and find(store, space, OTHER) is None and space.made() == {"out/b.d": "before"} and len(said) == 1
        ok = ok and space.litter() == [] and not list((store.folder / "tmp").iterdir())
        os._exit(0 if ok else 1)

    child = multiprocessing.get_context("fork").Process(target=in_child)
    child.start()
    child.join(20)
    assert child.exitcode == 0
    assert store.restore(find(store, space), space.root), "nothing was quarantined because the workspace was full"


def test_a_folder_that_vanishes_is_made_again(store, space):
    store.store(KEY, space.root, OUTPUTS, {})
    found = find(store, space)
    for place in sorted(store.folder.rglob("*"), reverse=True):
        place.rmdir() if place.is_dir() else place.unlink()
    store.folder.rmdir()
    assert not store.restore(found, space.root)
    store.trim()
    assert not store.folder.exists()
    store.store(KEY, space.root, OUTPUTS, {})
    assert store.restore(find(store, space), space.root)


def fill(store, space, count):
    """Store `count` steps of two blocks each, and an entry, oldest first."""
    keys = [hashlib.sha256(str(number).encode()).hexdigest() for number in range(count)]
    for number, key in enumerate(keys):
        space.write(**{"out/a.o": f"{number}a", "out/b.d": f"{number}b"})
        store.store(key, space.root, OUTPUTS, {})
        for place in (store.folder / "ac" / key[:2] / key, blob_of(store, f"{number}a"), blob_of(store, f"{number}b")):
            os.utime(place, (number * 10, number * 10))
    return keys


def test_what_was_not_used_for_longest_goes_first(space, tmp_path):
    store = StepCache(tmp_path / "cache", limit=10 * 3 * 4096, warn=pytest.fail)
    keys = fill(store, space, 10)
    store.trim()
    assert all(find(store, space, key) for key in keys)
    for number, key in enumerate(keys):  # finding is using
        os.utime(store.folder / "ac" / key[:2] / key, (number * 10, number * 10))
    assert store.restore(find(store, space, keys[0]), space.root)
    store.store(OTHER, space.root, ("src/a.h",), {})
    store.trim()
    there = [bool(found) and store.restore(found, space.root) for found in (find(store, space, key) for key in keys)]
    assert there == [True, False, False, False, True, True, True, True, True, True]
    used = sum(4096 for kind in ("ac", "cas") for path in (store.folder / kind).rglob("*") if path.is_file())
    assert used <= 0.8 * 10 * 3 * 4096


def test_the_files_are_looked_at_only_when_the_account_says_so(space, tmp_path, monkeypatch):
    store = StepCache(tmp_path / "cache", warn=pytest.fail)
    store.store(KEY, space.root, OUTPUTS, {})
    looked = []
    true_scan = usage._scan
    monkeypatch.setattr(usage, "_scan", lambda folder: looked.append(folder) or true_scan(folder))
    store.trim()  # no account was there yet
    assert looked
    looked.clear()
    store.store(OTHER, space.root, OUTPUTS, {})
    store.trim()
    StepCache(tmp_path / "cache").trim()
    assert looked == []
    total, counted = (store.folder / "usage").read_text().split()
    assert int(total) == 6 * 4096  # contents are counted again when they are written again, until they are looked at
    (store.folder / "usage").write_text(f"{total} {int(counted) - 90_000}")  # a day ago
    store.trim()
    assert looked
    assert int((store.folder / "usage").read_text().split()[0]) == 4 * 4096


@pytest.mark.parametrize("text", ["", "x", "1", "1 2 3", "9" * 5000, "-5 -5", "\0\0", "1e9 5"])
def test_a_broken_account_is_made_again(space, tmp_path, text):
    store = StepCache(tmp_path / "cache", limit=3 * 4096 * 4, warn=pytest.fail)
    fill(store, space, 8)
    (store.folder / "usage").write_text(text)
    store.trim()
    assert int((store.folder / "usage").read_text().split()[0]) <= 3 * 4096 * 4


def test_a_build_that_is_killed_has_noted_nearly_all(space, tmp_path):
    store = StepCache(tmp_path / "cache", limit=200 * 4096, warn=pytest.fail)
    fill(store, space, 20)  # and never ends
    total = int((store.folder / "usage").read_text().split()[0])
    assert 58 * 4096 <= total <= 60 * 4096


def test_a_step_larger_than_the_limit_throws_nothing_out(space, tmp_path):
    store = StepCache(tmp_path / "cache", limit=5 * 4096, warn=pytest.fail)
    store.store(KEY, space.root, OUTPUTS, {})
    space.write(**{"out/a.o": "x" * 5 * 4096})
    store.store(OTHER, space.root, OUTPUTS, {})
    store.trim()
    assert find(store, space) is not None
    assert find(store, space, OTHER) is None


def test_a_limit_of_nothing_keeps_nothing(store, space):
    store.store(KEY, space.root, OUTPUTS, {})
    none = StepCache(store.folder, limit=0, warn=pytest.fail)
    none.store(OTHER, space.root, OUTPUTS, {})
    none.trim()
    assert find(none, space) is None
    assert find(none, space, OTHER) is None


def test_files_of_killed_builds_go(store, space):
    store.store(KEY, space.root, OUTPUTS, {})
    for name, age in (("old", 1), ("new", None)):
        (store.folder / "tmp" / name).write_text("")
        if age:
            os.utime(store.folder / "tmp" / name, (age, age))
    store.trim()
    assert [path.name for path in (store.folder / "tmp").iterdir()] == ["new"]


def _work(folder: Path, root: Path, seed: int, rounds: int) -> None:
    """Store, find, restore, trim and damage the same few entries; exit with 1 if anything wrong comes out."""
    rng = random.Random(seed)
    space = Workspace(root)
    store = StepCache(folder, limit=40 * 4096, warn=lambda _: os._exit(2))
    hits = 0
    for _ in range(rounds):
        number = rng.randrange(12)
        key = hashlib.sha256(str(number).encode()).hexdigest()
        header = rng.choice("xyz")
        space.write(**{"src/a.h": header})
        text = f"{number}{header}" * 3000
        found = find(store, space, key)
        if found and store.restore(found, root):
            hits += 1
            if space.made() != {"out/a.o": text, "out/b.d": text[:100]}:
                os._exit(1)
        else:
            space.write(**{"out/a.o": text, "out/b.d": text[:100]})
            store.store(key, root, OUTPUTS, space.digests("src/a.h"))
        if rng.random() < 0.1:
            store.trim()
        if rng.random() < 0.05:
            places = list((folder / rng.choice(("ac", "cas"))).glob("*/*"))
            if places:
                with contextlib.suppress(OSError):
                    overwrite(rng.choice(places), rng.randbytes(50))
    os._exit(0 if hits else 3)


def test_builds_that_share_a_cache_never_get_a_wrong_result(tmp_path):
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=_work, args=(tmp_path / "cache", tmp_path / f"w{seed}", seed, 150)) for seed in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0] * 4


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("10G", 10 << 30),
        ("500M", 500 << 20),
        ("1.5g", 3 << 29),
        ("2 TiB", 2 << 40),
        ("64KB", 64 << 10),
        ("0", 0),
        ("", DEFAULT_LIMIT),
    ],
)
def test_limits(text, expected):
    assert limit_from({"SKRULES_CACHE_LIMIT": text}) == expected
    assert limit_from({}) == DEFAULT_LIMIT


@pytest.mark.parametrize("text", ["10", "G", "-1G", "1,5G", "10X", "1e3G", "nan", "infG", "10GG", "9" * 400 + "G", "١G"])
def test_limits_that_are_none(text):
    with pytest.raises(UsageError, match="SKRULES_CACHE_LIMIT=") as error:
        limit_from({"SKRULES_CACHE_LIMIT": text})
    assert "such as 500M" in str(error.value)
    assert ("write 10G" in str(error.value)) == (text == "10")


def test_entries_survive_the_way_there_and_back():
    variants = tuple(
        Variant(found={f"h{n}": "d" * n}, outputs={"o/\udcff": Blob(digest="0" * 64, size=n, executable=n % 2 == 0)})
        for n in range(5)
    )
    assert decode(KEY, encode(KEY, variants)) == variants
    assert decode(OTHER, encode(KEY, variants)) is None


def test_the_modules_know_nothing_of_scons():
    for module in (cache, blobs, usage):
        assert "SCons" not in Path(module.__file__).read_text()
