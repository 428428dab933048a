"""What a finished build looked like, and what is seen to be different since."""

from __future__ import annotations

import os
import random
import time

import pytest

from skrules.engine.digests import FileDigests
from skrules.engine.manifest import Folder, Freshness, Group, compare, gather, load, look_at, save

FRESH = Freshness(is_whole=True)
STALE = Freshness(is_whole=False)


@pytest.fixture
def tree(tmp_path):
    """Two packages, and what they share."""
    root = tmp_path / "root"
    for name in ("SConstruct", "ops/a/SConscript", "ops/a/a.asc", "ops/b/SConscript", "ops/b/b.asc"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
    time.sleep(0.03)
    return root


def manifest_of(root):
    digests = FileDigests(root)
    shared = Group(files=("SConstruct", "ops/a/SConscript", "ops/b/SConscript"))
    groups = {f"//ops/{name}": Group(files=(f"ops/{name}/{name}.asc",), folders=(f"ops/{name}",)) for name in ("a", "b")}
    digests.digests([*shared.files, *(file for group in groups.values() for file in group.files)])
    layout = ("ops", "ops/a", "ops/b")
    return gather(root, known=digests.known(), shared=shared, layout=layout, groups=groups, declares="SConscript")


def seen(root, manifest):
    return compare(manifest, root, declares="SConscript")


def test_nothing_changed(tree, tmp_path):
    manifest = manifest_of(tree)
    assert seen(tree, manifest) == FRESH
    save(manifest, tmp_path / "kept")
    assert load(tmp_path / "kept") == manifest


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda root: (root / "ops/a/a.asc").write_text("edited"), Freshness(is_whole=True, dirty=frozenset({"//ops/a"}))),
        (lambda root: (root / "ops/b/b.asc").unlink(), Freshness(is_whole=True, dirty=frozenset({"//ops/b"}))),
        (lambda root: (root / "ops/a/new.h").touch(), Freshness(is_whole=True, dirty=frozenset({"//ops/a"}))),
        (lambda root: (root / "SConstruct").write_text("edited"), STALE),
        (lambda root: (root / "ops/a/SConscript").write_text("edited"), STALE),
        (lambda root: (root / "ops/c").mkdir(), STALE),
        (lambda root: (root / "ops/a/inner").mkdir(), STALE),
        (lambda root: (root / "ops/b/SConscript").unlink(), STALE),
        (lambda root: (root / "ops/a/.a.asc.swp").touch(), FRESH),
        (lambda root: (root / "ops/a/a.asc~").touch(), FRESH),
        (lambda root: (root / "ops/a/__pycache__").mkdir(), FRESH),
    ],
    ids=[
        "source",
        "gone",
        "new file",
        "SConstruct",
        "SConscript",
        "new folder",
        "inner folder",
        "no package",
        "vim",
        "backup",
        "pyc",
    ],
)
def test_each_change_concerns_whom_it_should(tree, change, expected):
    manifest = manifest_of(tree)
    change(tree)
    assert seen(tree, manifest) == expected


def test_a_change_behind_its_time_is_seen(tree):
    manifest = manifest_of(tree)
    path = tree / "ops/a/a.asc"
    status = path.stat()
    path.write_text(path.read_text()[::-1])
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert seen(tree, manifest).dirty == {"//ops/a"}


def test_a_new_name_behind_the_time_of_its_folder_is_seen(tree):
    manifest = manifest_of(tree)
    status = (tree / "ops/a").stat()
    (tree / "ops/a/new.h").touch()
    os.utime(tree / "ops/a", ns=(status.st_atime_ns, status.st_mtime_ns))
    assert seen(tree, manifest).dirty == {"//ops/a"}


def test_a_folder_that_has_just_changed_is_listed_each_time(tmp_path):
    (tmp_path / "a").touch()
    folder = look_at(tmp_path, declares="SConscript")
    assert folder is not None
    assert folder.time_ns == 0
    time.sleep(0.03)
    later = look_at(tmp_path, declares="SConscript")
    assert later == Folder(tmp_path.stat().st_ctime_ns, folder.names, folder.structure)
    assert look_at(tmp_path / "none", declares="SConscript") is None


def test_what_is_gone_already_makes_no_manifest(tree):
    known = FileDigests(tree).known()
    group = Group(files=("ops/a/a.asc",))
    assert gather(tree, known=known, shared=group, layout=(), groups={}, declares="SConscript") is None
    nowhere = Group(files=(), folders=("none",))
    assert gather(tree, known=known, shared=nowhere, layout=(), groups={}, declares="SConscript") is None


def test_no_damage_is_believed(tree, tmp_path):
    path = tmp_path / "kept"
    save(manifest_of(tree), path)
    whole = path.read_bytes()
    for seed in range(300):
        choice = random.Random(seed)
        place = choice.randrange(len(whole))
        changed = whole[:place] + bytes([whole[place] ^ 1 << choice.randrange(8)]) + whole[place + 1 :]
        inserted = whole[:place] + bytes([choice.randrange(256)]) + whole[place:]
        for data in (changed, inserted, whole[:place], choice.randbytes(place)):
            path.write_bytes(data)
            assert load(path) is None, (seed, data)


@pytest.mark.parametrize("text", ["", "\n", "x\n{}", "[" * 100_000])
def test_what_is_none(tmp_path, text):
    (tmp_path / "kept").write_text(text)
    assert load(tmp_path / "kept") is None
    assert load(tmp_path / "none") is None
